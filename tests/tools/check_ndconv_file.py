#!/usr/bin/python3
# ndconv-file info: what it prints of each format, its picture, its errors.
#   check_ndconv_file.py PROGRAM
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import struct
import subprocess
import sys
import tempfile
import zlib

PROGRAM = sys.argv[1]

NRRD = b'''NRRD0004
type: short
dimension: 4
sizes: 4 3 2 3
space: LPS
space directions: (0.5,0,0) (0,0.5,0) (0,0,2) none
space origin: (1,2,3)
kinds: domain domain domain list
labels: "" "" "" "time"
units: "" "" "" "s"
endian: big
encoding: raw
Patient:=phantom
axis 3 index values:=10 10.04 10.15
axis 3 item 0001 Probe:=moved

'''


def run(*words, status=0):
    process = subprocess.run([PROGRAM, *words], text=True, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.returncode == status, (words, process)
    return process.stdout + process.stderr


def line(text, name):
    found = [x for x in text.split('\n') if x.startswith(name)]
    assert len(found) == 1, (name, text)
    return found[0][len(name):].strip()


def read_png(path):
    """Width, height, bytes a pixel, and the rows' samples."""
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, packed = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack(
                '>IIBB', data[at + 8:at + 18])
        if kind == b'IDAT':
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    assert depth == 8 and colour in (0, 2)
    return width, height, 3 if colour == 2 else 1, zlib.decompress(packed)


def check_nrrd(folder):
    path = os.path.join(folder, 'in.seq.nrrd')
    picture = os.path.join(folder, 'in.png')
    with open(path, 'wb') as file:
        file.write(NRRD + struct.pack('>72h', *range(72)))
    text = run('info', path, '--png', picture)
    assert line(text, 'file') == path
    assert line(text, 'format') == 'NRRD, int16; can be seeked'
    assert line(text, 'size') == '4 x 3 x 2 samples, 3 volumes'
    assert line(text, 'type') == 'int16, 48 bytes a volume'
    assert line(text, 'times') == ('10 to 10.15 s, irregular, 13.3333 '
                                   'volumes a second on average'), text
    assert line(text, 'geometry').startswith(
        'spacing 0.5 x 0.5 x 2 mm, origin (-1, -2, 3) mm, directions '
        'x (-1, 0, 0) y (0, -1, 0) z (0, 0, 1)'), text
    assert line(text, 'fields') == '1 of the recording, 1 of single volumes'
    width, height, channels, _ = read_png(picture)
    assert (width, height, channels) == (4 + 2, 3 + 2, 1)
    text = run('info', '--fields', path)
    assert line(text, '  Patient') == '= phantom'
    assert line(text, '  1 Probe') == '= moved'
    text = run('info', path, '-n', '3', '-p', picture, status=1)
    assert 'no volume 3' in text and '0 to 2' in text, text
    run('info', path, '-p', os.path.join(folder, 'no/x.png'), status=1)


def check_frame(folder):
    """A frame of RGB comes out as it is."""
    path = os.path.join(folder, 'in.mha')
    picture = os.path.join(folder, 'rgb.png')
    pixels = bytes([0, 255, 0] * 8 + [255, 0, 0] * 8)
    packed = zlib.compress(pixels)
    with open(path, 'wb') as file:
        file.write(b'ObjectType = Image\nNDims = 2\nDimSize = 4 4\n'
                   b'ElementNumberOfChannels = 3\nElementType = MET_UCHAR\n'
                   b'CompressedData = True\nCompressedDataSize = %d\n'
                   b'ElementDataFile = LOCAL\n' % len(packed) + packed)
    text = run('info', path, '--png', picture)
    assert 'compressed; read from beginning to end only' in line(text, 'format')
    assert line(text, 'type') == 'uint8, 3 components, 48 bytes a volume'
    assert read_png(picture)[:3] == (4, 4, 3)


def check_errors(folder):
    path = os.path.join(folder, 'x.raw')
    with open(path, 'wb') as file:
        file.write(bytes(48))
    assert '--volume-size' in run('info', path, status=1)
    text = run('info', path, '-s', '4:3:2', '--type=int16')
    assert line(text, 'size') == '4 x 3 x 2 samples, 1 volume'
    assert 'X:Y:Z' in run('info', path, '-s', '4', status=1)
    assert 'No such file' in run('info', path + 'x', status=1)
    assert 'Usage' in run(status=2)
    assert 'Usage' in run('info', status=2)
    assert 'Usage' in run('describe', path, status=2)
    run('info', path, '--no-such', status=2)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_nrrd(folder)
        check_frame(folder)
        check_errors(folder)


main()
