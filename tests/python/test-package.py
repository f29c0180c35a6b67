# The Python package: arrays of several libraries and layouts without copies,
# streams, filters, threads, errors, and the examples of the docstrings.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import concurrent.futures
import ctypes
import doctest
import importlib
import inspect
import sys
import threading
import time
import unittest
import unittest.mock
import weakref

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv
from ndconv import _arrays, _convolve, _library

try:
    import torch
except ImportError:
    torch = None


def reference(x, w, axes="tzyx", **settings):
    """By plain loops in double precision, of a copy in C order."""
    return ndconv.convolve(np.ascontiguousarray(x), w, axes=axes,
                           method="reference", **settings)


class Exchange:
    """An array that is known by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Copies(Exchange):
    """An array that exports a copy, which lives as long as its capsule."""
    copy = None

    def __dlpack__(self, **arguments):
        copy = self.array.copy()
        self.copy = weakref.ref(copy)
        return copy.__dlpack__(**arguments)


class Device:
    """An array that only says that it is in read-only memory of a GPU."""
    __cuda_array_interface__ = {"data": (0, True), "shape": (3, 4),
                                "typestr": "<f4", "version": 3}


class Interface:
    """An array that is known by the array interface alone."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Arrays(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)
        self.x = self.rng.integers(0, 50, (4, 5, 6, 7)).astype("f4")
        self.w = self.rng.integers(-3, 4, (2, 3, 1, 4))

    def test_layouts(self):
        expected = reference(self.x, self.w)
        wide = np.zeros((4, 5, 6, 16), "f4")
        wide[..., 3:10] = self.x
        for name, x in (("C", self.x), ("Fortran", np.asfortranarray(self.x)),
                        ("padded", wide[..., 3:10]),
                        ("backwards", self.x[::-1, :, ::-1, ::-1].copy()
                         [::-1, :, ::-1, ::-1]),
                        ("every second", np.repeat(self.x, 2, -1)[..., ::2]),
                        ("other order", self.x.transpose(2, 0, 3, 1).copy()
                         .transpose(1, 3, 0, 2))):
            with self.subTest(name):
                np.testing.assert_array_equal(x, self.x)
                np.testing.assert_array_equal(
                    ndconv.convolve(x, self.w, method="direct"), expected)
                out = np.zeros_like(x)     # the layout of x, if dense
                strided = np.zeros((4, 5, 6, 14), "f4")[..., ::-2]
                for target in (out, strided, np.asfortranarray(out)):
                    got = ndconv.convolve(x, self.w, out=target,
                                          method="direct")
                    self.assertIs(got, target)
                    np.testing.assert_array_equal(got, expected)

    def test_read_only_and_broadcast(self):
        x = self.x.copy()
        x.flags.writeable = False
        ndconv.convolve(x, self.w)
        x = np.broadcast_to(self.x[:, :, :1], self.x.shape)
        np.testing.assert_array_equal(
            ndconv.convolve(x, self.w, method="direct"), reference(x, self.w))

    def test_not_aligned(self):
        raw = np.zeros(self.x.nbytes + 1, "u1")
        x = raw[1:].view("f4").reshape(self.x.shape)
        x[:] = self.x
        np.testing.assert_array_equal(
            ndconv.convolve(x, self.w, method="direct"),
            reference(self.x, self.w))
        with self.assertRaisesRegex(ValueError, "not aligned"):
            ndconv.convolve(self.x, self.w, out=x)

    def test_in_place(self):
        expected = ndconv.convolve(self.x, self.w)
        x = self.x.copy()
        self.assertIs(ndconv.convolve(x, self.w, out=x), x)
        np.testing.assert_array_equal(x, expected)

    def test_no_copies(self):
        """The library gets the pointers and strides of the arrays."""
        seen = []
        run = _convolve._run

        def spy(prepared, source, target, *more):
            seen.append((source.data, target.data, source.strides[0]))
            return run(prepared, source, target, *more)
        _convolve._run = spy
        known, _convolve.find = _convolve.find, lambda _key: None
        try:
            x, out = self.x[:, :, :, ::-1], np.empty_like(self.x)
            ndconv.convolve(x, self.w, out=out)
            self.assertEqual(seen.pop(), (x.ctypes.data, out.ctypes.data, -4))
            got = ndconv.convolve(self.x, self.w)
            self.assertEqual(seen.pop(),
                             (self.x.ctypes.data, got.ctypes.data, 4))
            for wrapper in (Exchange, Interface):
                ndconv.convolve(wrapper(self.x), self.w)
                self.assertEqual(seen.pop()[0], self.x.ctypes.data)
            if torch:
                tensor, out = torch.rand(4, 5, 6, 7), torch.empty(4, 5, 6, 7)
                ndconv.convolve(tensor, self.w, out=out)
                self.assertEqual(seen.pop()[:2],
                                 (tensor.data_ptr(), out.data_ptr()))
                got = ndconv.convolve(tensor, self.w, method="direct")
                self.assertEqual(seen.pop()[:2],
                                 (tensor.data_ptr(), got.data_ptr()))
                self.assertIsInstance(got, torch.Tensor)
                np.testing.assert_allclose(
                    got.numpy(), reference(tensor.numpy(), self.w), atol=1e-3)
            else:
                print("not tested: PyTorch, which is not installed")
        finally:
            _convolve._run = run
            _convolve.find = known

    def test_exchanged_memory(self):
        """An exported copy lives as long as the library uses it."""
        array = Copies(self.x)
        memory = _arrays.view(array, "array")
        self.assertIsNotNone(array.copy())
        del memory
        self.assertIsNone(array.copy())
        raw = np.zeros(self.x.nbytes + 1, "u1")
        x = raw[1:].view("f4").reshape(self.x.shape)
        x[:] = self.x
        np.testing.assert_array_equal(
            ndconv.convolve(Exchange(x), self.w, method="direct"),
            reference(self.x, self.w))

    def test_exchanged_outputs(self):
        out = np.zeros_like(self.x)
        ndconv.convolve(self.x, self.w, method="direct", out=Exchange(out))
        np.testing.assert_array_equal(out, reference(self.x, self.w))
        raw = np.zeros(self.x.nbytes + 1, "u1")
        with self.assertRaisesRegex(ValueError, "not aligned"):
            ndconv.convolve(self.x, self.w, out=Exchange(
                raw[1:].view("f4").reshape(self.x.shape)))
        out.flags.writeable = False
        out_of_old = "read-?only"       # NumPy before 2.1 exports none
        with self.assertRaisesRegex((ValueError, TypeError), out_of_old):
            ndconv.convolve(self.x, self.w, out=Exchange(out))
        with self.assertRaisesRegex(ValueError, "read-only"):
            ndconv.convolve(self.x, self.w, out=Device())

    def test_shared_outputs(self):
        """Several outputs in one place would overwrite each other."""
        out = np.zeros_like(self.x)
        shared = np.lib.stride_tricks.as_strided(
            out[0], self.x.shape, (0, *out.strides[1:]))
        with self.assertRaisesRegex(ndconv.SettingsError, "in one place"):
            ndconv.convolve(self.x, self.w, out=shared)
        with self.assertRaisesRegex(ndconv.SettingsError, "in one place"):
            ndconv.convolve(self.x, np.ones((3, 3)), axes="yx", out=shared)
        # Rows that overlap the next ones.
        rows = np.lib.stride_tricks.as_strided(
            out, self.x.shape, (*out.strides[:-2], *out.strides[-1:] * 2))
        with self.assertRaisesRegex(ndconv.SettingsError, "in one place"):
            ndconv.convolve(self.x, self.w, out=rows)
        self.assertFalse(out.any())
        # An axis of one sample may have any stride.
        one = np.lib.stride_tricks.as_strided(
            out[0], (1, *self.x.shape[1:]), (0, *out.strides[1:]))
        ndconv.convolve(self.x[:1], self.w, method="direct", out=one)
        np.testing.assert_array_equal(one, reference(self.x[:1], self.w))

    def test_torch_stream(self):
        if not torch:
            self.skipTest("PyTorch is not installed")
        volumes = torch.rand(4, 5, 6, 7)
        stream = ndconv.Stream(self.w, (5, 6, 7), "float32", method="direct")
        got = torch.stack(list(stream.filter(volumes)))
        np.testing.assert_array_equal(
            got.numpy(), ndconv.convolve(volumes.numpy(), self.w,
                                         method="direct"))

    def test_batches(self):
        x = self.rng.integers(0, 50, (2, 3, 4, 6, 7)).astype("f4")
        w = self.rng.integers(-3, 4, (3, 4))
        got = ndconv.convolve(x, w, axes="yx", method="direct")
        for i in np.ndindex(2, 3, 4):
            np.testing.assert_array_equal(got[i], reference(x[i], w, "yx"))
        got = ndconv.convolve(x[0, 0], w, axes="yx", method="direct")
        np.testing.assert_array_equal(got[2], reference(x[0, 0, 2], w, "yx"))
        bank = np.stack([w, 2 * w])
        got = ndconv.convolve(x, bank, axes="yx", method="direct")
        self.assertEqual(got.shape, (2,) + x.shape)
        np.testing.assert_array_equal(got[1], 2 * got[0])

    def test_components(self):
        x = self.rng.integers(0, 99, (6, 7, 3)).astype("u1")
        w = np.ones((3, 3))
        got = ndconv.convolve(x, w, axes="yxc", gain=0.1)
        first = ndconv.convolve(x.transpose(2, 0, 1), w, axes="cyx", gain=0.1)
        np.testing.assert_array_equal(got, first.transpose(1, 2, 0))
        for c in range(3):
            np.testing.assert_array_equal(
                got[..., c], ndconv.convolve(x[..., c], w, gain=0.1))

    def test_complex(self):
        x = self.rng.integers(0, 50, (6, 7)).astype("f4")
        w = self.rng.integers(-3, 4, (3, 3)) + 1j * self.rng.integers(
            -3, 4, (3, 3))
        got = ndconv.convolve(x, w, method="direct")
        self.assertEqual(got.dtype, "complex64")
        np.testing.assert_array_equal(got.real, reference(x, w.real, "yx"))
        np.testing.assert_array_equal(got.imag, reference(x, w.imag, "yx"))
        # uint8 cannot hold a complex response; its magnitude it can.
        self.assertEqual(ndconv.convolve(x.astype("u1"), w).dtype, "complex64")
        self.assertEqual(ndconv.convolve(x.astype("u1"), w,
                                         response="magnitude").dtype, "u1")
        z = (x + 1j * x[::-1]).astype("c8")
        got = ndconv.convolve(z, w.real, method="direct")
        np.testing.assert_array_equal(got.imag,
                                      reference(x[::-1], w.real, "yx"))
        energy = ndconv.convolve(x, np.stack([w, w]), response="energy")
        self.assertEqual(energy.shape, (2, 6, 7))

    def test_tensor(self):
        x = self.rng.normal(size=(9, 9, 9)).astype("f4")
        got = ndconv.convolve(x, "monomial-bank,size=5", response="tensor")
        self.assertEqual(got.shape, (9, 9, 9, 6))
        got = ndconv.convolve(x, "monomial-bank,size=5", response="max")
        self.assertEqual(got.shape, (9, 9, 9))

    def test_empty(self):
        x = np.empty((0, 4, 5), "f4")
        self.assertEqual(ndconv.convolve(x, "box,size=3", axes="tyx").shape,
                         (0, 4, 5))

    def test_threads(self):
        """Calls from several threads of Python, which share the filter."""
        xs = [self.rng.normal(size=(8, 20, 20)).astype("f4") for _ in range(16)]
        expected = [ndconv.convolve(x, "gaussian,sigma=1") for x in xs]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            got = pool.map(lambda x: ndconv.convolve(x, "gaussian,sigma=1"), xs)
            for one, other in zip(got, expected):
                np.testing.assert_array_equal(one, other)

    def test_lock(self):
        """Python goes on while the library computes."""
        x = self.rng.normal(size=(20, 40, 40)).astype("f4")
        seconds = []

        def filter_it():
            ndconv.convolve(x, np.ones((9, 9, 9)), method="reference",
                            n_threads=1)
            seconds.append(time.thread_time())
        thread = threading.Thread(target=filter_it)
        begin = time.thread_time()
        thread.start()
        while thread.is_alive():
            pass
        # As seconds of the processor, which others may use too.
        self.assertGreater(time.thread_time() - begin, seconds[0] / 4)

    def test_progress(self):
        seen = []
        x = np.zeros((5, 4, 4), "f4")
        ndconv.convolve(x, "box,size=3", axes="tyx",
                        progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen, [(i + 1, 5) for i in range(5)])

        # Batches count together.
        seen.clear()
        ndconv.convolve(np.zeros((3, 2, 4, 4), "f4"), "box,size=3", axes="yx",
                        progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen, [(i + 1, 3) for i in range(3)])

        def stop(done, _total):
            if done == 2:
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            ndconv.convolve(x, "box,size=3", axes="tyx", progress=stop)


