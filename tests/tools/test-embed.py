#!/usr/bin/env python3
"""pipelines/embed.py gives what SciPy makes of the same volumes, and an error of
the pipeline becomes an exception.

  test-embed.py SOURCE

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import importlib.util
import os
import sys

import numpy
import scipy.ndimage

spec = importlib.util.spec_from_file_location(
    'embed', os.path.join(sys.argv[1], 'pipelines', 'embed.py'))
embed = importlib.util.module_from_spec(spec)
try:
    spec.loader.exec_module(embed)
except (ImportError, ValueError) as error:
    print('skipped:', error)
    sys.exit(77)

embed.Gst.init(None)
seed = int(os.environ.get('ND_SEED', 0)) or int.from_bytes(os.urandom(3), 'big')
print(f'seed {seed}; ND_SEED={seed} repeats the run')
random = numpy.random.default_rng(seed)
volumes = [embed.make_volume(n, random) for n in range(6)]
assert not volumes[0].flags.c_contiguous
outputs = embed.filter_volumes(volumes)
expected = scipy.ndimage.gaussian_filter(
    numpy.stack(volumes).astype('float64'), 1.0, mode='nearest')
assert len(outputs) == len(volumes), len(outputs)
for n, (seconds, output) in enumerate(outputs):
    assert abs(seconds - n / embed.RATE) < 1e-6, (n, seconds)
    error = abs(output - expected[n]).max()
    print('volume', n, 'largest error', error)
    assert error < 2e-4, (n, error)

# Volumes that are not what the caps say.
wrong = [volumes[0], volumes[1][:-1]]
try:
    embed.filter_volumes(wrong)
except RuntimeError as error:
    print('refused:', error)
    assert 'bytes' in str(error)
else:
    sys.exit('a volume that is too small was accepted')
