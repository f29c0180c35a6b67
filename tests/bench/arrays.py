"""Times of ndconv.convolve on arrays in memory of the host beside peers: SciPy's
ndimage and signal, and OpenCV if it is there. One thread each, processor time,
the best of several rounds in which all take turns.

    scripts/bench --arrays [ROW ...]

ROW is a part of a row's name. A ratio above 1: ndconv is faster than the best
peer.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import statistics
import sys
import time

import numpy as np
import scipy
import scipy.ndimage as ndi
import scipy.signal as sig

import ndconv

try:
    import cv2
    cv2.setNumThreads(1)
except ImportError:
    cv2 = None

ROUNDS = 7
SECONDS = 0.02      # of one measurement, at least
RNG = np.random.default_rng(1)


def measure(functions):
    """The best seconds of a call of each function."""
    best = {name: float("inf") for name in functions}
    counts = {}
    for name, function in functions.items():
        function()
        begin = time.process_time()
        function()
        counts[name] = max(1, int(SECONDS / max(
            time.process_time() - begin, 1e-6)))
    for _ in range(ROUNDS):
        for name, function in functions.items():
            begin = time.process_time()
            for _ in range(counts[name]):
                function()
            best[name] = min(best[name], (time.process_time() - begin)
                             / counts[name])
    return best


def own(x, w, axes=None, **settings):
    """ndconv, with the border of the peers."""
    return lambda: ndconv.convolve(x, w, axes=axes, border="reflect",
                                   n_threads=1, **settings)


def sample(shape, kind="f4"):
    return (RNG.random(shape) * (255 if kind[0] in "ui" else 1)).astype(kind)


def lines(n, k, axis=0, shape=None):
    """One axis of an array."""
    x, w = sample(shape or (n,)), RNG.random(k)
    full = np.reshape(w, [k if i == axis else 1 for i in range(x.ndim)])
    peers = {"ndimage": lambda: ndi.convolve1d(x, w, axis)}
    if x.ndim == 1:
        w4 = w.astype("f4")
        peers["oaconvolve"] = lambda: sig.oaconvolve(x, w4, "same")
        peers["numpy"] = lambda: np.convolve(x, w4, "same")
    elif cv2:
        kernel = w[::-1].astype("f4")
        one = np.ones(1, "f4")
        pair = (one, kernel) if axis == 0 else (kernel, one)
        peers["OpenCV"] = lambda: cv2.sepFilter2D(
            x, -1, *pair, borderType=cv2.BORDER_REFLECT)
    return own(x, full), peers


def plane(n, k, kind="f4", rank=0, transposed=False):
    """A filter of k x k, separable if rank is 1."""
    x = sample((n, n), kind)
    w = RNG.random((k, k))
    if rank == 1:
        w = np.outer(w[0], w[1])
    w /= w.sum()
    x = x.T if transposed else x
    peers = {"ndimage": lambda: ndi.convolve(x, w)} if k * k * n * n < 3e8 \
        else {}
    if kind == "f4":
        w4 = w.astype("f4")
        peers["oaconvolve"] = lambda: sig.oaconvolve(x, w4, "same")
        peers["fftconvolve"] = lambda: sig.fftconvolve(x, w4, "same")
    if cv2:
        kernel = w[::-1, ::-1].astype("f4")
        peers["OpenCV"] = lambda: cv2.filter2D(
            x, -1, kernel, borderType=cv2.BORDER_REFLECT)
    return own(x, w), peers


def box(n, k, kind):
    x = sample((n, n), kind)
    peers = {"ndimage": lambda: ndi.uniform_filter(x, k)}
    if cv2:
        peers["OpenCV"] = lambda: cv2.blur(x, (k, k),
                                           borderType=cv2.BORDER_REFLECT)
    return own(x, f"box,size={k}"), peers


def sobel(n):
    x = sample((n, n))
    peers = {"ndimage": lambda: ndi.sobel(x)}
    if cv2:
        peers["OpenCV"] = lambda: cv2.Sobel(x, -1, 1, 0,
                                            borderType=cv2.BORDER_REFLECT)
    return own(x, "sobel"), peers


def gaussian(n, kind):
    x = sample((n, n), kind)
    peers = {"ndimage": lambda: ndi.gaussian_filter(x, 1)}
    if cv2:
        peers["OpenCV"] = lambda: cv2.GaussianBlur(
            x, (9, 9), 1, borderType=cv2.BORDER_REFLECT)
    return own(x, "gaussian,sigma=1"), peers


def colours(n, k):
    x = sample((n, n, 3))
    w = RNG.random((k, k))
    peers = {"ndimage": lambda: ndi.convolve(x, w[..., None])}
    if cv2:
        kernel = w[::-1, ::-1].astype("f4")
        peers["OpenCV"] = lambda: cv2.filter2D(
            x, -1, kernel, borderType=cv2.BORDER_REFLECT)
    return own(x, w, "yxc"), peers


def batch(shape):
    x, w = sample(shape), RNG.random((3, 3))
    full = w.reshape((1,) * (x.ndim - 2) + w.shape)
    return own(x, w, "yx"), {"ndimage": lambda: ndi.convolve(x, full)}


def volume(n, k, order="C"):
    x = np.asarray(sample((n,) * 3), order=order)
    w = RNG.random((k,) * 3)
    w4 = w.astype("f4")
    peers = {"fftconvolve": lambda: sig.fftconvolve(x, w4, "same")}
    if k < 8:
        peers["ndimage"] = lambda: ndi.convolve(x, w)
    return own(x, w), peers


ROWS = {
    "column 1e6x1, k=9": lambda: lines(0, 9, 0, (10 ** 6, 1)),
    "row 1e6, k=9": lambda: lines(10 ** 6, 9),
    "row 1e6, k=1001": lambda: lines(10 ** 6, 1001),
    "row 1e5, k=5": lambda: lines(10 ** 5, 5),
    "row 1e5, k=101": lambda: lines(10 ** 5, 101),
    "row 1000, k=5": lambda: lines(1000, 5),
    "1024^2, k=3, axis 0": lambda: lines(0, 3, 0, (1024, 1024)),
    "1024^2, k=3, axis 1": lambda: lines(0, 3, 1, (1024, 1024)),
    "1024^2, k=15, axis 0": lambda: lines(0, 15, 0, (1024, 1024)),
    "1024^2, k=15, axis 1": lambda: lines(0, 15, 1, (1024, 1024)),
    "1024^2, k=63, axis 1": lambda: lines(0, 63, 1, (1024, 1024)),
    "64^2, 3x3": lambda: plane(64, 3),
    "256^2, 3x3": lambda: plane(256, 3),
    "512^2, 3x3": lambda: plane(512, 3),
    "64^2, 3x3, uint8": lambda: plane(64, 3, "u1"),
    "256^2, 3x3, uint8": lambda: plane(256, 3, "u1"),
    "64^2, 7x7": lambda: plane(64, 7),
    "512^2, 1x1": lambda: plane(512, 1),
    "1024^2 transposed, 3x3": lambda: plane(1024, 3, transposed=True),
    "256^2, 101x101": lambda: plane(256, 101),
    "128^2, 127x127": lambda: plane(128, 127),
    "1024^2, 51x51": lambda: plane(1024, 51),
    "1024^2, 101x101": lambda: plane(1024, 101),
    "64^2, sobel": lambda: sobel(64),
    "512^2, sobel": lambda: sobel(512),
    "1024^2, box 3": lambda: box(1024, 3, "f4"),
    "1024^2, box 31": lambda: box(1024, 31, "f4"),
    "1024^2, box 101": lambda: box(1024, 101, "f4"),
    "1024^2, box 3, uint8": lambda: box(1024, 3, "u1"),
    "1024^2, box 9, uint8": lambda: box(1024, 9, "u1"),
    "1024^2, box 31, uint8": lambda: box(1024, 31, "u1"),
    "1024^2, box 101, uint8": lambda: box(1024, 101, "u1"),
    "64^2, Gaussian": lambda: gaussian(64, "f4"),
    "64^2, Gaussian, uint8": lambda: gaussian(64, "u1"),
    "512^2 x 3, 3x3": lambda: colours(512, 3),
    "40x25 of 16^2, 3x3": lambda: batch((40, 25, 16, 16)),
    "1000 of 16^2, 3x3": lambda: batch((1000, 16, 16)),
    "8^3, 3^3": lambda: volume(8, 3),
    "16^3, 3^3": lambda: volume(16, 3),
    "96^3 Fortran, 3^3": lambda: volume(96, 3, "F"),
    "64^3, 63^3": lambda: volume(64, 63),
}


def main():
    wanted = sys.argv[1:]
    print(f"ndconv {ndconv.__version__}, NumPy {np.__version__}, SciPy "
          f"{scipy.__version__}, OpenCV {cv2.__version__ if cv2 else 'absent'}")
    print(f"{'':26}{'ndconv us':>12}{'best peer us':>14}  ratio")
    ratios = []
    for name, make in ROWS.items():
        if wanted and not any(part in name for part in wanted):
            continue
        function, peers = make()
        best = measure({"ndconv": function, **peers})
        mine = best.pop("ndconv")
        peer = min(best, key=best.get)
        ratios.append(best[peer] / mine)
        print(f"{name:26}{mine * 1e6:12.1f}{best[peer] * 1e6:14.1f}"
              f"  {ratios[-1]:5.2f}  {peer}", flush=True)
    if ratios:
        print(f"median {statistics.median(ratios):.2f}, "
              f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)} below 1")


main()
