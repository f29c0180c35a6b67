#!/usr/bin/env python3
"""The pictures of docs/ are those that scripts/pictures makes: within 1 of 255,
because processors round differently.

  test-pictures.py SOURCE BUILD PAGE

PAGE is gallery, filters or algorithms.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import giffile
import pngfile

SOURCE, BUILD, PAGE = sys.argv[1:]
FOLDERS = {'gallery': 'gallery', 'filters': 'filters', 'algorithms': '.'}
ELEMENTS = 'pngenc', 'multifilesink', 'compositor', 'y4menc', 'videoconvert', \
    'jpegdec', 'videocrop'


def samples_of(path):
    """The size and all samples of a picture."""
    with open(path, 'rb') as file:
        data = file.read()
    if path.endswith('.gif'):
        width, height, frames, delays = giffile.read(data)
        return (width, height, delays), b''.join(frames)
    *size, samples = pngfile.read(data)
    return size, samples


def compare(name, docs, made):
    with open(docs, 'rb') as a, open(made, 'rb') as b:
        if a.read() == b.read():
            return True
    size, old = samples_of(docs)
    new_size, new = samples_of(made)
    if size != new_size:
        print(f'{name}: {size} in docs, {new_size} made')
        return False
    most = max(abs(a - b) for a, b in zip(old, new))
    count = sum(abs(a - b) > 1 for a, b in zip(old, new))
    print(f'{name}: at most {most}, {count} of {len(old)} by more than 1')
    return most <= 1


def names_on_page():
    with open(os.path.join(SOURCE, 'docs', PAGE + '.md')) as file:
        return set(re.findall(r'\]\(images/(?:[a-z]+/)?([a-z0-9-]+\.(?:png|gif))\)',
                              file.read()))


def main(folder):
    for tool in ('gst-launch-1.0', 'gst-inspect-1.0'):
        if not shutil.which(tool):
            print(f'There is no {tool}: install gstreamer1.0-tools for this test')
            return 77
    for element in ELEMENTS:
        if PAGE != 'filters' and subprocess.run(
                ['gst-inspect-1.0', '--exists', element]).returncode:
            print(f'There is no {element}: install the plugins of GStreamer for '
                  'this test')
            return 77
    subprocess.run([os.path.join(SOURCE, 'scripts/pictures'), '--to', folder, PAGE],
                   check=True, env=os.environ | {'ND_BUILD': BUILD})
    docs = os.path.join(SOURCE, 'docs/images', FOLDERS[PAGE])
    names = {name for name in os.listdir(docs)
             if name.endswith(('.png', '.gif')) and name != 'web.png'}
    made = set(os.listdir(os.path.join(folder, FOLDERS[PAGE])))
    shown = names_on_page()
    shared = os.environ.get('ND_SHARED', '')
    if not os.path.exists(os.path.join(shared, 'data/pydicom_examples_ybr_color.dcm')):
        print('There is no recording of a heart: clip.png is not compared')
        names.discard('clip.png')
        shown.discard('clip.png')
    good = names == made and bool(names)
    if names != made:
        print('only in docs:', names - made, 'only made:', made - names)
    for name in sorted(names & made):
        good &= compare(name, os.path.join(docs, name),
                        os.path.join(folder, FOLDERS[PAGE], name))
    # Each picture is on the page, and no other one.
    if shown != names:
        print('only on the page:', shown - names, 'not on it:', names - shown)
        good = False
    return 0 if good else 1


with tempfile.TemporaryDirectory() as place:
    sys.exit(main(place))
