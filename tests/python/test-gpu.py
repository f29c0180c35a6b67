# The Python package with the CUDA back end: arrays of the host, memory of the
# device by its address, and arrays of CuPy and PyTorch if they are installed.
# Skipped (77) without a driver.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import ctypes
import os
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
if not os.path.exists("/dev/nvidiactl"):
    print("skipped: no driver")
    sys.exit(77)

import ndconv
from ndconv import _convolve, _library as lib
from ndconv._arrays import view
from ndconv._filters import prepare


def find(name):
    try:
        return __import__(name)
    except ImportError:
        return None


cupy, torch = find("cupy"), find("torch")
rng = np.random.default_rng(11)
X = rng.integers(0, 50, (6, 9, 20, 33)).astype("f4")
W = rng.integers(-3, 4, (3, 2, 5, 4))
EXPECTED = ndconv.convolve(X, W, backend="cpu", method="reference")
# Thirds have more digits than float32.
THIRDS = X.astype("f8") / 3
DOUBLE = ndconv.convolve(THIRDS, W, backend="cpu", method="reference",
                         precision="double")


class Device:
    """Memory of the GPU, by the CUDA runtime."""

    def __init__(self, array):
        self.runtime = ctypes.CDLL("libcudart.so")
        self.bytes = array.nbytes
        pointer = ctypes.c_void_p()
        self.call("cudaMalloc", ctypes.byref(pointer),
                  ctypes.c_size_t(self.bytes))
        self.pointer = pointer.value
        self.copy(self.pointer, array.ctypes.data)

    def call(self, name, *arguments):
        status = getattr(self.runtime, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: {status}")

    def copy(self, to, source):
        self.call("cudaMemcpy", ctypes.c_void_p(to), ctypes.c_void_p(source),
                  ctypes.c_size_t(self.bytes), 4)    # cudaMemcpyDefault

    def get(self, like):
        array = np.empty_like(like)
        self.copy(array.ctypes.data, self.pointer)
        return array


class Gpu(unittest.TestCase):
    def test_names(self):
        self.assertEqual(ndconv.backends()[0], "cuda")
        print(ndconv.devices())
        self.assertGreater(len(ndconv.devices()), 0)

    def test_host(self):
        for x in (X, np.asfortranarray(X), X.astype("u1"), X.astype("i4")):
            got = ndconv.convolve(x, W, backend="cuda", method="direct",
                                  output_type="float32")
            np.testing.assert_array_equal(got, EXPECTED)
        stream = ndconv.Stream(W, X.shape[1:], X.dtype, backend="cuda",
                               method="direct")
        self.assertEqual(stream.backend, "cuda")
        np.testing.assert_array_equal(np.stack(list(stream.filter(X))),
                                      EXPECTED)

    def test_device_memory(self):
        try:
            source, target = Device(X), Device(np.zeros_like(X))
        except OSError as error:
            self.skipTest(str(error))
        prepared = prepare(W, "tzyx", {"backend": "cuda", "method": "direct"})
        arrays = [_convolve.to_array(view(X, "")._replace(
            pointer=memory.pointer, device=0), "tzyx", 0)
                  for memory in (source, target)]
        lib.nd_convolve(prepared.filters, prepared.settings, *arrays, None)
        np.testing.assert_array_equal(target.get(X), EXPECTED)
        # In place.
        lib.nd_convolve(prepared.filters, prepared.settings, arrays[0],
                        arrays[0], None)
        np.testing.assert_array_equal(source.get(X), EXPECTED)
        # The CPU cannot read it, and backwards needs a copy.
        on_cpu = prepare(W, "tzyx", {"backend": "cpu"})
        with self.assertRaisesRegex(ndconv.SettingsError, "memory of a GPU"):
            lib.nd_convolve(on_cpu.filters, on_cpu.settings, *arrays, None)
        arrays[0].strides[0] *= 2
        arrays[0].size[0] //= 2
        arrays[1].size[0] //= 2
        with self.assertRaisesRegex(ndconv.SettingsError, "dense rows"):
            lib.nd_convolve(prepared.filters, prepared.settings, *arrays, None)

    def check_library(self, array, to_numpy):
        got = ndconv.convolve(array, W, method="direct")
        self.assertIs(type(got), type(array))
        np.testing.assert_array_equal(to_numpy(got), EXPECTED)
        # Work that was not waited for.
        got = ndconv.convolve(array * 2, W, method="direct")
        np.testing.assert_array_equal(to_numpy(got), 2 * EXPECTED)
        stream = ndconv.Stream(W, X.shape[1:], "f4", backend="cuda",
                               method="direct")
        got = list(stream.filter(array))
        np.testing.assert_array_equal(np.stack([to_numpy(v) for v in got]),
                                      EXPECTED)

        # The same in double precision, and of complex numbers.
        thirds = (array.astype("f8") if hasattr(array, "astype")
                  else array.double()) / 3
        for method, bound in (("direct", 1e-14), ("fft", 1e-13)):
            got = ndconv.convolve(thirds, W, method=method, precision="double")
            self.assertIs(type(got), type(array))
            self.check_double(to_numpy(got), DOUBLE, bound)
            got = ndconv.convolve(thirds * (1 + 2j), W, method=method,
                                  precision="double")
            self.check_double(to_numpy(got), DOUBLE * (1 + 2j), bound)

    def check_double(self, got, want, bound):
        self.assertIs(got.dtype, want.dtype)
        error = np.linalg.norm((got - want).ravel())
        self.assertLessEqual(error, bound * np.linalg.norm(want.ravel()))

    def test_host_double(self):
        for method, bound in (("direct", 1e-14), ("fft", 1e-13)):
            got = ndconv.convolve(THIRDS, W, backend="cuda", method=method,
                                  precision="double")
            self.check_double(got, DOUBLE, bound)

    @unittest.skipUnless(cupy, "no CuPy")
    def test_cupy(self):
        self.check_library(cupy.asarray(X), cupy.asnumpy)

    @unittest.skipUnless(torch and torch.cuda.is_available(), "no PyTorch")
    def test_torch(self):
        self.check_library(torch.from_numpy(X).cuda(),
                           lambda t: t.cpu().numpy())


if __name__ == "__main__":
    unittest.main(verbosity=2)