class Streams(unittest.TestCase):
    def test_stream(self):
        rng = np.random.default_rng(7)
        x = rng.integers(0, 9, (12, 5, 6, 7)).astype("u1")
        w = rng.integers(-3, 4, (5, 3, 3, 3))
        for border in ("constant", "nearest", "reflect", "mirror"):
            stream = ndconv.Stream(w, x.shape[1:], x.dtype, method="direct",
                                   output_type="float32", time_border=border)
            whole = ndconv.convolve(x, w, method="direct", time_border=border,
                                    output_type="float32")
            for _ in range(2):
                got = list(stream.filter(x))
                np.testing.assert_array_equal(np.stack(got), whole)
            self.assertEqual((stream.pushed, stream.taken), (24, 24))
        self.assertEqual(stream.backend, "cpu")
        self.assertEqual(stream.method, "direct")
        self.assertEqual(stream.reason, "requested")
        self.assertGreater(stream.estimate, 0)
        self.assertGreater(stream.nbytes, x.nbytes // 12)

    def test_delay_and_flush(self):
        stream = ndconv.Stream(np.ones((5, 1, 1)), (3, 4), "uint8",
                               time_border="nearest")
        self.assertEqual(stream.delay, 2)
        one = np.full((3, 4), 100, "u1")
        self.assertEqual([len(stream.push(one)) for _ in range(4)],
                         [0, 0, 1, 1])
        stream.flush()
        self.assertEqual(stream.end(), [])
        stream.push(one)
        self.assertEqual(stream.end()[0][0, 0], 255)
        self.assertGreater(stream.saturated, 0)
        causal = ndconv.Stream("box,size=3", (3, 4), "f4", causal=True)
        self.assertEqual(causal.delay, 0)


    def test_abandoned(self):
        """A stream of which not all outputs were taken begins anew."""
        x = np.random.default_rng(8).normal(size=(6, 4, 5)).astype("f4")
        stream = ndconv.Stream("box,size=3", (4, 5), "f4", time_border="mirror")
        for _ in stream.filter(x):
            break
        np.testing.assert_array_equal(
            np.stack(list(stream.filter(x))),
            ndconv.convolve(x, "box,size=3", axes="tyx", time_border="mirror"))

    def test_threads(self):
        """Threads that share a stream take turns."""
        stream = ndconv.Stream("box,size=5", (40, 50, 60), "f4", causal=True)
        one = np.ones((40, 50, 60), "f4")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            counts = pool.map(lambda _: len(stream.push(one)), range(80))
            self.assertEqual(sum(counts), 80)
        self.assertEqual((stream.pushed, stream.taken), (80, 80))


class Estimates(unittest.TestCase):
    """Numbers are those of this machine, so that only their relations are
    known."""

    def test_rows(self):
        for what in ("box,size=3:3:3:5", np.ones((3, 3, 3, 3)) / 81,
                     "nddenoise,latency=2"):
            rows = ndconv.estimate(what, (6, 20, 24), "uint8", seconds=5,
                                   rate=1e-3)
            self.assertEqual([row.backend for row in rows], ndconv.backends())
            for row in rows:
                self.assertTrue(0 < row.seconds <= row.slowest)
                self.assertGreater(row.bytes, 2 * 6 * 20 * 24)
                self.assertEqual(row.latency, row.delay / 1e-3 + row.seconds)
                self.assertTrue(row.live)
        self.assertEqual(rows[0].delay, 2)
        row, = ndconv.estimate("box,size=3", (20, 24), "float64", seconds=5,
                               backend="cpu", precision="double", rate=1e9)
        self.assertFalse(row.live)
        row, = ndconv.estimate("box,size=3", (20, 24), "int16", backend="cpu",
                               seconds=1e-9)
        self.assertEqual((row.latency, row.live), (None, None))

    def test_some_refuse(self):
        """The back ends that work are shown, with the sentence of the other."""
        with unittest.mock.patch("ndconv._estimate.backends",
                                 lambda: ["none", "cpu"]):
            with self.assertWarnsRegex(RuntimeWarning, "^none: .*none"):
                row, = ndconv.estimate("box,size=3", (20, 24), "uint8",
                                       seconds=1e-9)
        self.assertEqual(row.backend, "cpu")

    def test_refused(self):
        for error, words, arguments in (
                (ndconv.SettingsError, "3 numbers", ("box", (4, 5), "uint8", {
                    "axes": "tzyx"})),
                (ndconv.SettingsError, "above 0", ("box", (4, 5), "uint8", {
                    "seconds": 0})),
                (ndconv.SettingsError, "above 0", ("box", (4, 5), "uint8", {
                    "rate": -1})),
                (ndconv.SettingsError, "backend", ("box", (4, 5), "uint8", {
                    "backend": "gpu"})),
                (ndconv.SettingsError, "speed", (
                    "nddenoise,speed=3", (4, 5), "uint8", {})),
                (TypeError, "int64", ("box", (4, 5), "int64", {})),
                (ndconv.OutOfMemoryError, "memory", (
                    "box,size=3", (2 ** 24, 2 ** 24), "uint8", {}))):
            what, shape, dtype, settings = arguments
            with self.assertRaisesRegex(error, words):
                ndconv.estimate(what, shape, dtype, **settings)


class Filters(unittest.TestCase):
    def test_design(self):
        w = ndconv.design("gaussian,sigma=1", axes="zyx")
        self.assertEqual((w.shape, w.dtype), ((9, 9, 9), np.dtype("f8")))
        # Sizes in a text are x, y, z, t; arrays are t, z, y, x.
        self.assertEqual(ndconv.design("box,size=1:2:3:4", axes="tzyx").shape,
                         (4, 3, 2, 1))
        w = ndconv.design("gabor,center-frequency=1.0,size=7; box,size=3",
                          axes="yx")
        self.assertEqual([v.dtype.kind for v in w], ["c", "c"])
        self.assertEqual([v.shape for v in w], [(7, 7), (3, 3)])
        x = np.random.default_rng(1).normal(size=(20, 20)).astype("f4")
        np.testing.assert_allclose(
            ndconv.convolve(x, ndconv.design("log,sigma=1.5", axes="yx")),
            ndconv.convolve(x, "log,sigma=1.5"), atol=1e-5)

    def test_units(self):
        text = "gaussian,sigma=1mm"
        # Half the step along x: twice as many samples.
        shape = ndconv.design(text, axes="zyx", spacing=(1.0, 1.0, 0.5)).shape
        self.assertEqual(shape, (9, 9, 17))
        self.assertIn("mm", ndconv.describe(text, axes="zyx",
                                            spacing=(1.0, 1.0, 0.5)))

    def test_files_are_read_again(self):
        import os
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.npy")
            for value in (1, 2):
                np.save(path, np.full((1, 1), value, "f8"))
                w = ndconv.design(f"file,location={path}", axes="yx")
                self.assertEqual(w[0, 0], value)


class Errors(unittest.TestCase):
    def setUp(self):
        self.x = np.zeros((4, 5, 6), "f4")

    def refuse(self, error, sentence, *arguments, **settings):
        arguments = arguments or (self.x, "box,size=3")
        with self.assertRaisesRegex(error, sentence):
            ndconv.convolve(*arguments, **settings)

    def test_arrays(self):
        self.refuse(TypeError, "float64; filters take .* convert",
                    self.x.astype("f8"), "box,size=3")
        for kind in ("c16", "U3", "O", "M8[s]", "g"):
            with self.subTest(kind):
                self.refuse(TypeError, "filters take",
                            np.zeros((4, 5), kind), "box,size=3")
        self.refuse(TypeError, "float64", [[1.0, 2.0]], "box,size=3")
        self.refuse(ndconv.SettingsError, "has 0 axes", np.zeros((), "f4"),
                    "box,size=3")
        self.refuse(ndconv.SettingsError, "has 5 axes",
                    np.zeros((1,) * 5, "f4"), "box,size=3")
        self.refuse(ndconv.SettingsError, "beyond 2\\^53",
                    np.array([2 ** 53 + 1]), np.ones(1))
        self.refuse(ndconv.SettingsError, "border_value is complex",
                    self.x, "box,size=3", border="constant", border_value=1j)
        self.refuse(ndconv.SettingsError, "only response='all'",
                    self.x.astype("c8"), np.full((1, 1, 1), 1j),
                    response="magnitude")
        self.refuse(ndconv.SettingsError, "of the type int64",
                    np.ones((3, 3), "i8"), np.ones((1, 1)),
                    out=np.ones((3, 3), "f4"))

    def test_filters(self):
        x = self.x
        self.refuse(ndconv.SettingsError, "bx", x, "bx,size=3")
        self.refuse(ndconv.SettingsError, "has 1 axes; it needs 3", x,
                    np.ones(3))
        self.refuse(ndconv.SettingsError, "has 5 axes", x, np.ones((1,) * 5))
        self.refuse(ndconv.SettingsError, "1 or more", x, np.ones((3, 0, 3)))
        self.refuse(ndconv.SettingsError, "finite", x,
                    np.full((1, 1, 1), np.nan))
        self.refuse(ndconv.SettingsError, "must have numbers", x,
                    np.full((1, 1, 1), "a"))
        self.refuse(ndconv.FileError, "nowhere", x,
                    "file,location=/nowhere.npy")

    def test_settings(self):
        error = ndconv.SettingsError
        self.refuse(error, "border is 'zero'", border="zero")
        self.refuse(error, "method is 'best'", method="best")
        self.refuse(error, "output-type is 'str", output_type="U3")
        self.refuse(error, "border has 2 names", border=("wrap", "mirror"))
        self.refuse(error, "axes is 'xyz'", axes="xyz")
        self.refuse(error, "axes is 'tzyx'", axes="tzyx")
        self.refuse(error, "origin has 2 numbers", origin=(1, 1))
        self.refuse(error, "origin", origin=5)
        self.refuse(error, "border-value", border_value="much")
        self.refuse(error, "not separable", self.x,
                    np.arange(27).reshape(3, 3, 3) ** 2, method="separable")
        self.refuse(TypeError, "no parameter bordr", bordr="wrap")
        self.refuse(ndconv.BackendError, "cuda", backend="cuda")
        self.refuse(ndconv.FormatError, "complex",
                    self.x, np.full((1, 1), 1j), axes="yxc")

    def test_out(self):
        error = ndconv.SettingsError
        self.refuse(error, r"shape \(4, 5, 7\)", out=np.zeros((4, 5, 7), "f4"))
        self.refuse(error, "out is uint8", out=np.zeros((4, 5, 6), "u1"))
        out = np.zeros((4, 5, 6), "f4")
        out.flags.writeable = False
        self.refuse(ValueError, "read-only", out=out)
        self.refuse(TypeError, "no array", out=[1])
        self.refuse(error, "overlaps", self.x[:2], "box,size=3",
                    out=self.x[1:3])
        self.refuse(error, "overlaps", axes="tyx", time_border="wrap",
                    out=self.x)

    def test_streams(self):
        error = ndconv.SettingsError
        with self.assertRaisesRegex(error, "time-border=wrap"):
            ndconv.Stream("box,size=3", (4, 5), "f4", time_border="wrap")
        with self.assertRaisesRegex(error, "shape of a volume"):
            ndconv.Stream("box,size=3", (4, 5), "f4", axes="tzyx")
        with self.assertRaisesRegex(TypeError, "float64"):
            ndconv.Stream("box,size=3", (4, 5), "f8")
        stream = ndconv.Stream("box,size=3", (4, 5), "f4")
        with self.assertRaisesRegex(error, r"shape \(5, 4\)"):
            stream.push(np.zeros((5, 4), "f4"))
        with self.assertRaisesRegex(error, "uint8"):
            stream.push(np.zeros((4, 5), "u1"))

    def test_blocks(self):
        with self.assertRaisesRegex(ndconv.SettingsError, "one number for each"):
            ndconv.plan_blocks("box,size=3", (4, 5), (2,))
        with self.assertRaisesRegex(ndconv.SettingsError, "1 or more"):
            ndconv.plan_blocks("box,size=3", (4, 5), (2, 0))
        with self.assertRaises(ndconv.BackendError):
            ndconv.devices("tpu")

    def test_other_domains(self):
        """An error of GLib, of which the numbers mean other things."""
        with self.assertRaisesRegex(ndconv.Error, "Invalid byte") as caught:
            _library._raise(glib_error())
        self.assertIs(type(caught.exception), ndconv.Error)

    def test_order(self):
        """All are ndconv.Error, and what Python calls them."""
        self.assertTrue(issubclass(ndconv.SettingsError, ValueError))
        self.assertTrue(issubclass(ndconv.OutOfMemoryError, MemoryError))
        self.assertTrue(issubclass(ndconv.FileError, OSError))
        self.assertTrue(issubclass(ndconv.SettingsError, ndconv.Error))


class Documentation(unittest.TestCase):
    def public(self):
        """Names and functions of the package and of its classes."""
        for name in ndconv.__all__:
            found = getattr(ndconv, name)
            if not isinstance(found, type):
                yield name, found
            elif not issubclass(found, (tuple, BaseException)):
                yield name, found.__init__
                for member, method in vars(found).items():
                    if inspect.isfunction(method) and member[0] != "_":
                        yield f"{name}.{member}", method

    def test_annotations(self):
        for name, function in self.public():
            signature = inspect.signature(function)
            for parameter in signature.parameters.values():
                if parameter.name != "self":
                    self.assertIsNot(parameter.annotation, parameter.empty,
                                     (name, parameter))
            if not name[0].isupper() or "." in name:
                self.assertIsNot(signature.return_annotation, signature.empty,
                                 name)

    def test_docstrings(self):
        """Each has one; those of functions and classes name all parameters, and
        have an example."""
        for name, function in self.public():
            self.assertTrue(function.__doc__ or "." not in name, name)
            if "." in name:
                continue
            text = getattr(ndconv, name).__doc__
            names = list(inspect.signature(function).parameters)
            for parameter in names:
                if parameter != "self":
                    self.assertRegex(text, rf"\b{parameter}\b.* : |"
                                     rf"\*\*{parameter}\b", name)
            if set(names) - {"self"}:
                self.assertIn("Parameters\n", text, name)
            self.assertIn("Examples\n", text, name)


def glib_error():
    """A GError of GLib: bytes that are no UTF-8."""
    error = ctypes.POINTER(_library._GError)()
    convert = _library._glib.g_convert
    convert.restype = ctypes.c_void_p
    convert(b"\xff", ctypes.c_ssize_t(1), b"UTF-16", b"UTF-8", None, None,
            ctypes.byref(error))
    error.contents.message      # is there
    return error


def load_tests(_loader, tests, _pattern):
    for name in ("_archive", "_blocks", "_calls", "_convolve", "_estimate",
                 "_filters", "_recordings", "_stream"):
        module = importlib.import_module("ndconv." + name)
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    print("NumPy", np.__version__, "torch", torch and torch.__version__,
          "library", ndconv.__version__, "arrays", len(_arrays.TYPES))
    unittest.main(verbosity=1)
