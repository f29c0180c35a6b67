# OME-Zarr of the library against zarr-python: folders that zarr writes are read
# as recordings, and those that the library writes are read by zarr. Needs zarr 3,
# and a library with the option zarr.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import fractions
import itertools
import os
import pathlib
import sys
import tempfile
import unittest

try:
    import numpy as np
    import zarr
    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(f"zarr {zarr.__version__} is too old")
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv

SEED = 21
CODECS = [
    ("none", None, None),
    ("gzip", {"name": "gzip", "configuration": {"level": 4}},
     {"id": "gzip", "level": 4}),
    ("zlib", None, {"id": "zlib", "level": 4}),
    ("zstd", {"name": "zstd", "configuration": {"level": 3,
                                                "checksum": True}},
     {"id": "zstd", "level": 3}),
    *((f"blosc {name} {shuffle}",
       {"name": "blosc", "configuration": {
           "cname": name, "clevel": 5, "shuffle": shuffle, "typesize": 2}},
       {"id": "blosc", "cname": name, "clevel": 5, "shuffle": number})
      for name, (shuffle, number) in itertools.product(
          ("lz4", "zstd", "zlib", "blosclz", "lz4hc"),
          (("noshuffle", 0), ("shuffle", 1), ("bitshuffle", 2)))),
]


