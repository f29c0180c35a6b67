# Measures SciPy, and OpenCV if it is installed, on the cases that ndbench
# printed: one JSON object per line on stdin, and the same with their times on
# stdout. Functions that have threads use as many as ndbench.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import json
import statistics
import sys
import time

import numpy as np
import scipy
from scipy import fft, ndimage, signal

try:
    import cv2
except ImportError:
    cv2 = None

VOLUMES = 8          # of a stream in 4D
MAX_MACS = 30e9      # cases with more than this in one call are skipped


def median(function, budget=3.0):
    times = []
    while not times or (len(times) < 7 and sum(times) < budget):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def show(case, method, seconds, outputs, taps, version=scipy.__version__):
    print(json.dumps({
        'work': case['work'], 'method': method,
        'device': case['device'], 'version': version,
        'median_ms': seconds * 1e3, 'outputs_per_s': outputs / seconds,
        'macs_per_s': outputs * taps / seconds}), flush=True)


def transforms(x, w, workers):
    """A convolution by transforms, with the spectrum of w made before."""
    size = [fft.next_fast_len(n + k - 1, real=True)
            for n, k in zip(x.shape, w.shape)]
    spectrum = fft.rfftn(w, size)
    part = tuple(slice(k // 2, k // 2 + n) for n, k in zip(x.shape, w.shape))

    def run():
        y = fft.rfftn(x, size, workers=workers)
        y *= spectrum
        return fft.irfftn(y, size, workers=workers, overwrite_x=True)[part]
    return run


def passes(x, line):
    """Filters every axis with line."""
    def run():
        y = x
        for axis in range(x.ndim):
            y = ndimage.correlate1d(y, line, axis, mode='nearest')
    return run


def run_opencv(case, x, w, line, outputs):
    cv2.setNumThreads(case['threads'])
    border = {'borderType': cv2.BORDER_REPLICATE}
    t = median(lambda: cv2.filter2D(x, -1, w, **border))
    show(case, 'cv2.filter2D', t, outputs, w.size, cv2.__version__)
    if line is not None:
        t = median(lambda: cv2.sepFilter2D(x, -1, line, line, **border))
        show(case, 'cv2.sepFilter2D', t, outputs, w.size, cv2.__version__)


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
    if volumes == 1:
        t = median(transforms(xf, w, case['threads']))
        show(case, 'scipy.fft', t, outputs, w.size)
    factor = None
    if case['separable'] and len({*taps[:axes]}) == 1:
        factor = np.exp(-0.1 * (np.arange(taps[0]) - taps[0] // 2)**2)
        factor = (factor / factor.sum()).astype(real)
        t = median(passes(xf, factor))
        show(case, 'scipy.correlate1d', t / volumes, outputs, w.size)
    if cv2 and axes == 2 and case['filters'] == 1:
        run_opencv(case, x, w, factor, outputs)
