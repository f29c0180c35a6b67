#!/usr/bin/env python3
# core/together.py: files that declare the same name do not come together, macros
# end with their file, and what it writes compiles.
#   test-together.py PROGRAM
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
HEAD = '#pragma once\nenum { FIELD_A, FIELD_B };\n'
# Each pair declares a name twice.
CLASHES = [
    ('static int same (int x) { return x; }\nint a1 (void) { return same (1); }',
     'static int same[] = { 1, 2 };\nint b1 (void) { return same[0]; }'),
    ('typedef struct { int x; } Run;\nint a2 (Run *run) { return run->x; }',
     'typedef int (*Run) (int x);\nint b2 (Run run) { return run (1); }'),
    ('enum { FIRST, SECOND = 4 };\nint a3 (void) { return SECOND; }',
     'static const int x = 1, SECOND = 3;\nint b3 (void) { return SECOND + x; }'),
    ('#include "head.h"\nint a4 (void) { return FIELD_B; }',
     'enum { FIELD_B = 7 };\nint b4 (void) { return FIELD_B; }'),
    ('#include "twice.h"\nint a5 (void) { return twice (1); }',
     '#include "twice.h"\nint b5 (void) { return twice (2); }'),
    ('struct Tag { int x; };\nint a6 (struct Tag *t) { return t->x; }',
     'struct Tag { float y; };\nint b6 (struct Tag *t) { return t->y; }'),
]
# No pair: comments, texts, locals, members, and macros, which end.
ALONE = [
    '#define SIZE 3\nint c1 (void) { int value = SIZE; return value; }',
    '#define SIZE 4\nint c2 (void) { int value = SIZE; return value; }',
    '/* static int value; */\nstatic const char *said = "{ int value;";\n'
    'int c3 (void) { return said[0]; }',
    'struct Other { int value; };\nint c4 (struct Other *o) { return o->value; }',
]


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text + '\n')
    return path


def together(folder, paths):
    said = subprocess.run(
        [sys.executable, PROGRAM, 'all', *paths], check=True, text=True,
        stdout=subprocess.PIPE, env=dict(
            os.environ, MESON_SOURCE_ROOT=folder, MESON_SUBDIR='room',
            MESON_BUILD_ROOT=os.path.join(folder, 'a build')))
    return said.stdout.splitlines()


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, 'head.h', HEAD)
        write(folder, 'twice.h',
              'static int twice (int x)\n{ return 2 * x; }')
        pairs = [(write(folder, f'a{i}.c', a), write(folder, f'b{i}.c', b))
                 for i, (a, b) in enumerate(CLASHES)]
        for pair in pairs:
            assert together(folder, pair) == list(pair), pair
        alone = [write(folder, f'c{i}.c', text) for i, text in enumerate(ALONE)]
        assert len(together(folder, alone)) == 1
        files = together(folder, alone + [path for pair in pairs for path in pair])
        assert len(files) == 2, files
        times = [os.stat(path).st_mtime_ns for path in files]
        subprocess.run(['cc', '-Wall', '-Werror', '-fsyntax-only', '-I', folder,
                        *files], check=True)
        # Nothing changed: nothing is written, so that nothing is compiled again.
        together(folder, alone + [path for pair in pairs for path in pair])
        assert times == [os.stat(path).st_mtime_ns for path in files]
    print('ok')


main()
