# Measures the Python package beside scipy.ndimage, and the cost of a call. Each
# time is the least of several runs: other programs only add to it. One JSON
# object per line on stdout, a table on stderr.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import json
import sys
import time
import timeit

import numpy as np
import scipy
from scipy import ndimage

import ndconv

CALLS = 30      # short enough to fit between two interruptions
REPEATS = 200


def least(function, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def show(name, scipy_seconds, seconds):
    print(json.dumps({"work": name, "ndconv": ndconv.__version__,
                      "scipy": scipy.__version__,
                      "scipy_ms": scipy_seconds * 1e3,
                      "ndconv_ms": seconds * 1e3}), flush=True)
    print(f"{name:36} scipy {scipy_seconds * 1e3:9.1f} ms   ndconv "
          f"{seconds * 1e3:8.2f} ms   {scipy_seconds / seconds:5.1f} times",
          file=sys.stderr)


def compare(name, x, w):
    show(name, least(lambda: ndimage.convolve(x, w, mode="nearest"), 2),
         least(lambda: ndconv.convolve(x, w), 7))


def main():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(128,) * 3).astype("f4")
    for k in (3, 7):
        compare(f"{k}^3 on 128^3", x, rng.normal(size=(k,) * 3).astype("f4"))
    show("gaussian, sigma 2, on 128^3",
         least(lambda: ndimage.gaussian_filter(x, 2, mode="nearest"), 3),
         least(lambda: ndconv.convolve(x, "gaussian,sigma=2"), 7))
    compare("15^2 on 1024^2 uint8",
            rng.integers(0, 255, (1024, 1024)).astype("u1"),
            np.full((15, 15), 1 / 225) * rng.uniform(0.5, 1.5, (15, 15)))
    compare("5^4 on 16 volumes of 48^3",
            rng.normal(size=(16, 48, 48, 48)).astype("f4"),
            rng.normal(size=(5,) * 4).astype("f4"))
    small, w = np.ones((8, 8), "f4"), np.ones((3, 3))
    for name, filter_ in (("coefficients", w), ("text", "box,size=3")):
        call = least(lambda f=filter_: timeit.timeit(
            lambda: ndconv.convolve(small, f), number=CALLS), REPEATS) / CALLS
        print(json.dumps({"work": f"one call, {name}", "us": call * 1e6}))
        print(f"one call on 8^2, {name}: {call * 1e6:.1f} us", file=sys.stderr)


main()
