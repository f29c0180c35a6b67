# Archives: OME-Zarr in blocks equals the whole array; workers that die, runs
# that go on, and inputs that are refused. Needs zarr 3.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import json
import os
import pathlib
import shutil
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
from ndconv import _ledger, _local, _planning, _sources, _storejobs

W = "gaussian,sigma=<0.7,0.8,0.5,0.5>"


class Archives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.x = np.random.default_rng(2).normal(
            0, 9, (6, 10, 20, 30)).astype("f4")
        self.source = self.folder / "in.zarr"
        self.target = self.folder / "out.zarr"
        self.make(self.source, self.x)

    def make(self, path, x, chunks=(2, 5, 8, 8), axes="tzyx", version="0.4"):
        group = zarr.create_group(str(path),
                                  zarr_format=2 if version == "0.4" else 3)
        scale = {"axes": [{"name": a, "type": "space"} for a in axes],
                 "datasets": [{"path": "s0", "coordinateTransformations": [
                     {"type": "scale", "scale": [0.5] * x.ndim}]}]}
        if version == "0.4":
            group.attrs["multiscales"] = [scale]
        else:
            group.attrs["ome"] = {"version": version, "multiscales": [scale]}
        group.create_array("s0", shape=x.shape, dtype=x.dtype,
                           chunks=chunks)[...] = x

    def read(self, path=None):
        return zarr.open_group(str(path or self.target), mode="r")["0"][...]

    def test_steps_of_the_input(self):
        """Units in the filter need no spacing if the input has one."""
        text = "gaussian,sigma=<0.6um,0.6um,1.2um>"
        expected = ndconv.convolve(self.x, text, axes="zyx",
                                   spacing="0.3um:0.3um:1um")
        np.testing.assert_array_equal(expected, ndconv.convolve(
            self.x, text, axes="zyx", spacing=(1e-3, 3e-4, 3e-4)))
        header = self.folder / "in.nhdr"
        self.x.tofile(self.folder / "in.raw")
        header.write_text(
            "NRRD0004\ntype: float\ndimension: 4\nsizes: 30 20 10 6\n"
            "space dimension: 3\nspace directions: (3e-4,0,0) (0,3e-4,0) "
            "(0,0,1e-3) none\nkinds: domain domain domain time\n"
            "endian: little\nencoding: raw\ndata file: in.raw\n\n")
        output = self.folder / "out.nrrd"
        report = ndconv.run(header, output, filter=text, axes="zyx")
        self.assertEqual(report.failed, [], str(report))
        np.testing.assert_allclose(
            np.stack(list(ndconv.Recording(output))), expected, atol=1e-5)
        group = zarr.open_group(str(self.source))
        scale = group.attrs["multiscales"][0]
        for axis in scale["axes"][1:]:
            axis["unit"] = "micrometer"
        scale["axes"][0] = {"name": "t", "type": "time", "unit": "second"}
        scale["coordinateTransformations"] = [
            {"type": "scale", "scale": [1, 2, 0.6, 0.6]}]
        group.attrs["multiscales"] = [scale]
        source = _sources.open_source(str(self.source), None, None)
        self.assertEqual(_sources.find_steps(source),
                         {"spacing": "0.0003:0.0003:0.001", "rate": "2.0"})
        report = ndconv.run(self.source, self.target, filter=text
                            + ",size=7:7:7:1")
        self.assertEqual(report.failed, [], str(report))
        # What is given counts more.
        report = ndconv.run(self.source, self.folder / "other.zarr",
                            filter=text, spacing="1mm:1mm:1mm")
        self.assertEqual(report.failed, [], str(report))
        np.testing.assert_array_equal(self.read(self.folder / "other.zarr"),
                                      self.x)

    def test_blocks(self):
        whole = ndconv.convolve(self.x, W, method="separable", border="mirror",
                                time_border="wrap")
        seen = []
        report = ndconv.run(self.source, self.target, filter=W, exact=True,
                            border="mirror", time_border="wrap", workers=2,
                            block=(3, 5, 16, 16),
                            progress=lambda *numbers: seen.append(numbers))
        np.testing.assert_array_equal(self.read(), whole)
        n = 2 * 2 * 2 * 2
        self.assertEqual((report.finished, report.skipped, report.samples),
                         (n, 0, whole.size))
        self.assertEqual(seen[-1], (n, n))
        self.assertEqual(report.outputs, [str(self.target)])
        self.assertIn(f"{n} tasks in", str(report))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         [".ndconv", "in.zarr", "out.zarr"])
        group = zarr.open_group(str(self.target), mode="r")
        scale = group.attrs["ome"]["multiscales"][0]
        self.assertEqual([a["name"] for a in scale["axes"]], list("tzyx"))
        self.assertEqual(scale["datasets"][0]["coordinateTransformations"],
                         [{"type": "scale", "scale": [0.5] * 4}])
        # A shard is a whole block.
        self.assertEqual(group["0"].shards, (4, 5, 16, 16))
        # It is there, and other settings are refused.
        report = ndconv.run(self.source, self.target, filter=W, exact=True,
                            border="mirror", time_border="wrap",
                            block=(3, 5, 16, 16))
        self.assertEqual((report.finished, report.skipped), (0, n))
        with self.assertRaisesRegex(ndconv.SettingsError, "other settings"):
            ndconv.run(self.source, self.target, filter=W)

    def test_small_chunks(self):
        """Halos of several chunks; a scale of all resolutions is kept."""
        group = zarr.create_group(str(self.folder / "small.zarr"))
        scale = [{"type": "scale", "scale": [0.04, 1, 1, 1]}]
        group.attrs["ome"] = {"version": "0.5", "multiscales": [{
            "axes": [{"name": a} for a in "tzyx"], "datasets": [{"path": "a"}],
            "coordinateTransformations": scale}]}
        group.create_array("a", shape=self.x.shape, dtype="f4",
                           chunks=(1, 2, 3, 4))[...] = self.x
        filter_ = np.random.default_rng(4).random((5, 5, 7, 9))
        for border in ("constant", "mirror", "wrap"):
            settings = {"border": border, "time_border": border,
                        "origin": (1, -1, 2, -3)}
            target = self.folder / f"{border}.zarr"
            report = ndconv.run(self.folder / "small.zarr", target,
                                filter=filter_, exact=True, workers=2,
                                block=(2, 4, 9, 8), **settings)
            self.assertEqual(report.failed, [])
            np.testing.assert_array_equal(
                self.read(target), ndconv.convolve(
                    self.x, filter_, method="direct", **settings))
            found = zarr.open_group(str(target), mode="r").attrs["ome"]
            self.assertEqual(found["multiscales"][0][
                "coordinateTransformations"], scale)

    def test_integers(self):
        """They do not depend on blocks, even those next to a half."""
        x = np.random.default_rng(5).integers(0, 4000, (8, 32, 40, 40)
                                              ).astype("i2")
        self.make(self.folder / "i2.zarr", x, (1, 16, 20, 20))
        filter_ = np.random.default_rng(6).random((5, 5, 5, 5))
        filter_ /= filter_.sum()
        whole = ndconv.convolve(x, filter_, method="direct")
        self.assertTrue((ndconv.convolve(x, filter_, method="fft")
                         != whole).any())
        for i, (block, workers) in enumerate((((8, 32, 40, 40), 1),
                                              ((3, 16, 40, 20), 2))):
            target = self.folder / f"{i}.zarr"
            ndconv.run(self.folder / "i2.zarr", target, filter=filter_,
                       block=block, workers=workers)
            np.testing.assert_array_equal(self.read(target), whole)

    def test_integers_by_fft(self):
        """The same by fft, with means of which many are exact halves."""
        x = np.random.default_rng(7).integers(0, 255, (4, 16, 24, 24)
                                              ).astype("u1")
        self.make(self.folder / "u1.zarr", x, (1, 8, 8, 8))
        np.save(self.folder / "u1.npy", x)
        for border, filter_ in (("mirror", np.ones((2, 4, 4, 4)) / 128),
                                ("wrap", np.random.default_rng(8).random(
                                    (3, 5, 5, 5)) / 200)):
            settings = {"border": border, "time_border": border}
            # The sums, rounded as exact ones are.
            whole = np.rint(ndconv.convolve(
                x, filter_, method="direct", precision="double",
                output_type="float64", **settings))
            self.assertLess(whole.max(), 256)
            for i, block in enumerate(((4, 16, 24, 24), (2, 8, 16, 24),
                                       (1, 16, 8, 16))):
                target = self.folder / f"{border}.{i}.zarr"
                report = ndconv.run(
                    self.folder / "u1.zarr", target, filter=filter_,
                    method="fft", block=block, workers=1 + i % 2, **settings)
                self.assertEqual(report.failed, [])
                found = self.read(target)
                self.assertEqual(found.dtype, x.dtype)
                np.testing.assert_array_equal(found, whole)
            # A recording too.
            ndconv.run(self.folder / "u1.npy", self.folder / f"{border}.npy",
                       filter=filter_, method="fft", **settings)
            found = np.load(self.folder / f"{border}.npy")
            self.assertEqual(found.dtype, x.dtype)
            np.testing.assert_array_equal(found, whole)
        for response, filter_ in (("argmax", "quadrature-bank,size=3"),
                                  ("phase", np.ones((3, 3, 3, 3), "c16"))):
            with self.assertRaisesRegex(ndconv.SettingsError,
                                        "equal responses"):
                ndconv.run(self.folder / "u1.zarr", self.folder / "no.zarr",
                           filter=filter_, method="fft", response=response)

    def test_large_by_fft(self):
        """Sums too large for that are computed by direct."""
        rng = np.random.default_rng(9)
        large = rng.integers(-2 ** 31, 2 ** 31, (3, 8, 20, 20)).astype("i4")
        outlier = rng.random((3, 8, 20, 20), "float32") * 99
        outlier[1, 2, 3, 4] = 1e10
        filter_ = rng.integers(-9, 9, (3, 5, 5, 5)) / 2
        for name, x, output in (("i4", large, "int32"),
                                ("f4", outlier, "int16")):
            self.make(self.folder / f"{name}.zarr", x, (1, 8, 10, 10))
            found = []
            for i, block in enumerate(((3, 8, 20, 20), (1, 8, 10, 10))):
                target = self.folder / f"{name}.{i}.zarr"
                ndconv.run(self.folder / f"{name}.zarr", target,
                           filter=filter_, method="fft", output_type=output,
                           block=block)
                found.append(self.read(target))
            np.testing.assert_array_equal(*found)

    def test_index_of_equal_responses(self):
        """It does not depend on blocks, although it is float32."""
        x = np.random.default_rng(10).random((3, 16, 24, 24), "float32")
        x[:, :, :12] = 0
        self.make(self.folder / "zero.zarr", x, (1, 8, 12, 12))
        found = []
        for i, block in enumerate(((3, 16, 24, 24), (1, 8, 12, 12))):
            target = self.folder / f"{i}.zarr"
            ndconv.run(self.folder / "zero.zarr", target, block=block,
                       filter="monomial-bank,size=9", response="argmax",
                       output_type="float32")
            found.append(self.read(target))
        np.testing.assert_array_equal(*found)

    def test_integers_by_tensor(self):
        """Only sums of integers do not depend on blocks."""
        for dtype, method, settings in (
                ("u1", "tensor", {}), ("u1", "tensor", {"border_value": 7}),
                ("u1", "separable", {"border_value": 0.5}),
                ("u1", "separable", {"border_value": -1}),
                ("u1", "separable", {"border_value": 256}),
                ("i2", "separable", {}), ("u2", "separable", {}),
                ("i4", "separable", {}),
                ("f4", "tensor", {}),
                ("f4", "separable", {"output_type": "int16"})):
            path = self.folder / f"tensor-{dtype}.zarr"
            if not path.exists():
                self.make(path, np.zeros((2, 4, 8, 8), dtype), (1, 4, 8, 8))
            job = _planning.Options(W, {"method": "tensor", **settings}
                                    ).make_job(str(path), "out.zarr")
            self.assertEqual(job.settings["method"], method, (dtype, settings))

    def test_changed_file(self):
        """A run does not go on with other coefficients of the same name."""
        path = self.folder / "w.npy"
        np.save(path, np.ones((3, 3, 3, 3)) / 81)
        settings = {"filter": f"file,location={path}",
                    "block": (1,) + self.x.shape[1:]}
        ndconv.run(self.source, self.target, **settings)
        ndconv.run(self.source, self.target, **settings)
        np.save(path, np.ones((3, 3, 3, 3)))
        with self.assertRaisesRegex(ndconv.SettingsError, "other settings"):
            ndconv.run(self.source, self.target, **settings)

        # In the middle of a run, the tasks that remain fail.
        report = ndconv.run(
            self.source, self.folder / "middle.zarr", **settings,
            progress=lambda _done, _total: np.save(path, np.ones((1, 1, 1, 1))))
        self.assertNotEqual(report.failed, [])
        self.assertFalse((self.folder / "middle.zarr").exists())

    def test_components_and_arrays(self):
        x = np.random.default_rng(3).integers(0, 99, (4, 2, 6, 9, 11),
                                              dtype="u1")
        self.make(self.folder / "c.zarr", x, (1, 1, 6, 8, 8), "tczyx", "0.5")
        ndconv.run(self.folder / "c.zarr", self.target, filter=W, exact=True,
                   block=(1, 2, 6, 8, 8))
        np.testing.assert_array_equal(
            self.read(), ndconv.convolve(x, W, axes="tczyx", method="separable"))
        zarr.save_array(str(self.folder / "plain.zarr"), x[0, 0])
        ndconv.run(self.folder / "plain.zarr", self.folder / "p.zarr",
                   filter="box,size=3", axes="tyx", exact=True)
        np.testing.assert_array_equal(
            self.read(self.folder / "p.zarr"),
            ndconv.convolve(x[0, 0], "box,size=3", axes="tyx",
                            method="separable"))

    def test_formats(self):
        """OME-Zarr 0.4 and 0.5, all compressions, from recordings too."""
        whole = ndconv.convolve(self.x, W, method="separable")
        heart = self.folder / "heart.nrrd"
        with ndconv.RecordingWriter(heart, self.x.shape[1:], "f4") as writer:
            for volume in self.x:
                writer.write(volume)
        for i, (source, version, compression) in enumerate((
                (self.source, "0.4", "blosc"), (self.source, "0.4", "none"),
                (self.source, "0.5", "blosc"), (heart, "0.5", "gzip"),
                (heart, "0.4", "zstd"))):
            target = self.folder / f"{i}.zarr"
            report = ndconv.run(source, target, filter=W, exact=True,
                                block=(4, 10, 20, 30), compression=compression,
                                output_format="ome-zarr-" + version)
            self.assertEqual((report.finished, report.failed), (2, []))
            np.testing.assert_array_equal(self.read(target), whole)
            group = zarr.open_group(str(target), mode="r")
            self.assertEqual(group.metadata.zarr_format,
                             2 if version == "0.4" else 3)
            attributes = dict(group.attrs)
            scale = attributes.get("ome", attributes)["multiscales"][0]
            self.assertEqual("".join(a["name"] for a in scale["axes"]), "tzyx")
            self.assertEqual(len(group["0"].compressors),
                             compression != "none")
        # It is an input, too.
        ndconv.run(self.folder / "4.zarr", self.target, filter="box,size=1",
                   exact=True)
        np.testing.assert_array_equal(self.read(), whole)
        # Names of several.
        report = ndconv.run([str(heart)], self.folder / "several", filter=W,
                            output_format="ome-zarr")
        self.assertEqual(report.outputs,
                         [str(self.folder / "several" / "heart.zarr")])

    def test_several(self):
        self.make(self.folder / "in2.zarr", 2 * self.x)
        (self.folder / "in3.zarr").mkdir()
        report = ndconv.run(str(self.folder / "in*.zarr"),
                            self.folder / "outputs", filter="box,size=3")
        self.assertEqual(len(report.outputs), 2)
        self.assertEqual([os.path.basename(f.input) for f in report.failed],
                         ["in3.zarr"])
        np.testing.assert_allclose(
            self.read(self.folder / "outputs" / "in2.zarr"),
            ndconv.convolve(2 * self.x, "box,size=3"), atol=1e-4)

    def test_killed_worker(self):
        """A worker dies with its first blocks; the output is whole."""
        killed = []

        def kill(_done, _total):
            # All that there are, with their tasks and without.
            if not killed:
                for worker in runner.workers:
                    worker.process.kill()
                    killed.append(worker)
        original = _local.Local.run

        def run(self):
            nonlocal runner
            runner = self
            original(self)
        runner = None
        _local.Local.run = run
        try:
            report = ndconv.run(self.source, self.target, filter=W, exact=True,
                                workers=2, block=(2, 5, 8, 8),
                                progress=kill)
        finally:
            _local.Local.run = original
        self.assertGreaterEqual(len(killed), 1)
        self.assertLessEqual(report.retried, 2)
        self.assertEqual(report.failed, [])
        np.testing.assert_array_equal(
            self.read(), ndconv.convolve(self.x, W, method="separable"))

    def test_goes_on(self):
        """An interrupted run leaves nothing under the final name, and the next
        one does the rest."""
        def stop(done, _total):
            if done == 3:
                raise KeyboardInterrupt
        settings = {"filter": W, "exact": True, "block": (2, 5, 8, 8)}
        with self.assertRaises(KeyboardInterrupt):
            ndconv.run(self.source, self.target, progress=stop, **settings)
        self.assertFalse(self.target.exists())
        with self.assertRaisesRegex(ndconv.SettingsError, "other settings"):
            ndconv.run(self.source, self.target, filter="box,size=3")
        report = ndconv.run(self.source, self.target, **settings)
        self.assertGreaterEqual(report.skipped, 3)
        np.testing.assert_array_equal(
            self.read(), ndconv.convolve(self.x, W, method="separable"))

    def test_cut_store(self):
        """A store of which a file was cut, is missing or, with verify, was changed
        is made whole again; the other blocks are not computed again."""
        settings = {"filter": W, "exact": True, "block": (2, 5, 8, 8)}
        for version in "0.5", "0.4":
            target = self.folder / f"cut{version}.zarr"
            run = lambda **more: ndconv.run(
                self.source, target, output_format=f"ome-zarr-{version}",
                **settings, **more)
            n = run().finished
            whole = self.read(target)
            files = sorted(p for p in (target / "0").rglob("*") if p.is_file()
                           and not p.name.startswith((".", "zarr")))
            original = files[0].read_bytes()
            changed = bytes([original[0] ^ 1]) + original[1:]
            for content, verify in ((original[:20], False), (None, False),
                                    (original + b"x", False), (changed, True)):
                if content is None:
                    files[0].unlink()
                else:
                    files[0].write_bytes(content)
                if verify:
                    self.assertEqual(run().finished, 0)
                report = run(verify=verify)
                self.assertEqual((report.finished, report.skipped), (1, n - 1))
                self.assertIn("is not as it was written", str(report))
                self.assertEqual(report.outputs, [str(target)])
                self.assertEqual(files[0].read_bytes(), original)
                np.testing.assert_array_equal(self.read(target), whole)
            report = run(verify=True)
            self.assertEqual((report.finished, list(report.notes)), (0, []))

    def test_old_ledger(self):
        """Outputs of versions that kept no sizes count as done, and runs that
        they began go on."""
        record = self.folder / ".ndconv" / "out.zarr.json"
        settings = {"filter": W, "exact": True, "block": (2, 5, 8, 8)}
        n = ndconv.run(self.source, self.target, **settings).finished
        record.unlink()
        report = ndconv.run(self.source, self.target, verify=True, **settings)
        self.assertEqual((report.finished, report.skipped), (0, n))
        shutil.rmtree(self.target)

        def stop(_done, _total):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            ndconv.run(self.source, self.target, progress=stop, **settings)
        part = pathlib.Path(f"{self.target}.part")
        for marker in (part / "done").iterdir():
            marker.write_bytes(b"")
        begun = json.loads((part / "run.json").read_text())
        del begun["made"]
        (part / "run.json").write_text(json.dumps(begun))
        report = ndconv.run(self.source, self.target, **settings)
        self.assertGreater(report.skipped, 0)
        np.testing.assert_array_equal(
            self.read(), ndconv.convolve(self.x, W, method="separable"))

    def test_cut_recordings(self):
        """The same for recordings, and an input that has changed is named."""
        names = ["a.nii", "b.nhdr", "c.npy"]
        x = np.random.default_rng(8).integers(0, 99, (3, 4, 20, 24)).astype("u1")
        for name in names:
            with ndconv.RecordingWriter(self.folder / name, x.shape[1:],
                                        "u1") as writer:
                for volume in x:
                    writer.write(volume)
        run = lambda **more: ndconv.run(
            [self.folder / name for name in names], self.folder / "out",
            filter="box,size=3", **more)
        self.assertEqual(run().finished, 3)
        out = self.folder / "out"
        for path in sorted(p for p in out.iterdir() if p.is_file()):
            original = path.read_bytes()
            for size in 20, 0, len(original) - 1:
                os.truncate(path, size)
                report = run()
                self.assertEqual((report.finished, report.skipped), (1, 2))
                self.assertIn("is not as it was written", str(report))
                self.assertEqual(path.read_bytes(), original)
            path.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
            self.assertEqual(run().finished, 0)
            self.assertEqual(run(verify=True).finished, 1)
            self.assertEqual(path.read_bytes(), original)
        os.utime(self.folder / "a.nii", ns=(1, 1))
        report = run()
        self.assertEqual(report.finished, 0)
        self.assertIn("a.nii has changed since", str(report))
        self.assertEqual(len(report.notes), 1)
        # As older versions left it, or damaged.
        for name in names:
            record = out / ".ndconv" / (name + ".json")
            found = json.loads(record.read_text())
            found["made"] = {"files": {"../x": [1, "y"]}, "input": 3}
            if name == "a.nii":
                del found["made"]
            record.write_text(json.dumps(found))
        report = run(verify=True)
        self.assertEqual((report.finished, report.skipped), (0, 3))

    def test_damaged_input(self):
        chunk = next(p for p in sorted((self.source / "s0").rglob("*"))
                     if p.is_file() and p.name[0] != "." and "z" not in p.name)
        chunk.write_bytes(b"nothing")
        report = ndconv.run(self.source, self.target, filter="box,size=1",
                            block=(2, 5, 8, 8), retries=1)
        self.assertEqual(len(report.failed), 1)
        self.assertEqual(report.retried, 1)
        self.assertIn("in.zarr", str(report))
        self.assertEqual(report.outputs, [])
        self.assertFalse(self.target.exists())
        self.assertTrue(os.path.exists(f"{self.target}.part"))

    def program(self, *arguments):
        """ndconv-run with @arguments."""
        return subprocess.run(
            [sys.executable, "-m", "ndconv._program", *map(str, arguments)],
            capture_output=True, text=True, timeout=300, check=False)

    def test_program(self):
        done = self.program(self.source, self.target, "--filter", W,
                            "--exact", "--border", "mirror", "--workers", 2,
                            "--block", "8:8:5:2", "--origin", "0:1:0:-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("72 of 72 tasks", done.stderr)
        self.assertIn("volumes/s", done.stdout)
        np.testing.assert_array_equal(self.read(), ndconv.convolve(
            self.x, W, method="separable", border="mirror",
            origin=(-1, 0, 1, 0)))
        for status, sentence, arguments in (
                (2, "give --filter", [self.source]),
                (2, "border is 'zero'", [self.source, self.folder / "b",
                                         "--filter", W, "--border", "zero"]),
                (2, "other settings", [self.source, self.target,
                                       "--filter", W]),
                (2, "without the number of volumes",
                 [self.source, "b", "--filter", W, "--volume-size",
                  "4:4:4:9"]),
                (2, "not of the form", [self.source, "b", "--filter", W,
                                        "--block", "a"]),
                (1, "cannot be opened", [self.folder / "none", self.target,
                                         "--filter", W])):
            done = self.program(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(sentence, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_share(self):
        """A worker uses the cores of those that have no task."""
        for n_tasks, n_threads in ((0, 12), (1, 12), (3, 4), (4, 3), (99, 3)):
            ledger = _ledger.Ledger(0, None)
            ledger.tasks = [None] * n_tasks
            with unittest.mock.patch.object(_local, "count_cores", lambda: 12):
                self.assertEqual(_local.Local(ledger, 4).n_threads, n_threads)

    def test_shape_of_blocks(self):
        """A block is long compared with the reach of the filter, if it can."""
        source = _sources.ZarrSource("", "", "tzyx", (256, 256, 256, 256),
                                     (1, 64, 256, 256), np.dtype("f4"), None)
        for filter_, block in ((np.ones((1, 1, 1, 1)), (2, 256, 256, 256)),
                               (np.ones((5, 3, 1, 1)), (8, 64, 256, 256)),
                               (np.ones((5, 33, 1, 1)), (8, 64, 256, 256)),
                               (np.ones((2, 99, 1, 1)), (2, 256, 256, 256))):
            shard = _storejobs.find_shard(source, filter_, None, {})
            self.assertEqual(shard, block, filter_.shape)

    def test_refused(self):
        error = ndconv.SettingsError
        for sentence, settings in (("must be one of", {"runner": "ray"}),
                                   ("workers must be", {"workers": 0}),
                                   ("block is", {"block": (1, 1)}),
                                   ("block is", {"block": (1.5, 2, 2, 2)}),
                                   ("block is", {"block": "1234"}),
                                   ("border is 'zero'", {"border": "zero"}),
                                   ("with exact it must be", {
                                       "exact": True, "method": "fft"}),
                                   ("name all of them", {"axes": "zyx"})):
            with self.assertRaisesRegex(error, sentence):
                ndconv.run(self.source, self.target, filter=W, **settings)
        with self.assertRaisesRegex(error, "extension of a recording"):
            ndconv.run(self.source, self.folder / "out.nii.gz", filter=W)
        with self.assertRaisesRegex(error, "one response"):
            ndconv.run(self.source, self.target, filter="monomial-bank,size=3")
        with self.assertRaisesRegex(ndconv.FileError, "cannot be opened"):
            ndconv.run(self.folder / "none.zarr", self.target, filter=W)
        with self.assertRaisesRegex(ndconv.FileError, "names differ in"):
            ndconv.run(self.folder, self.target, filter=W)
        zarr.create_group(str(self.folder / "group.zarr"))
        with self.assertRaisesRegex(ndconv.FormatError, "OME-Zarr"):
            ndconv.run(self.folder / "group.zarr", self.target, filter=W)
        self.make(self.folder / "f8.zarr", self.x.astype("f8"))
        with self.assertRaisesRegex(TypeError, "float64"):
            ndconv.run(self.folder / "f8.zarr", self.target, filter=W)
        self.target.mkdir()
        with self.assertRaisesRegex(error, "not by this function"):
            ndconv.run(self.source, self.target, filter=W)
        with self.assertRaisesRegex(ndconv.FileError, "No file matches"):
            ndconv.run(str(self.folder / "x*.zarr"), self.target, filter=W)


if __name__ == "__main__":
    unittest.main(verbosity=2)
