#!/usr/bin/env python3
"""Checks that docs/filters.md shows every design, and that its commands print
the text and draw the pictures of the page.

  tests/readme/test-filters-page.py SOURCE NDCONV-FILTER

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
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
    designs = subprocess.run([TOOL, 'list'], capture_output=True, text=True,
                             check=True).stdout.split()
    assert sorted(shown) == sorted(designs), set(shown) ^ set(designs)

    drawn = 0
    lines = text.splitlines()
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
            # Sums of 0 have rounding errors that differ between machines.
            for output in done.stdout.splitlines():
                assert output.startswith('sum') or output in lines, output
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
