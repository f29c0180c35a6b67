#!/usr/bin/env python3
"""docs/filters.md: whether it shows every design, and whether its lines make
the pictures that it shows.

  check_filters.py SOURCE NDCONV-FILTER

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE, TOOL = sys.argv[1:3]
PROGRAM = 'build/tools/ndconv-filter '


def picture_size(path):
    with open(path, 'rb') as file:
        head = file.read(24)
    assert head[:8] == b'\x89PNG\r\n\x1a\n', path
    return head[16:24]


def main(folder):
    with open(os.path.join(SOURCE, 'docs', 'filters.md'),
              encoding='utf-8') as file:
        text = file.read()
    shown = re.findall(r'^### ([\w-]+)$', text, re.M)
    refused = subprocess.run([TOOL, 'describe', 'nothing'],
                             capture_output=True, text=True, check=False)
    designs = re.search('there are (.*)\\.', refused.stderr)[1].split(', ')
    assert sorted(shown) == sorted(designs), set(shown) ^ set(designs)

    drawn = 0
    for line in text.splitlines():
        if not line.startswith(PROGRAM):
            continue
        words = shlex.split(line[len(PROGRAM):])
        done = subprocess.run(
            [TOOL] + [os.path.join(folder, os.path.basename(word))
                      if word.endswith(('.png', '.npy')) else word
                      for word in words],
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
        if words[0] == 'describe':
            # Sums are 0 but for rounding, and that is not the same everywhere.
            for output in done.stdout.splitlines():
                assert output.startswith('sum') or output in text, output
        if words[0] == 'plot':
            name = os.path.basename(words[2])
            assert f'(images/filters/{name})' in text, name
            assert picture_size(os.path.join(folder, name)) == picture_size(
                os.path.join(SOURCE, words[2])), name
            drawn += 1
    assert drawn == len(designs) - 1, drawn
    print(f'{len(designs)} designs, {drawn} pictures')


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
