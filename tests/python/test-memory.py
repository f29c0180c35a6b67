# The memory of a worker of an archive run, and blocks in memory that are filtered
# in pieces. Needs zarr 3.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import numpy as np
    import zarr
    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(f"zarr {zarr.__version__} is too old")
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv
from ndconv import _jobs, _pieces, _planning, _types

SEED = 21
MIB = 1 << 20
W = "gaussian,sigma=1,size=9"


def make_samples(shape, dtype):
    x = np.random.default_rng(SEED).random(shape, "f4") * 200
    return (x - 100 if np.dtype(dtype).kind in "fc" else x).astype(dtype)


def make_array(path, x, chunks):
    """A Zarr array, or a recording of which the first axis counts volumes."""
    if str(path).endswith(".zarr"):
        zarr.create_array(str(path), shape=x.shape, chunks=chunks,
                          dtype=x.dtype)[...] = x
        return
    with ndconv.RecordingWriter(path, x.shape[1:], x.dtype) as writer:
        for volume in x:
            writer.write(volume)


def measure(folder, case):
    """Prints the bytes that the second of two tasks needs, and those of its
    block. The first one, which is small, loads what is needed once."""
    def read(name):
        with open("/proc/self/status", encoding="ascii") as file:
            line = next(line for line in file if line.startswith(name))
        return int(line.split()[1]) << 10
    _jobs.prepare_memory()
    options = _planning.Options(case["filter"], case["settings"], case["axes"])
    for name in ("small", "large"):
        path = next(folder.glob(name + ".*"))
        job = options.make_job(str(path), str(folder / f"out-{name}{case['output']}"))
        job.begin()
        tasks = job.tasks()
        task = tasks[len(tasks) // 2]
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")     # the peak begins here
        idle = read("VmRSS")
        task.do(case["threads"])
    shape, dtype = job.source.shape, job.source.dtype
    whole = [slice(0, n) for n in shape]
    read_, written = (whole, whole) if task.block is None else (
        task.block.source, task.block.target)
    block = sum(math.prod(len(range(*part.indices(n)))
                          for part, n in zip(box, shape)) * one.itemsize
                for box, one in ((read_, dtype),
                                 (written, np.dtype(job.dtype))))
    print(json.dumps([read("VmHWM") - idle, block]))


class Memory(unittest.TestCase):
    def check(self, axes, shape, chunks, dtype="float32", method="auto",
              filter_=W, kind=".zarr", output=None, threads=1, **settings):
        """A worker needs two blocks and what the documentation names."""
        with tempfile.TemporaryDirectory() as folder:
            for name, sizes in (("small", [min(n, 24) for n in shape]),
                                ("large", shape)):
                make_array(pathlib.Path(folder, name + kind),
                           make_samples(sizes, dtype),
                           [min(*pair) for pair in zip(chunks, sizes)])
            done = subprocess.run(
                [sys.executable, __file__, "--measure", folder, json.dumps({
                    "axes": axes, "filter": filter_, "threads": threads,
                    "output": output or kind,
                    "settings": {"method": method, **settings}})],
                stdout=subprocess.PIPE, check=True, timeout=120)
        peak, block = json.loads(done.stdout)
        text = (f"{axes} {dtype} {method} {settings}: {peak / MIB:.1f} MiB for "
                f"a block of {block / MIB:.1f} MiB")
        print(text)
        self.assertGreater(block, 8 * MIB, text)
        self.assertLess(peak, 2 * block + _pieces.MORE_BYTES, text)

    def test_volume(self):
        for method in ("separable", "direct", "fft", "auto"):
            self.check("zyx", (192, 256, 256), (64, 64, 64), method=method)
        self.check("zyx", (192, 256, 256), (64, 64, 64), threads=2)

    def test_types(self):
        for dtype in ("uint8", "int16", "float16", "complex64"):
            self.check("zyx", (192, 256, 256), (64, 64, 64), dtype)
        self.check("zyx", (192, 256, 256), (64, 64, 64), "uint8", "separable",
                   border="wrap")
        self.check("zyx", (192, 256, 256), (64, 64, 64), "int16", "fft",
                   border="mirror")
        self.check("zyx", (128, 256, 256), (64, 64, 64), "float64",
                   precision="double")

    def test_image(self):
        self.check("yx", (4096, 4096), (256, 256), "float32")
        self.check("yx", (4096, 4096), (256, 256), "uint16", "fft")
        self.check("yxc", (2048, 2048, 3), (256, 256, 3), "uint8")

    def test_responses(self):
        bank = "gaussian,sigma=1,size=9;box,size=5;gaussian,sigma=2,size=9"
        for response in ("max", "argmax"):
            self.check("zyx", (192, 256, 256), (64, 64, 64), filter_=bank,
                       response=response)

    def test_large_chunks(self):
        self.check("zyx", (256, 256, 256), (128, 256, 256))
        self.check("zyx", (256, 256, 256), (128, 256, 256), "uint8", threads=2)
        self.check("tzyx", (32, 96, 96, 96), (16, 96, 96, 96), "uint8")

    def test_time(self):
        """A window of spectra in double precision is large."""
        five = "gaussian,sigma=1,size=5"
        self.check("tzyx", (24, 128, 128, 128), (1, 128, 128, 128), "uint8",
                   "fft", five)
        self.check("tzyx", (24, 96, 96, 96), (1, 96, 96, 96), "float32", "auto",
                   five)
        self.check("tzyx", (24, 96, 96, 96), (1, 96, 96, 96), "uint8", "fft",
                   five, time_border="wrap")

    def test_recordings(self):
        self.check("zyx", (1, 128, 256, 256), (), kind=".nii")
        self.check("zyx", (1, 128, 256, 256), (), "uint8", "separable",
                   kind=".nrrd")
        self.check("zyx", (1, 384, 256, 256), (), "float32", "separable",
                   kind=".nii", output=".zarr")
        self.check("tzyx", (16, 64, 128, 128), (), kind=".nii",
                   filter_="gaussian,sigma=1,size=5", time_border="wrap")


class Pieces(unittest.TestCase):
    """Blocks in pieces of few samples equal whole arrays."""

    def setUp(self):
        for name, value in (("MORE_BYTES", _pieces._CHUNK_BYTES),
                            ("_LEAST_SAMPLES", 64), ("_ROUNDED_SAMPLES", 50)):
            patch = unittest.mock.patch.object(_pieces, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def filter(self, x, filter_, axes, dtype=None, inner=None, most=1 << 14,
               **settings):
        """The outputs of filter_block, which @most bytes force into pieces."""
        work = _pieces.Work(filter_, axes, settings, x.dtype,
                            np.dtype(dtype or x.dtype))
        work.prepared.pieces.clear()
        with unittest.mock.patch.object(_pieces.Work, "count_bytes",
                                        lambda *_: most):
            inner = inner or [slice(0, n) for n in x.shape]
            piece = _pieces.find_piece(work, x.shape, _pieces._count(inner))
            self.assertLess(math.prod(piece.size), x.size // 2)
            found = _pieces.filter_block(work, x, inner, piece,
                                         _types.Saturation())
        work.prepared.pieces.clear()
        return found

    def test_equal(self):
        rng = np.random.default_rng(SEED)
        filters = {"yx": rng.random((4, 7)), "zyx": rng.random((5, 4, 7)),
                   "tyx": rng.random((3, 5, 4)),
                   "tzyx": rng.random((3, 2, 5, 4))}
        shapes = {"yx": (70, 61), "zyx": (20, 33, 31), "tyx": (7, 40, 37),
                  "tzyx": (6, 11, 23, 26)}
        origins = {"yx": (1, -3), "zyx": (-2, 1, 3), "tyx": (1, 0, 1),
                   "tzyx": (0, -1, 2, 1)}
        for axes, w in filters.items():
            for border in ("constant", "nearest", "reflect", "mirror", "wrap"):
                for dtype in ("float32", "uint8"):
                    with self.subTest(axes=axes, border=border, dtype=dtype,
                                      seed=SEED):
                        x = make_samples(shapes[axes], dtype)
                        settings = {"border": border, "method": "direct",
                                    "origin": origins[axes], "gain": 0.02}
                        if "t" in axes:
                            settings["time_border"] = border
                        np.testing.assert_array_equal(
                            self.filter(x, w, axes, **settings),
                            ndconv.convolve(x, w, axes=axes, **settings))

    def test_separable(self):
        x = make_samples((20, 33, 31), "float32")
        for border in ("mirror", "wrap"):
            settings = {"border": border, "method": "separable"}
            np.testing.assert_array_equal(
                self.filter(x, "gaussian,sigma=1", "zyx", **settings),
                ndconv.convolve(x, "gaussian,sigma=1", axes="zyx", **settings))

    def test_by_fft(self):
        x = make_samples((20, 33, 31), "float32")
        whole = ndconv.convolve(x, W, method="fft")
        np.testing.assert_allclose(
            self.filter(x, W, "zyx", method="fft", most=1 << 19), whole, rtol=0,
            atol=1e-6 * np.abs(whole).max())

    def test_integers_by_fft(self):
        """In double precision, half to even."""
        x = make_samples((6, 20, 31, 22), "uint8") // 3 * 3
        for axes, y in (("tzyx", x), ("zyx", x[0])):
            w = np.full((3,) * len(axes), 1 / 6)
            settings = {"method": "fft", "precision": "double",
                        "output_type": "float64", "border": "wrap"}
            found = self.filter(y, w, axes, "uint8", most=1 << 20, **settings)
            np.testing.assert_array_equal(found, ndconv.convolve(
                y, w, axes=axes, method="direct", border="wrap"))

    def test_components_and_responses(self):
        x = make_samples((12, 33, 31, 3), "uint8")
        settings = {"method": "direct", "border": "reflect"}
        w = np.random.default_rng(SEED).random((3, 5, 5)) / 40
        np.testing.assert_array_equal(
            self.filter(x, w, "zyxc", **settings),
            ndconv.convolve(x, w, axes="zyxc", **settings))
        bank = np.stack([w, w[::-1], w[:, ::-1]])
        settings["response"] = "argmax"
        np.testing.assert_array_equal(
            self.filter(x[..., 0], bank, "zyx", **settings),
            ndconv.convolve(x[..., 0], bank, axes="zyx", **settings))

    def test_part(self):
        """Without the outputs of a halo."""
        x = make_samples((8, 12, 33, 31), "float32")
        w = np.random.default_rng(SEED).random((3, 3, 5, 5))
        inner = [slice(1, 6), slice(0, 10), slice(2, 31), slice(3, 29)]
        np.testing.assert_array_equal(
            self.filter(x, w, "tzyx", inner=inner, method="direct"),
            ndconv.convolve(x, w, method="direct")[tuple(inner)])

    def test_recordings(self):
        """Recordings that are too short for the window of the filter, or wrap
        in time."""
        x = make_samples((5, 11, 23, 26), "float32")
        for border in ("nearest", "wrap"):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "x.npy")
                make_array(path, x, ())
                settings = {"method": "separable", "time_border": border}
                job = _planning.Options(W, settings).make_job(
                    str(path), str(path.with_name("y.npy")))
                with unittest.mock.patch.object(
                        _pieces, "convolve_counted",
                        wraps=_pieces.convolve_counted) as calls, (
                        unittest.mock.patch.object(_pieces.Work, "count_bytes",
                                                   lambda *_: 1 << 14)):
                    job.do(0, None)
                if border == "wrap":
                    self.assertGreater(calls.call_count, 2)
                np.testing.assert_array_equal(
                    np.load(path.with_name("y.npy")),
                    ndconv.convolve(x, W, **settings))

    def test_slabs(self):
        """Outputs arrive in other numbers than those of chunks."""
        from ndconv import _chunks
        x = make_samples((11, 9, 8), "uint16")
        with tempfile.TemporaryDirectory() as folder:
            for parts in ([1] * 11, [11], [3, 5, 2, 1], [4, 7]):
                path = pathlib.Path(folder, f"{len(parts)}.zarr")
                zarr.create_array(str(path), shape=x.shape, dtype=x.dtype,
                                  chunks=(4, 4, 5), shards=(12, 12, 10),
                                  compressors=None)
                new = pathlib.Path(tempfile.mkdtemp(dir=folder))
                layout = _chunks.Layout(x.shape, (4, 4, 5), (12, 12, 10),
                                        x.dtype, "none", 3)
                with _chunks.BlockWriter(
                        layout, tuple(slice(0, n) for n in x.shape), new,
                        2) as writer:
                    at = 0
                    for n in parts:
                        writer.write(x[at:at + n])
                        at += n
                    writer.publish(path)
                np.testing.assert_array_equal(
                    zarr.open_array(str(path), mode="r")[...], x)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        unittest.main(verbosity=2)
