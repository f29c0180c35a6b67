#!/usr/bin/env python3
"""mypy finds no error in the package, and a program that it checks sees the
types of functions.

  test-types.py SOURCE

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
FUNCTIONS = ['convolve', 'deconvolve', 'register', 'rank', 'warp', 'run']
source = sys.argv[1]


def check(cache, *arguments, **environment):
    """The lines that mypy prints, and whether it found no error."""
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--cache-dir', cache, *arguments],
        cwd=source, env={**os.environ, **environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode == 0


def main():
    if not importlib.util.find_spec('mypy'):
        print('Without mypy: scripts/setup --tests installs it')
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        said, good = check(os.path.join(folder, 'cache'))
        if not good:
            print(said)
            return 1
        program = os.path.join(folder, 'program.py')
        with open(program, 'w', encoding='utf-8') as file:
            file.write('import ndconv\n' + ''.join(
                f'reveal_type(ndconv.{name})\n' for name in FUNCTIONS))
        said, good = check(os.path.join(folder, 'other'), program,
                           MYPYPATH=os.path.join(source, 'python'))
    types = [line for line in said.split('\n') if 'Revealed type' in line]
    print(said)
    return 0 if (good and len(types) == len(FUNCTIONS) and not any(
        'is "Any"' in line for line in types)) else 1


sys.exit(main())
