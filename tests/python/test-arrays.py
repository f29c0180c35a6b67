# Arrays of all shapes and types: axes, batches, borders along each axis, border
# values, integers of 64 bits, bool, complex numbers, byte orders, saturation.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import concurrent.futures
import itertools
import os
import sys
import unittest
import unittest.mock
import warnings

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv

SEED = int(os.environ.get("ND_SEED")
           or int.from_bytes(np.random.bytes(4), "little"))
# NumPy's names of the borders.
PAD = {"constant": "constant", "nearest": "edge", "reflect": "symmetric",
       "mirror": "reflect"}


def extend(x, axis, border, before, after, value):
    """@x with its border along @axis."""
    if border == "wrap":
        return np.take(x, np.arange(-before, x.shape[axis] + after), axis,
                       mode="wrap")
    if border == "constant":
        edges = list(x.shape)
        edges[axis] = before
        first = np.full(edges, value, np.result_type(x, type(value)))
        edges[axis] = after
        last = np.full(edges, value, first.dtype)
        return np.concatenate([first, x, last], axis)
    width = [(0, 0)] * x.ndim
    width[axis] = (before, after)
    return np.pad(x, width, PAD[border])


def expected(x, w, borders, value=0.0):
    """The definition of docs/words.md, of the last axes of @x."""
    wide = x.astype(np.result_type(x, "f8"))
    first = x.ndim - w.ndim
    for i, (border, k) in enumerate(zip(borders, w.shape), first):
        wide = extend(wide, i, border, k - 1 - k // 2, k // 2, value)
    result = np.zeros(x.shape, np.result_type(wide, w, "f8"))
    for m in np.ndindex(w.shape):
        part = tuple(slice(k - 1 - i, k - 1 - i + n)
                     for i, k, n in zip(m, w.shape, x.shape[first:]))
        result += w[m] * wide[(..., *part)]
    return result


def quiet(*arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ndconv.convolve(*arguments, **settings)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(SEED)

    def integers(self, *shape):
        return self.rng.integers(-40, 40, shape)

    def check(self, x, w, borders=None, value=0.0, **settings):
        borders = borders or ["nearest"] * w.ndim
        got = quiet(x, w, **settings)
        want = expected(x, w, borders, value)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-3)
        self.assertEqual(got.shape, want.shape)
        return got

    def test_rows(self):
        """One axis, alone or in a batch."""
        for n, k in ((1, 1), (1, 5), (9, 3), (40, 6), (3, 11)):
            w = self.integers(k)
            self.check(self.integers(n).astype("f4"), w)
            self.check(self.integers(3, 2, n).astype("f4"), w, axes="x")
        self.assertEqual(ndconv.design("gaussian,sigma=1", axes="x").shape,
                         (9,))
        x = self.integers(20).astype("f4")
        np.testing.assert_allclose(
            ndconv.convolve(x, "log,sigma=1"),
            ndconv.convolve(x, ndconv.design("log,sigma=1", axes="x")),
            rtol=1e-5, atol=1e-4)

    def test_batches(self):
        """Axes before those that are filtered, in any number and layout."""
        for axes, shape in (("yx", (2, 3, 2, 3, 5, 6)), ("x", (2, 3, 4, 5, 7)),
                            ("zyx", (2, 2, 3, 4, 5)), ("tyx", (2, 3, 3, 4, 5)),
                            ("tzyx", (2, 2, 2, 3, 4, 5))):
            w = self.integers(*(3, 2, 3, 2)[:len(axes)])
            x = self.integers(*shape).astype("f4")
            with self.subTest(axes):
                self.check(x, w, axes=axes)
                self.check(x[::-1, ::2], w, axes=axes)
                got = quiet(x, w, axes=axes, out=np.empty(
                    shape[:1] + shape[1:], "f4", order="F"))
                np.testing.assert_array_equal(got, quiet(x, w, axes=axes))
        # Colours, and a bank.
        x = self.integers(2, 4, 5, 6, 3).astype("f4")
        w = self.integers(3, 3)
        for c in range(3):
            np.testing.assert_array_equal(
                quiet(x, w, axes="yxc")[..., c],
                quiet(np.ascontiguousarray(x[..., c]), w, axes="yx"))
        bank = quiet(x[..., 0], np.stack([w, -w]), axes="yx")
        np.testing.assert_array_equal(bank[0], -bank[1])

    def test_large_batches(self):
        """Items that do not fit in one volume together."""
        from ndconv import _convolve
        before, _convolve.VOLUME = _convolve.VOLUME, 100
        try:
            self.check(self.integers(3, 4, 2, 5, 6).astype("f4"),
                       self.integers(3, 3), axes="yx")
            self.check(self.integers(7, 3, 30).astype("f4"), self.integers(3),
                       axes="x")
        finally:
            _convolve.VOLUME = before

    def test_borders(self):
        """One along each axis, by SciPy's names."""
        x = self.integers(3, 4, 5).astype("f4")
        w = self.integers(4, 3, 7)
        names = (*PAD, "wrap")
        for borders in itertools.product(names, names, ("wrap", "mirror")):
            with self.subTest(borders):
                self.check(x, w, borders, 2.5, border=borders,
                           border_value=2.5)
        for name, same in (("grid-constant", "constant"),
                           ("grid-wrap", "wrap"), ("grid-mirror", "reflect")):
            self.check(x, w, [same] * 3, border=name)
        self.check(x, w, ["wrap", "mirror", "mirror"], axes="tyx",
                   border="mirror", time_border="wrap")
        self.check(x, w, ["wrap", "mirror", "nearest"], axes="tyx",
                   border=("wrap", "mirror", "nearest"))
        # Of integers; with an origin; into memory that is given.
        integers = self.integers(6, 7).astype("i2")
        out = np.empty((6, 7), "i2")
        got = quiet(integers, w[0], border=("wrap", "constant"), out=out,
                    border_value=0.5, output_type="same")
        self.assertIs(got, out)
        np.testing.assert_array_equal(
            got, np.rint(expected(integers, w[0], ("wrap", "constant"), 0.5)))
        shifted = quiet(x[0], w[0], border=("wrap", "mirror"), origin=(1, 0))
        np.testing.assert_array_equal(
            shifted, np.roll(quiet(x[0], w[0], border=("wrap", "mirror")), -1,
                             0))

    def test_border_values(self):
        x = self.integers(5, 6).astype("f4")
        w = np.ones((3, 3))
        for value in (np.nan, np.inf, -np.inf):
            got = quiet(x, w, border="constant", border_value=value)
            np.testing.assert_array_equal(
                got[1:-1, 1:-1], expected(x, w, ["nearest"] * 2)[1:-1, 1:-1])
            edge = np.ones((5, 6), bool)
            edge[1:-1, 1:-1] = False
            np.testing.assert_array_equal(got[edge], np.full(18, value))
        # A number, whatever NumPy calls it.
        for value in (np.array(3), np.float32(3), np.int64(3), True + 2,
                      3 + 0j):
            self.check(x, w, ["constant"] * 2, 3.0, border="constant",
                       border_value=value)

    def test_complex(self):
        """The border, and filters that are complex too."""
        x = (self.integers(5, 6) + 1j * self.integers(5, 6)).astype("c8")
        w = self.integers(3, 4)
        z = w + 1j * self.integers(3, 4)
        for value in (2.0, 2 - 3j, complex(0, 1)):
            for filter_ in (w, z):
                self.check(x, filter_, ["constant"] * 2, value,
                           border="constant", border_value=value)
        got = self.check(x, z)
        self.assertEqual(got.dtype, "c8")
        out = x.copy()
        self.assertIs(quiet(out, z, out=out), out)
        np.testing.assert_array_equal(out, got)
        self.check(x.astype("c16"), z, precision="double")
        self.check(x, z, ("wrap", "mirror"), border=("wrap", "mirror"))
        bank = quiet(x, np.stack([z, 2 * z]))
        np.testing.assert_allclose(bank[1], 2 * bank[0], rtol=1e-6)
        # NaN in one part does not reach the other.
        got = quiet(x, w, border="constant", border_value=complex(0, np.nan))
        self.assertTrue(np.isfinite(got.real).all())
        self.assertTrue(np.isnan(got.imag[0, 0]))

    def test_integers(self):
        """No bit of an integer is lost in silence."""
        for kind in ("i4", "u4", "i8", "u8"):
            big = np.array([123456789, 16777217, 5, 2 ** 31 - 1], kind)
            got = ndconv.convolve(big, np.ones(1))
            self.assertEqual(got.dtype, np.dtype(kind))
            np.testing.assert_array_equal(got, big)
            got = ndconv.convolve(big, np.array([0.5]), output_type="f8")
            np.testing.assert_array_equal(got, big / 2)
        wide = np.array([[2 ** 53, -2 ** 53 + 1]])
        np.testing.assert_array_equal(ndconv.convolve(wide, np.ones((1, 1))),
                                      wide)
        with self.assertWarnsRegex(UserWarning, r"above 2\^53 are rounded"):
            ndconv.convolve(wide, np.array([[4]]))
        with self.assertWarnsRegex(UserWarning, "do not fit in uint64"):
            got = ndconv.convolve(np.array([1, 2, 3]), np.array([-1]),
                                  output_type=np.uint64)
        np.testing.assert_array_equal(got, [0, 0, 0])
        # A large sum by any method is the nearest integer.
        x = self.rng.integers(0, 2 ** 31, (40, 40))
        w = self.rng.integers(0, 100, (15, 15))
        np.testing.assert_array_equal(
            ndconv.convolve(x, w), expected(x, w, ["nearest"] * 2).astype("i8"))

    def test_bool(self):
        x = np.array([0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0], bool)
        got = ndconv.convolve(x, np.ones(3))
        self.assertEqual(got.dtype, bool)
        np.testing.assert_array_equal(got, [0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0])
        np.testing.assert_array_equal(
            ndconv.convolve(x, np.ones(3), output_type="uint8"),
            [0, 0, 1, 1, 2, 2, 2, 1, 0, 0, 0])
        # A sum of 0 is false, whatever the method rounds.
        x = self.rng.random((90, 90)) < 0.001
        w = self.rng.integers(1, 9, (31, 31))
        np.testing.assert_array_equal(
            ndconv.convolve(x, w, border="constant"),
            expected(x, w, ["constant"] * 2) != 0)

    def test_types(self):
        x = self.integers(4, 5)
        w = np.ones((3, 3))
        for name in ("f4", np.float32, "float32", np.dtype("f4"), "<f4"):
            self.assertEqual(quiet(x.astype("i2"), w, output_type=name).dtype,
                             np.dtype("f4"))
        self.assertEqual(quiet(x.astype("f4"), w, output_type=complex).dtype,
                         np.dtype("c16"))
        for kind in (">i2", ">f4", ">c8", ">i8"):
            big = x.astype(kind)
            big.flags.writeable = False
            self.check(big, w)
        out = np.empty((4, 5), ">f4")
        self.assertIs(quiet(x.astype("f4"), w, out=out), out)
        np.testing.assert_allclose(out, expected(x, w, ["nearest"] * 2))

    def test_again(self):
        """Calls that were made before, with other samples: by one thread and by
        several, of any layout, and beside calls that differ a little."""
        from ndconv import _quick
        _quick._known.clear()
        w = self.integers(3, 3)
        arrays = []
        for _ in range(3):
            x = self.integers(6, 7).astype("f4")
            arrays += [x, x[::-1], np.asfortranarray(x), x.astype("u1"),
                       x.astype(">f4"), x.astype("i8"), x.astype("c8") * 1j,
                       np.repeat(x, 2, 0)[::2]]
        for x in arrays:
            self.check(x if x.dtype != "u1" else x % 5, w if x.dtype != "u1"
                       else abs(w) % 5)
            if x.dtype != "c8":
                self.check(x.astype("f4"), w, output_type="float64")
            self.check(x, w, ["wrap"] * 2, border="wrap",
                       output_type="float64" if x.dtype != "c8" else "same")
        self.assertGreater(len(_quick._known), 5)
        image = arrays[0]
        want = quiet(image, w)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for got in pool.map(lambda _: quiet(image, w), range(200)):
                np.testing.assert_array_equal(got, want)
        # Other coefficients at the same place in memory, and a list.
        for value in (1.0, 2.0):
            w = np.full((1, 1), value)
            np.testing.assert_array_equal(quiet(image, w), value * image)
        for origin in ([1, 0], (1, 0)):
            np.testing.assert_array_equal(
                quiet(image, 2.0 * (np.indices((3, 3)) == 1).all(0),
                      origin=origin, border="wrap"),
                quiet(np.roll(image, -1, 0), w))
        _quick._known.clear()
        with unittest.mock.patch.object(_quick, "MOST_CALLS", 2):
            for k in range(1, 9):
                quiet(image, np.ones((k, k)))
        self.assertLessEqual(len(_quick._known), 2)

    def test_layouts(self):
        """Large arrays of any layout, columns, and long lines."""
        for shape, order in (((130, 140), (1, 0)), ((3, 80, 90), (0, 2, 1)),
                             ((30, 31, 32), (2, 0, 1)), ((1, 20000), (1, 0)),
                             ((20000, 1), (0, 1)), ((20000, 1, 1), (0, 1, 2)),
                             ((1, 1, 20000), (2, 1, 0))):
            x = self.integers(*shape).astype("f4").transpose(order)
            n = 2 if 3 in shape else x.ndim
            axes = ("x", "yx", "zyx")[n - 1]
            for k in ((4, 3, 5)[:n], (3, 1, 1)[:n], (1, 1, 3)[-n:],
                      (1, 3, 1)[:n]):
                w = self.integers(*k)
                for border in ("mirror", "wrap"):
                    with self.subTest((shape, k, border)):
                        self.check(x, w, [border] * n, axes=axes,
                                   border=border)
            origin = tuple(range(-1, n - 1))
            w = self.integers(*(3,) * n)
            np.testing.assert_array_equal(
                quiet(x, w, axes=axes, origin=origin),
                quiet(np.ascontiguousarray(x), w, axes=axes, origin=origin))
        from ndconv import _layouts
        patch = unittest.mock.patch.object(_layouts, "LONG", 1 << 14)
        patch.start()
        self.addCleanup(patch.stop)
        for n in (16384, 20000, 4096 * 7, 4096 * 7 + 1, 4096 * 7 + 3):
            x = self.integers(n).astype("f4")
            for k in (1, 2, 5, 60):
                w = self.integers(k)
                for border in (*PAD, "wrap"):
                    self.check(x, w, [border], 3.0, border=border,
                               border_value=3.0)
            # An origin, integers of all kinds, a text, and double precision.
            for origin in (-2, 0, 2):
                found = quiet(x, w[:5], origin=origin)
                np.testing.assert_array_equal(
                    found[10:-10],
                    np.roll(quiet(x, w[:5]), -origin)[10:-10])
            for kind in ("i2", "i8", "c8"):
                self.check(x.astype(kind), w, output_type="f8" if kind == "i2"
                           else "same")
            got = quiet(x.astype("f8"), "gaussian-derivative,sigma=2",
                        precision="double")
            np.testing.assert_allclose(got, expected(
                x, ndconv.design("gaussian-derivative,sigma=2", axes="x"),
                ["nearest"]), atol=1e-11)

    def test_empty(self):
        for shape in ((0,), (4, 0), (0, 4, 5), (3, 0, 4, 5)):
            w = np.ones((3,) * min(len(shape), 2))
            for kind in ("f4", "u1", "i8", "?", "c8"):
                got = ndconv.convolve(np.empty(shape, kind), w,
                                      axes="x" if len(shape) == 1 else "yx")
                self.assertEqual((got.shape, got.dtype),
                                 (shape, np.dtype(kind)))
        self.assertEqual(ndconv.convolve(np.empty((0, 3), "f4"),
                                         np.ones((2, 3, 3))).shape, (2, 0, 3))

    def test_saturation(self):
        """A warning, once, with the share."""
        x = np.zeros((10, 10), "u2")
        x[:3] = 1
        w = np.array([[-1.5]])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                ndconv.convolve(x, w)
        self.assertEqual([c.category for c in caught],
                         [ndconv.SaturationWarning])
        self.assertIn("30 % of the outputs do not fit in uint16",
                      str(caught[0].message))
        self.assertEqual(caught[0].filename, __file__)
        for kind in ("i1", "u1", "i2", "u4", "i4", "i8"):
            with self.assertWarns(ndconv.SaturationWarning):
                limits = np.iinfo(kind)
                ndconv.convolve(np.full((3, 3), limits.max // 2 ** (
                    20 if kind == "i8" else 0), kind),
                    np.array([[2.5 * 2.0 ** (20 if kind == "i8" else 0)]]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ndconv.convolve(x, w, output_type="float32")

    def test_spacing(self):
        """Sizes in samples on spacing that differs."""
        with self.assertWarnsRegex(UserWarning, "sizes are in samples"):
            ndconv.design("log,sigma=1.25", spacing=(1.0, 0.3, 0.3))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ndconv.design("log,sigma=1.25mm", spacing=(1.0, 0.3, 0.3))


def find_memory(name):
    """Bytes of this process: VmRSS now, VmHWM at most."""
    with open("/proc/self/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith(name))
    return int(line.split()[1]) << 10


class Memory(unittest.TestCase):
    """Few taps need no copy of an array, whatever its shape."""

    def test_shapes(self):
        with open("/proc/self/maps", encoding="ascii") as file:
            maps = file.read()
        if "libasan" in maps or "libtsan" in maps:
            self.skipTest("a sanitizer keeps memory that is free")
        for shape, size, kind in (((400000, 3, 3), (3, 1, 1), "f4"),
                                  ((150, 160, 170), (3, 3, 3), "f4"),
                                  ((150, 160, 170), (3, 3, 3), "u1"),
                                  ((4000000,), (9,), "f4"),
                                  ((4000000, 1), (9, 1), "f4")):
            x = np.ones(shape, kind)
            w = np.random.default_rng(SEED).random(size)
            w /= w.sum()
            before = find_memory("VmRSS")
            try:
                with open("/proc/self/clear_refs", "w",
                          encoding="ascii") as file:
                    file.write("5")
            except OSError:
                self.skipTest("the most memory of a process cannot be reset")
            out = ndconv.convolve(x, w, backend="cpu", n_threads=1)
            more = find_memory("VmHWM") - before - out.nbytes
            self.assertLess(more, 8 << 20, (shape, size, kind))


if __name__ == "__main__":
    print("NumPy", np.__version__, "library", ndconv.__version__, "seed", SEED)
    unittest.main(verbosity=1)
