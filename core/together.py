#!/usr/bin/env python3
"""Writes C files that include others, because the headers take most of the time
of compiling a small file. Meson runs it with -Dkernels=host -Dtests=false, as
scripts/demo has it; what other builds compile are the files themselves.

  core/together.py NAME FILE...    prints the files to compile, a line each

Files of which two declare the same name outside of functions do not come
together. Macros of a file end with it.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import functools
import os
import re
import sys

MOST = 24       # files of one, so that two processors get equal work

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'
                   r"'(?:\\.|[^'\\\n])*'", re.S)
MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)', re.M)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
TAG = re.compile(r'\b(?:struct|union|enum)\s+(\w+)\s*\{')
POINTER = re.compile(r'\(\*\s*(\w+)\)')
TOKEN = re.compile(r'\w+|[^\w\s]')
# Macros of GLib and words of C that the parser would take for names.
OTHERS = re.compile(r'G_|GST_|__attribute__$|_?_?[Ss]tatic_assert$')


def declared(text):
    """Names of a text without comments and directives, outside of functions:
    the words before a parenthesis, a bracket or the end of a declaration, the
    constants of enums, and tags."""
    names = set(TAG.findall(text))
    depth = round_depth = 0
    is_enum = in_enum = False
    before = ''
    # Pointers to functions are declared as functions.
    for token in TOKEN.findall(POINTER.sub(r'\1', text)):
        if token == '{':
            depth += 1
            in_enum = is_enum and depth == 1
        elif token == '(':
            if depth == round_depth == 0:
                names.add(before)
            round_depth += 1
        elif token == ')':
            round_depth -= 1
        elif round_depth == 0 and (depth == 0 and token in '[=;,:'
                                   or in_enum and token in ',=}'):
            names.add(before)
        if token == '}':
            depth -= 1
            in_enum = False
        if depth == 0:
            is_enum = token == 'enum' or is_enum and token not in ';}'
        before = token
    return {name for name in names
            if re.match('[A-Za-z_]', name) and not OTHERS.match(name)}


@functools.lru_cache(maxsize=None)
def names_of(path, root):
    """The declared names of a file and of the headers that it includes without
    a guard, their macros, the names that guarded headers declare, and whether
    the file has a guard itself. Guarded headers may share names of the
    project."""
    with open(path, encoding='utf-8') as file:
        whole = file.read()
    text = NOISE.sub(' ', whole)
    macros = set(MACRO.findall(text))
    names = declared(DIRECTIVE.sub('', text))
    shared = set()
    if 'AT_FORK' in text:
        names.add('watch_forks')
    for other in re.findall(r'^#\s*include "(.*?)"', whole, re.M):
        more = names_of(os.path.join(root, other), root)
        shared |= more[2]
        if more[3]:
            shared |= {name for name in more[0]
                       if not re.match('nd|gst', name, re.I)}
        else:
            names |= more[0]
            macros |= more[1]
    return names, macros, shared, '\n#pragma once' in whole


def main(name, paths):
    root = os.environ['MESON_SOURCE_ROOT']
    folder = os.path.join(os.environ['MESON_BUILD_ROOT'],
                          os.environ['MESON_SUBDIR'])
    os.makedirs(folder, exist_ok=True)
    groups = []     # of what is declared, names of headers, files and macros
    for path in paths:
        names, macros, shared, _ = names_of(path, root)
        for taken, seen, files in groups:
            if len(files) < MOST and not (names & taken or names & seen
                                          or shared & taken):
                break
        else:
            taken, seen, files = set(), set(), []
            groups.append((taken, seen, files))
        taken |= names
        seen |= shared
        files.append((path, macros))
    for number, (_, _, files) in enumerate(groups):
        if len(files) == 1:
            print(files[0][0])
            continue
        text = ''
        for path, macros in files:
            text += f'#include "{path}"\n'
            text += ''.join(f'#undef {macro}\n' for macro in sorted(macros))
        together = os.path.join(folder, f'{name}{number}.c')
        # Ninja compiles a file again if its time changes.
        if not os.path.exists(together) or open(together).read() != text:
            with open(together, 'w', encoding='utf-8') as file:
                file.write(text)
        print(together)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
