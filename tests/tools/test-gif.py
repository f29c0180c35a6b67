#!/usr/bin/python3
"""pipelines/gif.py writes every sample and the times of a movie: its files are
read by a decoder of this test.

  tests/tools/test-gif.py SOURCE

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import random
import subprocess
import sys
import tempfile

import giffile


def main(folder):
    seed = int(os.environ.get('ND_SEED', random.randrange(2 ** 32)))
    print('ND_SEED=%d' % seed)
    rand = random.Random(seed)
    width, height = 91, 60
    n = width * height
    # Noise fills the table of codes several times.
    movie = [bytes(n), bytes(i * 7 // 50 % 256 for i in range(n)),
             bytes(rand.randrange(256) for _ in range(n)),
             bytes(rand.randrange(3) for _ in range(n))]
    chroma = bytes(2 * ((width + 1) // 2) * ((height + 1) // 2))
    path = os.path.join(folder, 'movie')
    with open(path + '.y4m', 'wb') as file:
        file.write(b'YUV4MPEG2 W%d H%d F30:1 Ip A0:0 C420\n' % (width, height))
        for luma in movie:
            file.write(b'FRAME\n' + luma + chroma)
    subprocess.run([os.path.join(sys.argv[1], 'pipelines', 'gif.py'),
                    path + '.y4m', path + '.gif'], check=True)
    with open(path + '.gif', 'rb') as file:
        found = giffile.read(file.read())
    assert found == (width, height, movie, [3, 4, 3, 3]), (found[:2], found[3])


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
