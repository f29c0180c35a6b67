#!/usr/bin/env python3
# core/build-id.py: every change of a kernel gives another id; without a change
# nothing is built again.
#   test-build-id.py PROGRAM
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]


class Tree:
    def __init__(self, folder):
        self.folder = folder
        for name, text in (('engine/plan.c', 'int a;'), ('cpu/fft.c', 'int b;'),
                           ('cuda/mma/mma.cu', 'int c;'), ('gst/x.c', 'int d;')):
            self.write(name, text)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)

    def id(self, *words):
        subprocess.run([sys.executable, PROGRAM, self.folder, self.path('id.c'),
                        self.path('id.d'), 'core,filters,analysis,engine,cpu,cuda', *words],
                       check=True, timeout=300)
        with open(self.path('id.c'), encoding='utf-8') as file:
            found = re.findall(r'return "([0-9a-f]{16})";', file.read())
        assert len(found) == 1, found
        return found[0]


def check_changes(tree):
    ids = [tree.id('gcc', '12')]

    def changed(*words):
        ids.append(tree.id(*words))
        assert len(set(ids)) == len(ids), ids

    changed('gcc', '13')
    changed('gcc1', '3')
    tree.write('cuda/mma/mma.cu', 'int e;')
    changed('gcc', '13')
    tree.write('cpu/new.h', '')
    changed('gcc', '13')
    os.rename(tree.path('cpu/new.h'), tree.path('cpu/other.h'))
    changed('gcc', '13')
    os.remove(tree.path('engine/plan.c'))
    changed('gcc', '13')


def check_same(tree):
    before = tree.id()
    os.utime(tree.path('id.c'), (1, 1))
    tree.write('gst/x.c', 'int f;')
    tree.write('cpu/notes.txt', 'text')
    tree.write('cpu/.hidden.c', 'text')
    assert tree.id() == before
    assert os.stat(tree.path('id.c')).st_mtime == 1, 'written without need'


def check_depfile(tree):
    tree.id()
    with open(tree.path('id.d'), encoding='utf-8') as file:
        target, names = file.read().split(':')
    names = {os.path.relpath(n, tree.folder) for n in names.split()}
    assert target == tree.path('id.c'), target
    assert names == {'engine', 'engine/plan.c', 'cpu', 'cpu/fft.c', 'cuda',
                     'cuda/mma', 'cuda/mma/mma.cu'}, names


def main():
    for check in (check_changes, check_same, check_depfile):
        with tempfile.TemporaryDirectory() as folder:
            check(Tree(folder))


main()
