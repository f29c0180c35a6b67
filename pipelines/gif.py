#!/usr/bin/python3
"""Makes an animated GIF, in shades of grey, of the luma of a YUV4MPEG2 movie.

  pipelines/gif.py MOVIE.y4m MOVIE.gif

pipelines/movie.sh uses it, because GStreamer has no encoder of GIF on most
systems. It needs Python alone.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import struct
import sys

BITS = 8        # per pixel
CLEAR = 1 << BITS
END = CLEAR + 1
MOST_CODES = 4096


def read_frames(file):
    """Yields (width, height, seconds per frame) first, then each luma."""
    words = file.readline().decode('ascii').split()
    if not words or words[0] != 'YUV4MPEG2':
        raise ValueError('this is not a YUV4MPEG2 movie')
    values = {word[0]: word[1:] for word in words[1:]}
    width, height = int(values['W']), int(values['H'])
    numerator, denominator = map(int, values['F'].split(':'))
    if not values.get('C', '420').startswith('420'):
        raise ValueError('the chroma is ' + values['C'] + ', not 420')
    yield width, height, denominator / max(numerator, 1)
    chroma = 2 * ((width + 1) // 2) * ((height + 1) // 2)
    while file.readline():
        luma = file.read(width * height)
        file.read(chroma)
        if len(luma) < width * height:
            return
        yield luma


def compress(pixels):
    """LZW codes of growing width, the first bit lowest, as GIF has them."""
    packed = bytearray()
    held = n_held = 0
    codes, width, prefix = {}, BITS + 1, None

    def put(code):
        nonlocal held, n_held
        held |= code << n_held
        n_held += width
        while n_held >= 8:
            packed.append(held & 255)
            held >>= 8
            n_held -= 8

    put(CLEAR)
    for pixel in pixels:
        if prefix is None:
            prefix = pixel
            continue
        code = codes.get((prefix, pixel))
        if code is not None:
            prefix = code
            continue
        put(prefix)
        # The decoder is one code late, so that the width grows after the code
        # that does not fit any more.
        new = END + 1 + len(codes)
        if new < MOST_CODES:
            codes[prefix, pixel] = new
            width = max(width, new.bit_length())
        else:
            put(CLEAR)
            codes, width = {}, BITS + 1
        prefix = pixel
    put(prefix)
    put(END)
    if n_held > 0:
        packed.append(held)
    return bytes(packed)


def blocks(data):
    return b''.join(bytes([len(part)]) + part for part in
                    (data[i:i + 255] for i in range(0, len(data), 255))) + b'\0'


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], 'rb') as movie, open(sys.argv[2], 'wb') as gif:
        frames = read_frames(movie)
        width, height, seconds = next(frames)
        # Times are in 1/100 s, and the rounding must not add up.
        gif.write(b'GIF89a' + struct.pack('<HHBBB', width, height, 0xf7, 0, 0)
                  + bytes(level for level in range(256) for _ in range(3))
                  + b'!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0')
        for i, luma in enumerate(frames):
            ends, begins = (round(100 * seconds * n) for n in (i + 1, i))
            delay = min(max(ends - begins, 1), 65535)
            gif.write(b'!\xf9\x04\x04' + struct.pack('<H', delay) + b'\0\0,'
                      + struct.pack('<HHHHB', 0, 0, width, height, 0)
                      + bytes([BITS]) + blocks(compress(luma)))
        gif.write(b';')
    return 0


sys.exit(main())
