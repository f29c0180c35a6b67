#!/usr/bin/env python3
# What docs/extending.md says about adding things, done: each patch of this folder
# applies to the sources, changes no more files than the page says, and what it
# adds works. Only the objects that depend on a patch are compiled, from the
# patched files before those of the sources, and linked with the others of the
# build folder.
#
#   test-extending.py SOURCE BUILD
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
COMMANDS = {str(pathlib.Path(entry["directory"], entry["file"]).resolve()): entry
            for entry in json.loads(
                (BUILD / "compile_commands.json").read_text())}


def run(command, folder=BUILD, **more):
    """The output of @command, which must succeed."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **more)
    output = done.stdout.decode()
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{output}")
    return output


class Patched:
    """The files of a patch, patched, in a folder of their own."""

    def __init__(self, name, most, folder):
        patch = SOURCE / "tests/extending" / (name + ".patch")
        self.folder = folder
        self.files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
        assert 0 < len(self.files) <= most, (name, self.files)
        for file in self.files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            if (SOURCE / file).exists():
                shutil.copy(SOURCE / file, folder / file)
        run(["patch", "-p1", "--fuzz=0", "-i", patch], folder)

    @staticmethod
    def find_object(file):
        words = shlex.split(COMMANDS[str(SOURCE / file)]["command"])
        return words[words.index("-o") + 1]

    def compile(self, file, like=None):
        """The object of @file, patched or not, and the one of the build that it
        replaces. A new file is compiled as its neighbour @like."""
        entry = COMMANDS[str(SOURCE / (like or file))]
        words = shlex.split(entry["command"])
        source = words.index(entry["file"])
        old = words.index("-o") + 1
        replaced, found = words[old], self.folder / file
        words[old] = str(self.folder / (file.replace("/", "-") + ".o"))
        words[source] = str(found if found.exists() else SOURCE / file)
        for flag in ("-MF", "-MQ"):
            at = words.index(flag)
            del words[at:at + 2]
        # The headers of the patch come first.
        words[1:1] = [f"-I{self.folder}", "-Wno-error"]
        if words[0] == "ccache":
            words[1:4] = [words[3], words[1], words[2]]
        run(words)
        return words[words.index("-o") + 1], replaced

    def link(self, target, files, like=None, replaces=False):
        """@target of the build, with the objects of @files anew. New files are
        compiled as @like, and added, or replace it."""
        objects = [self.compile(file, None if str(SOURCE / file) in COMMANDS
                                else like) for file in files]
        words = shlex.split(run(["ninja", "-t", "commands", target])
                            .strip().splitlines()[-1])
        out = str(self.folder / "out" / pathlib.Path(target).name)
        os.makedirs(self.folder / "out", exist_ok=True)
        at = words.index("-o")
        kept = [] if replaces or not like else [self.find_object(like)]
        for new, old in objects:
            if old in words and (replaces or old not in kept):
                words[words.index(old)] = new
            else:
                words.insert(at + 2, new)
        words[at + 1] = out
        run(words)
        return out


def owner(file):
    """The target that @file is compiled for."""
    return os.path.dirname(Patched.find_object(file))[:-len(".p")]


def with_plugins(folder):
    return {**os.environ,
            "GST_PLUGIN_PATH_1_0": f"{folder / 'out'}:{BUILD / 'gst'}",
            "LD_LIBRARY_PATH": str(BUILD / "gst"),
            "GST_REGISTRY_1_0": str(folder / "registry"),
            "NDCONV_CUDA_MODULE": "none"}


def try_border(folder):
    patch = Patched("border", 6, folder)
    program = patch.link("tests/engine/test-engine-window", [
        "engine/settings.c", "engine/window.c", "tests/engine/test-window.c"])
    assert "ok 6 /window/inner" in run([program])


def try_design(folder):
    patch = Patched("design", 3, folder)
    program = patch.link("tests/filters/print-filter", [
        *(file for file in patch.files if file.endswith(".c")),
        "tests/filters/print-filter.c"])
    numbers = [float(line) for line in
               run([program, "xy", "prewitt"]).splitlines()[-9:]]
    scale = max(numbers)
    assert numbers == [scale * x for x in (1, 0, -1) * 3], numbers


def try_view_property(folder):
    patch = Patched("view-property", 2, folder)
    files = [str(pathlib.Path(path).relative_to(SOURCE))
             for path in glob.glob(str(SOURCE / "gst/view/*.c"))]
    patch.link(owner("gst/view/gstndview.c"), files)
    text = run(["gst-launch-1.0", "-v", "ndtestsrc", "num-buffers=1",
                "volume-size=40:30:8", "!", "ndview", "name=v", "colormap=hot",
                "scale=2", "!",
                "fakesink"], env=with_plugins(folder))
    assert re.search(r"v.GstPad:src: .*width=\(int\)80, height=\(int\)80",
                     text), text


def try_element(folder):
    patch = Patched("element", 6, folder)
    plugin = [file for file in patch.files
              if file.startswith("gst/") and file.endswith(".c")]
    patch.link(owner("gst/algorithm/gstndstructure.c"), plugin,
               "gst/algorithm/gstndstructure.c")
    like = "tests/gst/test-testsrc.c"
    program = patch.link("tests/gst/test-testsrc", ["tests/gst/test-delta.c"],
                         like, replaces=True)
    print(run([program], env=with_plugins(folder)))


for attempt in (try_border, try_design, try_view_property, try_element):
    with tempfile.TemporaryDirectory() as temporary:
        attempt(pathlib.Path(temporary).resolve())
    print("passed:", attempt.__name__, flush=True)
