# The names of scipy.ndimage: the same results as SciPy's, but for integers that
# SciPy wraps or truncates more than once. scripts/peer-tests runs SciPy's own
# tests.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import doctest
import inspect
import os
import sys
import unittest

try:
    import numpy as np
    import scipy.ndimage
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

from ndconv import ndimage

SEED = int(os.environ.get("ND_SEED")
           or int.from_bytes(np.random.bytes(4), "little"))
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant",
         "grid-wrap", "grid-mirror")


class Ndimage(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(SEED)
        self.w = self.rng.normal(size=(3, 4))
        # Name, arguments, and whether mode may differ between the axes.
        self.calls = [
            ("convolve", (self.w,), False), ("correlate", (self.w,), False),
            ("convolve1d", (self.w[0], 0), False),
            ("correlate1d", (self.w[0], 0), False),
            ("gaussian_filter", (1.3,), True),
            ("gaussian_filter", ((1.3, 0),), True),
            ("gaussian_filter", ((1.3, 0.7), (1, 2)), True),
            ("gaussian_filter1d", (2.0,), False),
            ("gaussian_laplace", (1.1,), True),
            ("gaussian_gradient_magnitude", (1.1,), True),
            ("uniform_filter", (4,), True), ("uniform_filter", ((1, 3),), True),
            ("uniform_filter1d", (4, 0), False), ("sobel", (0,), True),
            ("prewitt", (), True), ("laplace", (), True)]

    def compare(self, name, x, *arguments, **keywords):
        want = getattr(scipy.ndimage, name)(x, *arguments, **keywords)
        got = getattr(ndimage, name)(x, *arguments, **keywords)
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        single = want.dtype in ("f4", "c8")
        scale = max(np.abs(want).max(), 1) if want.size else 1
        np.testing.assert_allclose(got, want, rtol=0,
                                   atol=(2e-6 if single else 1e-12) * scale,
                                   err_msg=f"{name} {arguments} {keywords}")

    def test_floats(self):
        for name, arguments, varies in self.calls:
            for mode in (*MODES, *([("wrap", "constant")] if varies else [])):
                # SciPy computes a border value of "grid-constant" as that.
                for kind in ("f8", "f4", "c16"):
                    x = self.rng.normal(size=(9, 11)).astype(kind)
                    if kind == "c16":
                        x = x + 1j * x[::-1]
                        if name == "gaussian_gradient_magnitude":
                            continue
                    self.compare(name, x, *arguments, mode=mode, cval=0.5)

    def test_shapes(self):
        for shape in ((7,), (5, 6, 7), (4, 5, 3, 6), (2, 3, 4, 3, 5)):
            x = self.rng.normal(size=shape)
            self.compare("gaussian_filter", x, 1.0)
            self.compare("laplace", x)
            self.compare("sobel", x, 0)
            self.compare("uniform_filter", x, 3)
            w = self.rng.normal(size=(2,) * len(shape))
            self.compare("convolve", x, w, mode="wrap")
            self.compare("correlate1d", x, w.ravel()[:2], 0)
        self.compare("gaussian_filter", np.empty((0, 4)), 1.0)

    def test_origins(self):
        x = self.rng.normal(size=(9, 11))
        for origin in (-1, 0, (0, 1), (-1, -2)):
            self.compare("convolve", x, self.w, origin=origin)
        for origin in (-1, 1, (1, -1)):
            self.compare("correlate", x, self.w[:, :3], origin=origin)
            self.compare("uniform_filter", x, 3, origin=origin)
        for function in (ndimage.convolve, ndimage.correlate):
            with self.assertRaisesRegex(ValueError, "Invalid origin"):
                function(x, self.w, origin=2)

    def test_complex(self):
        x = self.rng.normal(size=(9, 11))
        z = self.w + 1j * self.rng.normal(size=self.w.shape)
        for name in ("convolve", "correlate"):
            self.compare(name, x, z)
            self.compare(name, x + 1j, z, mode="constant", cval=2 - 1j)
            self.compare(name, x + 1j, self.w, mode="constant", cval=2 - 1j)
        with self.assertRaisesRegex(ValueError, "complex-valued cval"):
            ndimage.convolve(x, z, cval=1j)

    def test_integers(self):
        """Sums of integers are the same; others are truncated once."""
        w = self.rng.integers(-9, 9, (3, 4))
        for kind in ("i1", "i2", "i4", "i8"):
            x = self.rng.integers(-3, 4, (9, 11)).astype(kind)
            for name in ("convolve", "correlate"):
                self.compare(name, x, np.sign(w))
            self.compare("sobel", x)
            self.compare("laplace", x)
            np.testing.assert_array_equal(
                ndimage.gaussian_filter(x, 1.0),
                np.trunc(scipy.ndimage.gaussian_filter(x.astype("f8"), 1.0)))
        # Saturated, not wrapped.
        x = np.array([[0, 200, 100]], "u1")
        np.testing.assert_array_equal(ndimage.convolve1d(x, [2]),
                                      [[0, 255, 200]])
        np.testing.assert_array_equal(ndimage.convolve1d(x, [-1]), [[0, 0, 0]])
        # Means are exact.
        x = np.full((30, 30), 7, "u1")
        for size in (3, 7, 11):
            np.testing.assert_array_equal(ndimage.uniform_filter(x, size), x)

    def test_output(self):
        x = self.rng.normal(size=(9, 11))
        for output in (np.float32, "f4", np.dtype("f4"), "complex64"):
            got = ndimage.gaussian_filter(x, 1.0, output=output)
            self.assertEqual(got.dtype, np.dtype(output))
        for out in (np.empty((9, 11), "f4"), np.empty((11, 9)).T, x.copy()):
            got = ndimage.gaussian_filter(x, 1.0, output=out)
            self.assertIs(got, out)
            np.testing.assert_allclose(
                out, scipy.ndimage.gaussian_filter(x, 1.0), atol=1e-6)
        same = x.copy()
        ndimage.sobel(same, output=same)
        np.testing.assert_allclose(same, scipy.ndimage.sobel(x), atol=1e-12)

    def test_refused(self):
        x = self.rng.normal(size=(9, 11))
        for error, words, call in (
                (RuntimeError, "boundary mode", lambda: ndimage.sobel(
                    x, mode="zero")),
                (RuntimeError, "incorrect shape", lambda: ndimage.convolve(
                    x, [1.0])),
                (RuntimeError, "no filter weights", lambda: ndimage.convolve1d(
                    x, [])),
                (RuntimeError, "output shape", lambda: ndimage.laplace(
                    x, output=np.empty(3))),
                (RuntimeError, "complex dtype", lambda: ndimage.laplace(
                    x + 0j, output=np.empty((9, 11)))),
                (RuntimeError, "not supported", lambda: ndimage.laplace(
                    x.astype("f2"))),
                (RuntimeError, "filter size", lambda: ndimage.uniform_filter1d(
                    x, 0)),
                (ValueError, "out of range", lambda: ndimage.convolve1d(
                    x, [1], axis=2)),
                (ValueError, "unique", lambda: ndimage.gaussian_filter(
                    x, 1, axes=(0, 0)))):
            with self.assertRaisesRegex(error, words):
                call()

    def test_names(self):
        """Arguments have SciPy's names and defaults, where both have them."""
        for name in ndimage.__all__:
            theirs = inspect.signature(getattr(scipy.ndimage, name)).parameters
            ours = inspect.signature(getattr(ndimage, name)).parameters
            for argument, parameter in theirs.items():
                self.assertIn(argument, ours, name)
                found, wanted = ours[argument].default, parameter.default
                self.assertTrue(found == wanted or not (found or wanted),
                                (name, argument))


def load_tests(_loader, tests, _pattern):
    tests.addTests(doctest.DocTestSuite(ndimage))
    return tests


if __name__ == "__main__":
    print("NumPy", np.__version__, "SciPy", scipy.__version__, "seed", SEED)
    unittest.main(verbosity=1)
