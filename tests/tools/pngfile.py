"""Reads PNG pictures of 8 bits per sample, without palette, as pngenc, Chromium
and ndconv-filter write them.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import struct
import zlib

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def undo(kind, line, above, step):
    """Undoes the filter of a row."""
    if kind == 1:
        for i in range(step, len(line)):
            line[i] = line[i] + line[i - step] & 255
    elif kind == 2:
        line[:] = bytes(a + b & 255 for a, b in zip(line, above))
    elif kind == 3:
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            line[i] = line[i] + (left + above[i] >> 1) & 255
    elif kind == 4:
        for i in range(len(line)):
            a, c = (line[i - step], above[i - step]) if i >= step else (0, 0)
            line[i] = line[i] + paeth(a, above[i], c) & 255


def read(data):
    """The width, the height, the channels and the samples of the bytes of a
    file."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'this is no PNG picture'
    at, packed = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        part = data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height, bits, color, _, _, interlaced = struct.unpack(
                '>IIBBBBB', part)
            assert bits == 8 and color in CHANNELS and not interlaced
        elif kind == b'IDAT':
            packed += part
        at += size + 12
    step = CHANNELS[color]
    rows = zlib.decompress(packed)
    samples, above = bytearray(), bytes(width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        line = bytearray(rows[begin + 1:begin + 1 + width * step])
        undo(rows[begin], line, above, step)
        samples += line
        above = line
    return width, height, step, bytes(samples)
