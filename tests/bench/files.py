#!/usr/bin/env python3
# Throughput of ndfilesrc ! ndfilesink, compared with filesrc ! filesink on the
# same samples: the least wall-clock and CPU time of several runs.
#
#   tests/bench/files.py [FOLDER]        with GST_PLUGIN_PATH set; /dev/shm
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import resource
import subprocess
import sys
import tempfile
import time

SIZE, VOLUMES, RUNS = '128:128:64', 400, 7
FORMATS = ['raw', 'nii', 'nrrd', 'mha', 'mhd', 'nhdr']


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def launch(*words):
    cpu, wall = used(), time.monotonic()
    subprocess.run(['gst-launch-1.0', '-q', *words], check=True,
                   stdout=subprocess.DEVNULL)
    return time.monotonic() - wall, used() - cpu


def main():
    with tempfile.TemporaryDirectory(
            dir=sys.argv[1] if len(sys.argv) > 1 else '/dev/shm') as folder:
        os.chdir(folder)
        launch('ndtestsrc', 'pattern=noise', 'volume-size=' + SIZE,
               'type=uint8', 'num-buffers=%d' % VOLUMES, '!', 'ndfilesink',
               'location=in.raw')
        size = os.path.getsize('in.raw') / 1e6
        raw = ['ndfilesrc', 'location=in.raw', 'volume-size=' + SIZE,
               'framerate=20/1', '!']
        lines = {
            'filesrc ! filesink': ['filesrc', 'location=in.raw', '!',
                                   'filesink', 'location=out.bin'],
            'the same, blocks of 1 MiB': [
                'filesrc', 'location=in.raw', 'blocksize=1048576', '!',
                'filesink', 'location=out.bin']}
        for name in FORMATS:
            if name != 'raw':
                launch(*raw, 'ndfilesink', 'location=%s-in.%s' % (name, name))
            source = raw if name == 'raw' else [
                'ndfilesrc', 'location=%s-in.%s' % (name, name), '!']
            lines[name] = source + ['ndfilesink', 'location=%s-out.%s'
                                    % (name, name)]
        runs = {name: [] for name in lines}
        # The cases run in turns, so that other load affects all of them.
        for _ in range(RUNS):
            for name, words in lines.items():
                runs[name].append(launch(*words))
        for name, times in runs.items():
            wall, cpu = (min(t) for t in zip(*times))
            print('%-28s %7.0f MB/s  %6.3f s of CPU time'
                  % (name, size / wall, cpu))


main()
