#!/usr/bin/env python3
# Chooses tests of a build folder for scripts/test. Prints two lines: the
# targets that the tests need, and the names of the tests.
#
#   scripts/choosetests.py FOLDER SETUP [--only TEXT] [--since COMMIT]
#
# SETUP is a test setup of Meson. With --only, names contain TEXT. With --since,
# the tests are those of the rooms that changed since COMMIT, the shortest ones
# first, as many as the last durations fit into 200 s. A test whose own source
# changed is always chosen.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import argparse
import fnmatch
import glob
import json
import os
import subprocess
import sys

# What most likely breaks if a room changes: suites, and names of tests with
# wildcards. The first folder or file of a path that is listed counts.
ROOMS = {
    "core": "suite:core convert threads engine-* formats-recording conv",
    "filters": "suite:filters engine-plan response",
    "formats": "suite:formats filesrc filesink recordings demux",
    "live": "suite:live live-* igtl*",
    "analysis": "suite:analysis denoise noise structure",
    "phantom": "phantom testsrc",
    "engine": "suite:engine store combined library",
    "engine/settings.c": "manual compat library python-package extending",
    "cpu": "suite:cpu suite:engine",
    "cuda": "suite:cuda streams-driver cards-driver",
    "lib": "suite:lib python-package",
    "python": "python-*",
    "presets": "presets",
    "pipelines": "pipelines recipes",
    "tools": "*-shell ndconv-file pipelines",
    "tools/web": "web",
    "scripts": "demo debugging-page",
    "docs": "*-page recipes",
    "README.md": "readme manual",
    "debian": "packages",
    "gst": "conv* manual stack testsrc compat plugins* links",
    "gst/algorithm": "denoise noise structure algorithmstreams algorithms-device",
    "gst/base": "timing conv settings changes checklist irregular seeks",
    "gst/conv": "conv convcaps changes checklist lag response settings tensors "
                "units warnings",
    "gst/files": "filesrc filesink recordings demux tensorstreams",
    "gst/igtl": "igtlhub openigtlink*",
    "gst/temporal": "order conv settings changes refusedchanges nothinglost "
                    "checklist irregular algorithmstreams streams",
    "gst/view": "view*",
}
ALWAYS = "golden-few conv library-example"
BUDGET = 200        # seconds of all tests together; two run at a time
UNKNOWN = 3         # seconds of a test that did not run yet


def listed(folder, setup):
    """Names of the tests of a setup."""
    lines = subprocess.run(
        ["meson", "test", "-C", folder, "--no-rebuild", "--list", "--setup",
         setup], capture_output=True, text=True, check=True).stdout
    return {line.rsplit(" / ", 1)[-1] for line in lines.splitlines()}


def durations(folder):
    """Seconds that each test took the last time."""
    seconds = {}
    for path in sorted(glob.glob(f"{folder}/meson-logs/*.json"),
                       key=os.path.getmtime):
        if os.path.basename(path).startswith(("normal", "fast")):
            with open(path, encoding="utf-8") as file:
                tests = [json.loads(line) for line in file]
            seconds.update({t["name"].rsplit(" / ", 1)[-1]: t["duration"]
                            for t in tests})
    return seconds


def changed_files(commit):
    """Paths that differ from a commit, those that git does not know too."""
    paths = []
    for command in (["diff", "--name-only", commit, "--"],
                    ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", *command], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr.strip())
        paths += done.stdout.splitlines()
    return paths


def room_of(path):
    parts = path.split("/")
    for count in range(len(parts), 0, -1):
        if "/".join(parts[:count]) in ROOMS:
            return "/".join(parts[:count])
    return None


def sources_of(test, targets):
    """Sources of a test: those of its program, and the files of tests/ that its
    command names."""
    sources = [os.path.abspath(word) for word in test["cmd"]]
    for target in targets.values():
        if test["cmd"][0] in target["filename"]:
            sources += [source for group in target["target_sources"]
                        for source in group["sources"]]
    return {os.path.relpath(source) for source in sources}


def since(commit, tests, targets, seconds):
    changed = changed_files(commit)
    rooms = sorted({room_of(path) for path in changed} - {None})
    patterns = " ".join([ALWAYS] + [ROOMS[room] for room in rooms]).split()
    sure, likely = [], []
    for test in tests:
        name = test["name"]
        names = [name] + ["suite:" + s.split(":", 1)[-1] for s in test["suite"]]
        if sources_of(test, targets) & {path for path in changed
                                        if path.startswith("tests/")}:
            sure.append(test)
        elif any(fnmatch.fnmatch(n, p) for n in names for p in patterns):
            likely.append(test)
    likely.sort(key=lambda test: seconds.get(test["name"], UNKNOWN))
    chosen, total = sure, sum(seconds.get(t["name"], UNKNOWN) for t in sure)
    for count, test in enumerate(likely):
        total += seconds.get(test["name"], UNKNOWN)
        if total > BUDGET:
            print("Left out, because of the time:",
                  *(t["name"] for t in likely[count:]), file=sys.stderr)
            break
        chosen.append(test)
    print("Changed since", commit + ":", *(rooms or ["no room"]),
          file=sys.stderr)
    return chosen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("setup")
    parser.add_argument("--only", default="")
    parser.add_argument("--since")
    options = parser.parse_args()
    info = options.folder + "/meson-info/intro-"
    with open(info + "tests.json", encoding="utf-8") as file:
        tests = json.load(file)
    with open(info + "targets.json", encoding="utf-8") as file:
        targets = {target["id"]: target for target in json.load(file)}
    names = listed(options.folder, options.setup)
    tests = [test for test in tests
             if test["name"] in names and options.only in test["name"]]
    if options.since is not None:
        tests = since(options.since, tests, targets,
                      durations(options.folder))
    needed = {name for test in tests for name in test["depends"]}
    # Libraries that a setup preloads.
    needed |= {name for name, target in targets.items()
               if target["defined_in"].endswith(
                   "tests/suppressions/meson.build")}
    print(*sorted(os.path.relpath(path, options.folder)
                  for name in needed for path in targets[name]["filename"]))
    print(*sorted({test["name"] for test in tests}))


main()
