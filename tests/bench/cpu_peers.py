# Measures SciPy on the cases that ndbench printed: one JSON object per line on
# stdin, and the same with SciPy's times on stdout.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import json
import statistics
import sys
import time

import numpy as np
import scipy
from scipy import ndimage, signal

VOLUMES = 8          # of a stream in 4D
MAX_MACS = 30e9      # cases with more than this in one call are skipped


def median(function, budget=3.0):
    times = []
    while not times or (len(times) < 7 and sum(times) < budget):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def show(case, method, seconds, outputs, taps):
    print(json.dumps({
        'work': case['work'], 'method': method,
        'device': case['device'], 'version': scipy.__version__,
        'median_ms': seconds * 1e3, 'outputs_per_s': outputs / seconds,
        'macs_per_s': outputs * taps / seconds}), flush=True)


for line in sys.stdin:
    case = json.loads(line)
    size, taps = case['size'], case['filter']
    rng = np.random.default_rng(1)
    volumes = VOLUMES if taps[3] > 1 else 1
    axes = 2 if size[2] == 1 and taps[3] == 1 else 3 if volumes == 1 else 4
    shape = (size + [volumes])[:axes][::-1]
    x = rng.uniform(0, 255, shape).astype(case['type'])
    real = np.float64 if case['type'] == 'float64' else np.float32
    w = rng.uniform(-1, 1, taps[:axes][::-1]).astype(real)
    outputs = size[0] * size[1] * size[2]
    if x.size * w.size <= MAX_MACS:
        t = median(lambda: ndimage.convolve(x, w, mode='nearest'))
        show(case, 'scipy.ndimage.convolve', t / volumes, outputs, w.size)
    xf = x.astype(real)
    t = median(lambda: signal.fftconvolve(xf, w, 'same'))
    show(case, 'scipy.fftconvolve', t / volumes, outputs, w.size)
