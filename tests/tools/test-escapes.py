"""No escape of a terminal, mark of direction or separator of lines of a hostile
file, of its name or of a message of a peer reaches what tools and elements print.

    test-escapes.py NDCONV-FILE NDCONV-FILTER

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import contextlib
import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unicodedata

# A title of the window, a colour, C1 as UTF-8 and as a byte, a mark of
# direction, separators, a byte that is not UTF-8.
EVIL = (b"\x1b]0;PWNED\x07\x1b[31m" + "\x9b2J\u202e\u2066\u2028\u2029".encode()
        + b"\x9b2J\xff\x7f\x08")
ENVIRONMENT = {**os.environ, "GST_DEBUG": "nd*:6", "GST_DEBUG_NO_COLOR": "1",
               "LC_ALL": "C.UTF-8"}


def check(name, output):
    """Fails if a line of @output has a character that a terminal acts on."""
    text = output.decode("utf-8", "surrogateescape")
    for line in text.split("\n"):
        for character in line:
            assert (character == "\t" or unicodedata.category(character)
                    not in ("Cc", "Cf", "Cs", "Zl", "Zp")), (name, line)


def make_files():
    """Content of files by extension, each with EVIL where a text is free."""
    sample = b"12345678"
    text = EVIL.replace(b"\n", b"")
    yield "nrrd", (b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\n"
                   b"encoding: raw\ncontent: " + text + b"\nkey" + text
                   + b":=value" + text + b"\n\n" + sample)
    yield "nrrd", (b"NRRD0004\ntype: " + text + b"\ndimension: 3\n"
                   b"sizes: 2 2 2\nencoding: raw\n\n" + sample)
    yield "nrrd", (b"NRRD0004\n" + text + b": 3\ntype: uchar\ndimension: 3\n"
                   b"sizes: 2 2 2\nencoding: " + text + b"\n\n" + sample)
    yield "nhdr", (b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\n"
                   b"encoding: raw\ndata file: " + text + b"\n")
    yield "mha", (b"ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nKey" + text
                  + b" = value" + text + b"\nElementType = MET_UCHAR\n"
                  b"ElementDataFile = LOCAL\n" + sample)
    yield "mha", (b"ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\n"
                  b"ElementType = " + text + b"\nElementDataFile = LOCAL\n"
                  + sample)
    yield "mhd", (b"ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\n"
                  b"ElementType = MET_UCHAR\nElementDataFile = " + text + b"\n")
    nifti = struct.pack("<i36xcc8h", 348, b"r", b"\0", 3, 2, 2, 2, 1, 1, 1, 1)
    nifti = nifti.ljust(70, b"\0") + struct.pack("<hh", 2, 8)
    nifti += struct.pack("<h8ffff", 0, *[1.0] * 8, 352.0, 1.0, 0.0)
    nifti = nifti.ljust(148, b"\0") + text[:79].ljust(80, b"\0")
    nifti = nifti.ljust(344, b"\0") + b"n+1\0" + b"\0" * 4
    yield "nii", nifti + sample
    yield "nii.gz", gzip.compress(nifti + sample)
    header = (b"{'descr': '" + text + b"', 'fortran_order': False, "
              b"'shape': (2,)}")
    yield "npy", (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1)
                  + header + b"\n" + sample)
    description = b"ImageJ=1.53\nimages=1\nunit=" + text + b"\n\0"
    tags = [(256, 4, 1, 2), (257, 4, 1, 4), (258, 3, 1, 8), (259, 3, 1, 1),
            (262, 3, 1, 1), (270, 2, len(description), 150),
            (273, 4, 1, 142), (277, 3, 1, 1), (278, 4, 1, 4), (279, 4, 1, 8)]
    tiff = struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + b"".join(
        struct.pack("<HHII", *tag) for tag in tags)
    yield "tif", (tiff + b"\0" * 4).ljust(142, b"\0") + sample + description
    yield "raw", text


def make_store(path):
    """OME-Zarr with names and codecs of EVIL."""
    os.makedirs(path + b"/0")
    evil = EVIL.decode("utf-8", "replace")
    for name, found in (
            (b"/zarr.json", {"zarr_format": 3, "node_type": "group", evil: evil,
                             "attributes": {"ome": {"version": "0.5",
                                                    "multiscales": [{
                                "name": evil, "axes": [
                                    {"name": "z"}, {"name": evil},
                                    {"name": "x", "unit": evil}],
                                "datasets": [{"path": "0"}]}]}}}),
            (b"/0/zarr.json", {"zarr_format": 3, "node_type": "array",
                               "shape": [2, 2, 2], "data_type": evil,
                               "codecs": [{"name": evil}], evil: evil})):
        with open(path + name, "w", encoding="utf-8") as file:
            json.dump(found, file, ensure_ascii=False)


def run(name, *command):
    """What a program prints is checked."""
    process = subprocess.run(command, env=ENVIRONMENT, timeout=60, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    assert process.returncode in (0, 1, 255), (name, process)
    check(name, process.stdout)
    return process.stdout


def launch(name, *elements):
    """A pipeline; -v prints caps and properties."""
    return run(name, "gst-launch-1.0", "-q", *elements)


def try_files(folder, tool):
    """Each format under a plain name and under a hostile one."""
    shown = logged = 0
    for i, (extension, content) in enumerate(make_files()):
        for stem in (b"plain%d" % i, b"%d" % i + EVIL):
            path = folder + b"/" + stem + b"." + extension.encode()
            with open(path, "wb") as file:
                file.write(content)
            output = run(path, tool, "info", "--fields", path)
            shown += rb"\x1b" in output
            # The text of a property is UTF-8.
            if stem.isalnum():
                logged += rb"\x1b" in launch(
                    path, b"ndfilesrc", b"location=" + path, b"!", b"fakesink")
    for stem in (b"store", EVIL):
        path = folder + b"/" + stem + b".zarr"
        make_store(path)
        shown += rb"\x1b" in run(path, tool, "info", path)
    assert shown > 10 and logged > 2, (shown, logged)


def talk(server):
    """What a hostile peer says, each in a connection of its own, because the
    element may close it."""
    image = struct.pack(">HBBBB3H12f3H3H", 1, 1, 3, 1, 1, 4, 4, 4,
                        *[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], 0, 0, 0,
                        4, 4, 4) + bytes(64)
    status = struct.pack(">HQ20s", 2, 0, EVIL[:20]) + EVIL + b"\0"
    for kind, device, body in (
            (b"IMAGE", EVIL[:20], image), (b"IMAGE", EVIL[:20], image[:20]),
            (b"STATUS", b"s", status), (b"\x1b[5mX", b"x", b"yz"),
            (b"IMAGE", EVIL[:20], image), (b"IMAGE", EVIL[:20], image)):
        peer, _ = server.accept()
        with peer, contextlib.suppress(ConnectionError):
            peer.sendall(struct.pack(">H12s20sQQQ", 1, kind, device, 0,
                                     len(body), 0) + body)
            time.sleep(0.1)


def try_peer():
    """Names and texts of an OpenIGTLink peer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        with subprocess.Popen(
                ["gst-launch-1.0", "openigtlinksrc", "host=127.0.0.1",
                 f"port={server.getsockname()[1]}", "check-crc=false",
                 "num-buffers=3", "!", "fakesink", "sync=false"],
                env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            try:
                talk(server)
                output, _ = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
            finally:
                process.kill()
    check("peer", output)
    assert rb"\x1b]0;PWNED" in output


def main():
    tool, designs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = os.fsencode(name)
        try_files(folder, tool)
        evil = EVIL.decode("utf-8", "replace")
        for command in (["describe", evil], ["describe", "gaussian," + evil],
                        ["save", "box,size=3", os.fsencode(name) + EVIL],
                        ["plot", "box,size=3", EVIL]):
            run(command, designs, *command)
        for element in ("ndconv3d filter=", "ndfilesink location=/nowhere/"):
            kind, setting = element.split()
            launch(kind, "ndtestsrc", "num-buffers=1", "volume-size=8:8:8", "!",
                   kind, setting + '"' + evil.replace("\x08", "") + '"')
    try_peer()


main()
