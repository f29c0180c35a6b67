# The golden cases, SciPy's vectors and random cases through the Python package.
#
# Prints the largest error as a fraction of its bound; a fraction above 1 fails.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import itertools
import json
import os
import random
import sys
import unittest

try:
    import numpy as np
    from scipy import ndimage
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv

SHARED = os.environ.get("ND_SHARED", "")
RANDOM_CASES = 150
BORDERS = ["constant", "nearest", "reflect", "mirror", "wrap"]
TYPES = {"u8": "u1", "u16": "<u2", "f32": "<f4"}
# SciPy's test_extend: [1, 2, 3], shifted by a weight of 1 among zeros.
# Offset of the sample: results for each border.
EXTEND = {
    -1: {"nearest": [1, 1, 2], "wrap": [3, 1, 2], "reflect": [1, 1, 2],
         "mirror": [2, 1, 2], "constant": [0, 1, 2]},
    -4: {"nearest": [1, 1, 1], "wrap": [3, 1, 2], "reflect": [3, 3, 2],
         "mirror": [1, 2, 3], "constant": [0, 0, 0]},
    1: {"nearest": [2, 3, 3], "wrap": [2, 3, 1], "reflect": [2, 3, 3],
        "mirror": [2, 3, 2], "constant": [2, 3, 0]},
    4: {"nearest": [3, 3, 3], "wrap": [2, 3, 1], "reflect": [2, 1, 1],
        "mirror": [1, 2, 3], "constant": [0, 0, 0]},
}


def bound(taps, largest):
    """Of a float32 sum in any order, as the golden cases have it."""
    return 2.0 ** -24 * largest * min(taps + 1, 8 * np.sqrt(taps + 1))


class Golden(unittest.TestCase):
    """All cases, at once and as streams."""

    def read(self, folder, entry):
        shape = entry["shape"][::-1]
        flat = np.fromfile(os.path.join(folder, entry["input"]),
                           TYPES[entry["dtype"]])
        stride = entry["row_stride_bytes"] // flat.itemsize
        # A view with padded rows.
        array = flat.reshape(shape[0], shape[1], shape[2], stride)
        kernel = np.fromfile(os.path.join(folder, entry["kernel"]), "<f4")
        expected = np.fromfile(os.path.join(folder, entry["expected"]), "<f8")
        return (array[..., :shape[3]],
                kernel.reshape(entry["kernel_shape"][::-1]),
                expected.reshape(shape))

    def compare(self, got, expected, tolerance):
        finite = np.isfinite(expected)
        if not finite.all():
            np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
            infinite = np.isinf(expected)
            np.testing.assert_array_equal(got[infinite], expected[infinite])
        error = np.abs(got[finite].astype("f8") - expected[finite])
        self.assertLessEqual(error.max(initial=0), tolerance["abs"])

    def test_golden(self):
        folder = os.path.join(SHARED, "golden")
        if not os.path.exists(os.path.join(folder, "index.json")):
            self.skipTest("ND_SHARED names no folder with the golden cases")
        with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        for entry in cases:
            x, w, expected = self.read(folder, entry)
            settings = {"border": entry["mode"], "time_border": entry["mode_t"],
                        "border_value": entry["cval"],
                        "origin": entry["origin"][::-1],
                        "output_type": "float32"}
            for method in ("reference", "direct"):
                with self.subTest(entry["name"], method=method):
                    got = ndconv.convolve(x, w, axes="tzyx", method=method,
                                          **settings)
                    self.compare(got, expected, entry["tolerance"])
            if entry["mode_t"] == "wrap":
                continue
            with self.subTest(entry["name"], method="stream"):
                stream = ndconv.Stream(w, x.shape[1:], x.dtype, axes="tzyx",
                                       method="direct", **settings)
                got = np.stack(list(stream.filter(x)))
                self.compare(got, expected, entry["tolerance"])
        print(len(cases), "golden cases")


