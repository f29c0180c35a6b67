#!/usr/bin/env python3
# Writes the source of nd_build_id() and nd_build_number().
#
#   build-id.py ROOT OUTPUT DEPFILE FOLDERS [WORD...]
#
# The id is a hash of all sources in FOLDERS (below ROOT, separated by commas)
# and of the words. OUTPUT is written only if it changes, so that a build does
# not compile and link again without need. DEPFILE lists the sources, and also
# their folders, because a new or removed file changes the folder.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import hashlib
import os
import sys

SUFFIXES = ('.c', '.h', '.cu', '.cuh', 'meson.build')
SOURCE = '''/* Made by core/build-id.py. */
#include "core/buildid.h"

const gchar *
nd_build_id (void)
{
  return "%(id)s";
}

guint32
nd_build_number (void)
{
  return 0x%(number)s;
}
'''


def walk(root, folders):
    """Paths of the folders and of the sources in them, in a fixed order."""
    for folder in sorted(folders):
        for path, names, files in os.walk(os.path.join(root, folder)):
            names.sort()
            yield path
            for name in sorted(files):
                if name.endswith(SUFFIXES) and not name.startswith('.'):
                    yield os.path.join(path, name)


def compute_id(root, paths, words):
    digest = hashlib.sha256('\0'.join(words).encode())
    for path in paths:
        if os.path.isfile(path):
            digest.update(f'\0{os.path.relpath(path, root)}\0'.encode())
            with open(path, 'rb') as file:
                digest.update(file.read())
    return digest.hexdigest()[:16]


def read(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except OSError:
        return None


def main():
    root, output, depfile, folders, *words = sys.argv[1:]
    paths = list(walk(root, folders.split(',')))
    build_id = compute_id(root, paths, words)
    source = SOURCE % {'id': build_id, 'number': build_id[:8]}
    if read(output) != source:
        with open(output, 'w', encoding='utf-8') as file:
            file.write(source)
    with open(depfile, 'w', encoding='utf-8') as file:
        file.write(output + ':')
        for path in paths:
            file.write(' ' + path.replace(' ', '\\ '))
        file.write('\n')


main()