class Zarr(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rng = np.random.default_rng(SEED)

    def samples(self, shape, dtype):
        return (self.rng.normal(size=shape) * 20 + 60).astype(dtype)

    def check(self, path, expected, message=""):
        """The recording @path has the volumes of @expected, forwards and
        backwards."""
        with ndconv.Recording(path) as recording:
            self.assertEqual(recording.shape, expected.shape, message)
            for order in (range(len(expected)), range(len(expected))[::-1]):
                for t in order:
                    np.testing.assert_array_equal(recording.read(t),
                                                  expected[t], message)

    def make(self, path, x, version, axes="tzyx", units=None, scale=None,
             **settings):
        group = zarr.create_group(str(path), zarr_format=version)
        units = units or {}
        image = {"axes": [{"name": a, **({"unit": units[a]} if a in units
                                         else {})} for a in axes],
                 "datasets": [{"path": "a/s0", "coordinateTransformations": [
                     {"type": "scale", "scale": scale or [1.0] * x.ndim}]}]}
        if version == 2:
            group.attrs["multiscales"] = [{"version": "0.4", **image}]
        else:
            group.attrs["ome"] = {"version": "0.5", "multiscales": [image]}
        array = group.create_array("a/s0", shape=x.shape, dtype=x.dtype,
                                   **settings)
        array[...] = x
        return array

    def test_codecs(self):
        """Chunks that the volumes do not fill, in files and in shards."""
        x = self.samples((5, 7, 9, 11), "u2")
        for name, new, old in CODECS:
            for version, codec in ((3, new), (2, old)):
                if codec is None and name != "none" or codec == new == old:
                    continue
                for shards in ((None, (4, 4, 10, 16)) if version == 3 else
                               (None,)):
                    path = self.folder / f"{name} {version} {shards}"
                    self.make(path, x, version, chunks=(2, 4, 5, 4),
                              compressors=codec,
                              **({"shards": shards} if shards else {}))
                    self.check(path, x, str(path))

    def test_without_compression(self):
        x = self.samples((3, 4, 5, 6), "i2")
        for version in (2, 3):
            path = self.folder / str(version)
            self.make(path, x, version, chunks=(1, 2, 5, 6), compressors=None)
            self.check(path, x)

    def test_types(self):
        for name in ("i1", "u1", "i2", "u2", "i4", "u4", "f2", "f4", "f8"):
            for order, version in itertools.product("<>", (2, 3)):
                x = self.samples((2, 3, 4, 5), name)
                path = self.folder / f"{name}{order == '<'}{version}"
                if version == 2:
                    x = x.astype(np.dtype(name).newbyteorder(order))
                    self.make(path, x, 2, chunks=(1, 3, 4, 5))
                else:
                    self.make(path, x, 3, chunks=(1, 3, 4, 5),
                              serializer={"name": "bytes", "configuration": {
                                  "endian": "big" if order == ">" else
                                  "little"}})
                self.check(path, x.astype(name), str(path))
        for name in ("i8", "u8"):   # become float32, with a warning
            x = self.samples((2, 3, 4, 5), name)
            self.make(self.folder / name, x, 3, chunks=(1, 2, 2, 5))
            self.check(self.folder / name, x.astype("f4"))

    def test_absent_chunks(self):
        for fill, name in ((7, "u1"), (-3, "i2"), (2.5, "f4"),
                           (float("nan"), "f8"), (float("-inf"), "f4"),
                           (1.5, "f2")):
            for version in (2, 3):
                x = np.full((3, 4, 6, 6), fill, name)
                path = self.folder / f"{fill} {version}"
                array = self.make(path, x, version, chunks=(1, 2, 3, 3),
                                  fill_value=fill,
                                  **({"shards": (1, 4, 3, 6)}
                                     if version == 3 else {}))
                x[1, :2, :3, :3] = 5
                array[1, :2, :3, :3] = 5
                self.check(path, x, str(path))

    def test_axes(self):
        x = self.samples((2, 3, 4, 5, 6), "u1")
        self.make(self.folder / "tczyx", x, 3, "tczyx",
                  chunks=(2, 2, 2, 3, 4))
        self.check(self.folder / "tczyx", np.moveaxis(x, 1, -1))
        self.make(self.folder / "xyzct", x.T, 2, "xyzct",
                  chunks=(4, 3, 2, 2, 2))
        self.check(self.folder / "xyzct", np.moveaxis(x, 1, -1))
        self.make(self.folder / "tyx", x[:, 0, 0], 2, "tyx", chunks=(1, 5, 2))
        self.check(self.folder / "tyx", x[:, 0, 0][:, None])
        self.make(self.folder / "yx", x[0, 0, 0], 2, "yx", chunks=(5, 2))
        self.check(self.folder / "yx", x[0, 0, 0][None, None])
        # Arrays without a group.
        for version in (2, 3):
            path = self.folder / f"array{version}"
            zarr.save_array(str(path), x[0], zarr_format=version)
            self.check(path, x[0])

    def test_scale(self):
        x = self.samples((4, 2, 3, 4), "u1")
        for version in (2, 3):
            path = self.folder / str(version)
            self.make(path, x, version, scale=[40.0, 2.0, 500.0, 0.25],
                      units={"t": "millisecond", "z": "millimeter",
                             "y": "micrometer", "x": "millimeter"})
            with ndconv.Recording(path) as recording:
                self.assertEqual(recording.rate, fractions.Fraction(25))
                self.assertEqual(recording.spacing, (2.0, 0.5, 0.25))
                self.assertEqual(recording.warnings, [])
                self.assertIn("OME-Zarr", recording.format)

    def test_writing(self):
        for n, (ending, compress, (shape, name)) in enumerate(
                itertools.product((".zarr", ".v2.zarr"), (False, True), (
                    ((3, 70, 65, 130), "i2"), ((2, 1, 40, 1050), "f4"),
                    ((2, 3, 4, 5, 3), "u1"), ((4, 5, 6, 7), "f2"),
                    ((2, 2, 3, 4), "f8"), ((1, 2, 3, 4), "u4")))):
            path = self.folder / f"{n}{ending}"
            x = self.samples(shape, name)
            with ndconv.RecordingWriter(path, shape[1:], name,
                                        compress=compress) as writer:
                for volume in x:
                    writer.write(volume)
            self.check(path, x, str(path))
            group = zarr.open_group(str(path), mode="r")
            found = group["0"][...]
            if len(shape) == 5:
                found = np.moveaxis(found, 1, -1)
            np.testing.assert_array_equal(found, x)
            self.assertEqual(group.metadata.zarr_format,
                             2 if ".v2" in ending else 3)
            if ".v2" not in ending:
                self.assertEqual(len(os.listdir(path / "0" / "c")), shape[0])
        self.assertEqual([name for name in os.listdir(self.folder)
                          if name.endswith(".part")], [])

    def test_archive_of_both(self):
        """An output of ndconv.run is read, and a written one is an input."""
        x = self.samples((4, 6, 8, 10), "f4")
        with ndconv.RecordingWriter(self.folder / "a.zarr", x.shape[1:],
                                    "f4") as writer:
            for volume in x:
                writer.write(volume)
        ndconv.run(self.folder / "a.zarr", self.folder / "b.zarr",
                   filter="box,size=3", exact=True)
        self.check(self.folder / "b.zarr",
                   ndconv.convolve(x, "box,size=3", method="separable",
                                   axes="tzyx"))

    def test_old_versions(self):
        """Axes are names in 0.3, and unnamed before, for recordings and for
        archives."""
        x = self.samples((3, 1, 4, 6, 7), "f4")
        for version in ("0.3", "0.2", "0.1"):
            path = self.folder / f"{version}.zarr"
            group = zarr.create_group(path, zarr_format=2)
            group.attrs["multiscales"] = [
                {"version": version, "datasets": [{"path": "0"}],
                 **({"axes": list("tczyx")} if version == "0.3" else {})}]
            group.create_array("0", shape=x.shape, dtype=x.dtype,
                               chunks=(1, 1, 4, 6, 7))[:] = x
            self.check(path, x[:, 0])
            out = self.folder / f"of {version}.zarr"
            ndconv.run(path, out, filter="box,size=3:1:1", exact=True)
            with ndconv.Recording(out) as found:
                np.testing.assert_allclose(
                    found.read(1)[..., 1:-1],
                    (x[1, 0, ..., :-2] + x[1, 0, ..., 1:-1]
                     + x[1, 0, ..., 2:]) / 3, rtol=1e-5)

    def test_refused(self):
        x = self.samples((2, 3, 4, 5), "u1")
        path = self.folder / "there.zarr"
        self.make(path, x, 3)
        with self.assertRaisesRegex(ndconv.FileError, "not replaced"):
            ndconv.RecordingWriter(path, (3, 4, 5), "u1")
        zarr.create_group(str(self.folder / "empty"), zarr_format=3)
        with self.assertRaisesRegex(ndconv.FormatError, "without an image"):
            ndconv.Recording(self.folder / "empty")
        self.make(self.folder / "f", x, 2, order="F")
        with self.assertRaisesRegex(ndconv.FormatError, "order"):
            ndconv.Recording(self.folder / "f")
        self.make(self.folder / "complex", x.astype("c8"), 3)
        with self.assertRaisesRegex(ndconv.FormatError, "complex64"):
            ndconv.Recording(self.folder / "complex")
        self.make(self.folder / "names", x, 3, "tzyq")
        with self.assertRaisesRegex(ndconv.FormatError, "named t, c, z"):
            ndconv.Recording(self.folder / "names")


def setUpModule():
    """Skips the file if the library was built without OME-Zarr."""
    with tempfile.TemporaryDirectory() as folder:
        zarr.save_array(folder + "/a", np.zeros((2, 2), "u1"))
        try:
            ndconv.Recording(folder + "/a")
        except ndconv.FormatError as error:
            raise unittest.SkipTest(str(error)) from error


if __name__ == "__main__":
    print("seed", SEED)
    unittest.main()
