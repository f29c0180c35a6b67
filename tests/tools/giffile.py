"""Reads GIF movies in shades of grey, as pipelines/gif.py writes them.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import struct


def decode(data, bits, size):
    clear, p, out, prev = 1 << bits, 0, bytearray(), None
    table, width = [], bits + 1
    while True:
        here = int.from_bytes(data[p >> 3:(p >> 3) + 4], 'little')
        code, p = (here >> (p & 7)) & ((1 << width) - 1), p + width
        if code == clear:
            table = [bytes([k]) for k in range(clear)] + [b'', b'']
            width, prev = bits + 1, None
            continue
        if code == clear + 1:
            assert len(out) == size, (len(out), size)
            return bytes(out)
        if prev is None:
            entry = table[code]
        else:
            entry = table[code] if code < len(table) else prev + prev[:1]
            if len(table) < 4096:
                table.append(prev + entry[:1])
            if len(table) == 1 << width and width < 12:
                width += 1
        out += entry
        prev = entry


def read_blocks(data, i):
    joined = b''
    while data[i]:
        joined += data[i + 1:i + 1 + data[i]]
        i += data[i] + 1
    return joined, i + 1


def read(data):
    assert data[:6] == b'GIF89a'
    width, height = struct.unpack('<HH', data[6:10])
    assert data[13:13 + 768] == bytes(k // 3 for k in range(768))
    i, frames, delays = 13 + 768, [], []
    while data[i] != ord(';'):
        if data[i] == ord('!'):
            if data[i + 1] == 0xf9:
                delays += struct.unpack('<H', data[i + 4:i + 6])
            _, i = read_blocks(data, i + 2)
        else:
            assert data[i] == ord(','), data[i]
            packed, end = read_blocks(data, i + 11)
            frames.append(decode(packed, data[i + 10], width * height))
            i = end
    return width, height, frames, delays