class SciPy(unittest.TestCase):
    """SciPy's own vectors, and SciPy's answers to random cases."""

    def test_extend(self):
        for offset, results in EXTEND.items():
            w = np.zeros(2 * abs(offset) + 1, "f4")
            w[abs(offset) - offset] = 1
            for border, expected in results.items():
                # Along x, and along t.
                x = np.array([[1, 2, 3]], "f4")
                got = ndconv.convolve(x, w[None], border=border)
                np.testing.assert_array_equal(got, [expected])
                x = np.array([1, 2, 3], "f4").reshape(3, 1, 1)
                got = ndconv.convolve(x, w.reshape(-1, 1, 1), axes="tyx",
                                      time_border=border)
                np.testing.assert_array_equal(got.ravel(), expected)

    def test_correlate_vectors(self):
        # convolve() of test_correlate03 to 09, with a second axis.
        for x, w, expected in (
                ([[1]], [[1, 1]], [[2]]),
                ([[1, 2]], [[1, 1]], [[3, 4]]),
                ([[1, 2, 3]], [[1, 1]], [[3, 5, 6]]),
                ([[1, 2, 3]], [[1, 2, 3]], [[7, 10, 15]]),
                ([[1, 2, 3], [4, 5, 6]], [[1, 1], [1, 1]],
                 [[12, 16, 18], [18, 22, 24]]),
                ([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, 1]],
                 [[6, 8, 9], [9, 11, 12]])):
            np.testing.assert_array_equal(
                ndimage.convolve(np.array(x), np.array(w)), expected)
            for kind in ("uint8", "int16", "uint16", "float32", "int8", "int32",
                         "uint32", "float16"):
                got = ndconv.convolve(np.array(x, kind), np.array(w),
                                      border="reflect")
                self.assertEqual(got.dtype, kind)
                np.testing.assert_array_equal(got, expected)

    def test_gaussian(self):
        x = np.random.default_rng(1).normal(size=(6, 9, 20, 21)).astype("f4")
        got = ndconv.convolve(x, "gaussian,sigma=<1.5,1,0.7,0.5>")
        expected = ndimage.gaussian_filter(x.astype("f8"), (0.5, 0.7, 1, 1.5),
                                           mode="nearest")
        np.testing.assert_allclose(got, expected, atol=1e-5)

    def test_random(self):
        seed = int(os.environ.get("ND_SEED") or random.randrange(10 ** 9))
        print(f"seed {seed}; ND_SEED={seed} repeats the run")
        worst = 0
        for i in range(RANDOM_CASES):
            rng = np.random.default_rng(seed + i)
            axes = str(rng.choice(["yx", "zyx", "tyx", "tzyx"]))
            shape = rng.integers(1, 12, len(axes))
            size = rng.integers(1, 6, len(axes))
            x = rng.normal(0, 10, shape).astype("f4")
            x = x[tuple(slice(None, None, int(s))
                        for s in rng.choice([1, 1, -1, 2], len(axes)))]
            if rng.random() < 0.3:
                x = np.asfortranarray(x)
            w = rng.normal(size=size)
            border = str(rng.choice(BORDERS))
            origin = tuple(int(rng.integers(-(k // 2), (k - 1) // 2 + 1))
                           for k in size)
            got = ndconv.convolve(x, w, axes=axes, border=border,
                                  time_border=border, origin=origin,
                                  border_value=2.5, method="direct")
            # "constant" has the value once, not a product of axes.
            mode = {"constant": "constant"}.get(border, border)
            expected = ndimage.convolve(x.astype("f8"), w.astype("f4"),
                                        mode=mode, cval=2.5, origin=origin)
            largest = np.abs(w).sum() * max(np.abs(x).max(), 2.5)
            error = np.abs(got - expected).max()
            part = error / (bound(w.size, largest) + 1e-30)
            worst = max(worst, part)
            self.assertLessEqual(part, 1, f"seed {seed + i}")
        print(f"largest error / bound {worst:.3g}")

    def test_double(self):
        """float64 and complex128, within 1e-13 of SciPy in double precision."""
        rng = np.random.default_rng(6)
        for kind, size in itertools.product(("f8", "c16"), ((3, 4), (2, 3, 5),
                                                            (1, 40, 33))):
            x = rng.normal(size=(9, 21, 40)[-len(size):])
            w = rng.normal(size=size)
            if kind == "c16":
                x = x + 1j * rng.normal(size=x.shape)
            expected = ndimage.convolve(x, w, mode="mirror")
            for method in ("direct", "fft", "auto"):
                with self.subTest(kind=kind, size=size, method=method):
                    got = ndconv.convolve(x, w, border="mirror",
                                          precision="double", method=method)
                    self.assertEqual(got.dtype, kind)
                    error = np.linalg.norm(got - expected)
                    self.assertLessEqual(error,
                                         1e-13 * np.linalg.norm(expected))
            with self.assertRaisesRegex(TypeError, "precision='double'"):
                ndconv.convolve(x, w)
        # Complex responses, and a stream.
        x = rng.normal(size=(7, 8))
        w = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
        got = ndconv.convolve(x, w, precision="double")
        self.assertEqual(got.dtype, "c16")
        np.testing.assert_allclose(got, ndimage.convolve(x, w, mode="nearest"),
                                   rtol=0, atol=1e-13)
        stream = ndconv.Stream(np.full((1, 3, 3), 1 / 9), (7, 8), "f8",
                               precision="double")
        np.testing.assert_allclose(stream.push(x)[0],
                                   ndimage.uniform_filter(x, mode="nearest"),
                                   rtol=0, atol=1e-14)

    def test_blocks(self):
        """Blocks give the whole array bit for bit."""
        rng = np.random.default_rng(5)
        for border in BORDERS:
            for method in ("direct", "separable"):
                x = rng.normal(size=(6, 11, 23, 40)).astype("f4")
                w = "gaussian,sigma=0.7" if method == "separable" \
                    else rng.normal(size=(2, 3, 4, 5))
                settings = {"border": border, "time_border": border,
                            "method": method}
                whole = ndconv.convolve(x, w, **settings)
                out = np.empty_like(x)
                for task in ndconv.plan_blocks(w, x.shape, (2, 4, 9, 16),
                                               chunk=(1, 1, 8, 8), **settings):
                    out[task.target] = ndconv.convolve(
                        x[task.source], w, **settings)[task.inner]
                np.testing.assert_array_equal(out, whole)


if __name__ == "__main__":
    unittest.main(verbosity=1)
