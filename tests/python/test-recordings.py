# Recordings in files: read, written, and filtered by runs over archives.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import concurrent.futures
import fractions
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv
from ndconv import _archive, _ledger, _planning

W = "gaussian,sigma=<0.7,0.8,0.5,0.5>"
# Two volumes per second, 2 x 3 x 4 mm.
NRRD = """NRRD0005
type: uint8
dimension: 4
sizes: 9 8 5 6
space: right-anterior-superior
space directions: (2,0,0) (0,3,0) (0,0,4) none
kinds: domain domain domain time
spacings: nan nan nan 0.5
encoding: raw

"""


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = np.random.default_rng(5)
        (self.folder / "out").mkdir()

    def make(self, name, shape, dtype="int16", **more):
        """A recording of random volumes of @shape, t first."""
        x = self.random.integers(0, 100, shape).astype(dtype)
        volume = x.reshape(x.shape[:1] + (1,) * (4 - x.ndim) + x.shape[1:])
        with ndconv.RecordingWriter(self.folder / name, volume.shape[1:],
                                    dtype, volumes=len(x), **more) as writer:
            for one in volume:
                writer.write(one)
        return x

    def read(self, name, raw=None):
        return np.stack(list(ndconv.Recording(self.folder / name, raw)))

    def test_files(self):
        for name, dtype, shape in (("a.nii.gz", "int16", (5, 4, 6, 7)),
                                   ("a.npy", "float32", (5, 4, 6, 7)),
                                   ("b.nrrd", "uint8", (2, 4, 6, 7, 3)),
                                   ("c.nii", "complex64", (3, 4, 6, 7)),
                                   ("d.nii", "complex128", (3, 4, 6, 7)),
                                   ("d.mha", "float64", (3, 4, 6, 7))):
            x = self.make(name, shape, dtype)
            with ndconv.Recording(self.folder / name) as found:
                self.assertEqual((found.shape, found.dtype), (shape, dtype))
                for t in (1, 0, shape[0] - 1, 0):
                    np.testing.assert_array_equal(found.read(t), x[t])
                self.assertIsNone(found.rate)
                self.assertEqual((len(found), found.warnings), (len(x), []))
                with self.assertRaisesRegex(ndconv.SettingsError, "Volume 9"):
                    found.read(9)
                with self.assertRaises(ndconv.SettingsError):
                    found.read(-1)
        with self.assertRaisesRegex(ndconv.FileError, "none.nii"):
            ndconv.Recording(self.folder / "none.nii")
        with self.assertRaisesRegex(ndconv.SettingsError, "int64"):
            ndconv.RecordingWriter(self.folder / "d.nii", (1, 2, 3), "i8")
        writer = ndconv.RecordingWriter(self.folder / "d.nii", (1, 2, 3), "u1")
        with self.assertRaisesRegex(ndconv.SettingsError, "shape"):
            writer.write(np.zeros((1, 2, 4), "u1"))

    def test_as_array(self):
        """NumPy gets all volumes, also as another type."""
        for name, dtype, shape in (("a.nii.gz", "int16", (5, 4, 6, 7)),
                                   ("b.nrrd", "uint8", (2, 4, 6, 7, 3)),
                                   ("c.nii", "complex64", (3, 4, 6, 7))):
            x = self.make(name, shape, dtype)
            with ndconv.Recording(self.folder / name) as recording:
                for found in (np.asarray(recording), np.array(recording),
                              recording.__array__(copy=True)):
                    self.assertEqual(found.dtype, dtype)
                    np.testing.assert_array_equal(found, x)
                found = np.asarray(recording, "complex128")
                self.assertEqual(found.dtype, "complex128")
                np.testing.assert_array_equal(found, x)
                with self.assertRaisesRegex(ValueError, "without a copy"):
                    recording.__array__(copy=False)
            with self.assertRaisesRegex(ValueError, "is closed"):
                np.asarray(recording)

    def test_numbered(self):
        """Files of a folder, and of a pattern, are one recording."""
        series = self.folder / "series"
        series.mkdir()
        x = np.stack([self.make(f"series/v{n}.nrrd", (1, 4, 6, 7), "uint8")[0]
                      for n in (9, 10, 11)])
        for path in series, series / "v%d.nrrd":
            found = ndconv.Recording(path)
            np.testing.assert_array_equal(
                [found.read(n) for n in range(len(found))], x)
            target = self.folder / f"{path.name[0]}.npy"
            for done in (0, 1):
                report = ndconv.run(path, target, filter="box,size=1")
                self.assertEqual((report.failed, report.finished), ([], 1 - done))
            np.testing.assert_array_equal(np.load(target), x)

    def test_closed(self):
        """Closed objects say so; a writer keeps the metadata that it needs."""
        (self.folder / "a.nrrd").write_bytes(NRRD.encode() + bytes(9 * 8 * 5
                                                                   * 6))
        like = ndconv.Recording(self.folder / "a.nrrd")
        writer = ndconv.RecordingWriter(self.folder / "b.nrrd", (5, 8, 9),
                                        "u1", like=like)
        like.close()
        for use in (lambda: like.read(0), lambda: like.rate,
                    lambda: like.spacing, lambda: like.warnings,
                    lambda: ndconv.RecordingWriter(
                        self.folder / "c.nrrd", (5, 8, 9), "u1", like=like)):
            with self.assertRaisesRegex(ValueError, "is closed"):
                use()
        like.close()
        with writer:
            for _ in range(6):
                writer.write(np.ones((5, 8, 9), "u1"))
            writer.finish()
            for use in (writer.finish,
                        lambda: writer.write(np.ones((5, 8, 9), "u1"))):
                with self.assertRaisesRegex(ValueError, "is complete"):
                    use()
        with self.assertRaisesRegex(ValueError, "is closed"):
            writer.finish()
        with ndconv.Recording(self.folder / "b.nrrd") as found:
            self.assertEqual(found.rate, fractions.Fraction(2))
            self.assertEqual(found.spacing, (4.0, 3.0, 2.0))

    def test_threads(self):
        """Threads that share a recording take turns."""
        x = self.make("a.nii.gz", (9, 12, 40, 50))
        with ndconv.Recording(self.folder / "a.nii.gz") as recording:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                order = list(self.random.permutation(9)) * 3
                for t, volume in zip(order, pool.map(recording.read, order)):
                    np.testing.assert_array_equal(volume, x[t])

    def check(self, name, x, filter_=W, raw=None, **settings):
        """Runs a filter over one recording."""
        report = ndconv.run(self.folder / name, self.folder / "out" / name,
                            filter=filter_, exact=True, raw=raw, **settings)
        self.assertEqual((report.failed, report.finished), ([], 1))
        found = self.read(f"out/{name}", raw)
        wanted = ndconv.convolve(x, filter_, method="separable", **settings)
        np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
        return report

    def test_saturation(self):
        """The report has the share of outputs that do not fit in their type."""
        x = np.zeros((4, 5, 6, 10), "u1")
        x[..., :3] = 100
        np.save(self.folder / "s.npy", x)
        for axes in ("tzyx", "zyx"):    # by volumes, and as a whole
            report = self.check("s.npy", x, np.full((1,) * len(axes), 3.0),
                                axes=axes)
            self.assertAlmostEqual(report.saturated, 0.3)
            self.assertIn("30 % of the outputs do not fit", str(report))
            (self.folder / "out" / "s.npy").unlink()
            shutil.rmtree(self.folder / "out" / ".ndconv")
        self.assertNotIn("do not fit", str(self.check(
            "s.npy", x, np.ones((1, 1, 1, 1)))))

    def test_formats(self):
        """Each format, and axes of all kinds."""
        x = self.make("a.nii.gz", (5, 4, 6, 7))
        report = self.check("a.nii.gz", x)
        self.assertEqual((report.volumes, report.read, report.written),
                         (5, x.nbytes, x.nbytes))
        x = self.make("a.nrrd", (6, 4, 6, 7), "uint16", compress=True)
        self.check("a.nrrd", x, time_border="mirror")
        self.assertIn("compressed", ndconv.Recording(
            self.folder / "out" / "a.nrrd").format)
        x = self.make("a.mhd", (6, 4, 6, 7), "float32")
        self.check("a.mhd", x, time_border="wrap")
        x = self.make("b.npy", (4, 6, 7, 8), "float32")
        self.check("b.npy", x, "box,size=3", axes="zyx")
        x = self.make("film.npy", (7, 6, 9), "uint8")
        self.check("film.npy", x, "box,size=3:2:2", axes="tyx")
        x = self.make("colour.nrrd", (4, 5, 6, 7, 3), "uint8")
        self.check("colour.nrrd", x, axes="tzyxc")
        x = self.make("one.nii", (1, 5, 6, 7), "float32")
        self.check("one.nii", x[0], "box,size=3")
        x = self.make("c.nii", (3, 5, 6, 7), "complex64")
        self.check("c.nii", x)
        x = self.make("samples.raw", (3, 5, 6, 7))
        self.check("samples.raw", x, raw=ndconv.Raw((5, 6, 7), "int16"))
        self.assertEqual(sorted(os.listdir(self.folder / "out" / ".ndconv"
                                           / "unfinished")), [])

    def test_metadata(self):
        (self.folder / "heart.nrrd").write_bytes(
            NRRD.encode() + self.random.bytes(9 * 8 * 5 * 6))
        ndconv.run(self.folder / "heart.nrrd", self.folder / "out.nrrd",
                   filter=W, output_type="float32", workers=2)
        found = ndconv.Recording(self.folder / "out.nrrd")
        self.assertEqual((found.rate, found.spacing, found.dtype),
                         (fractions.Fraction(2), (4.0, 3.0, 2.0), "float32"))

    def test_archive(self):
        """A pattern with damaged inputs; the run goes on where it ended."""
        arrays = {name: self.make(name, (3, 4, 5, 6)) for name in
                  ("a1.nii", "a2.nii", "a3.nii.gz", "a4.nrrd")}
        (self.folder / "a5.nii").write_bytes(b"damaged")
        os.truncate(self.folder / "a4.nrrd",
                    (self.folder / "a4.nrrd").stat().st_size - 1)
        content = bytearray((self.folder / "a3.nii.gz").read_bytes())
        content[-20:-10] = bytes(10)
        (self.folder / "a3.nii.gz").write_bytes(content)
        settings = {"filter": W, "exact": True, "workers": 2, "retries": 1}
        out = self.folder / "out"

        def run():
            return ndconv.run(str(self.folder / "a*.*"), out, **settings)
        report = run()
        self.assertEqual(sorted(pathlib.Path(f.input).name
                                for f in report.failed),
                         ["a3.nii.gz", "a4.nrrd", "a5.nii"])
        self.assertEqual((report.finished, report.retried), (2, 1))
        self.assertIn("a3.nii.gz", str(report))
        self.assertEqual(sorted(os.listdir(out)),
                         [".ndconv", "a1.nii", "a2.nii"])
        # The rest comes later, and nothing is computed twice.
        for name in ("a3.nii.gz", "a4.nrrd"):
            arrays[name] = self.make(name, (3, 4, 5, 6))
        os.remove(self.folder / "a5.nii")
        report = run()
        self.assertEqual((report.finished, report.skipped, report.failed),
                         (2, 2, []))
        for name, x in arrays.items():
            np.testing.assert_array_equal(
                self.read(f"out/{name}"),
                ndconv.convolve(x, W, method="separable"))
        settings["border"] = "mirror"
        report = run()
        self.assertEqual(len(report.failed), 4)
        self.assertIn("other settings", str(report))

    def test_truncated(self):
        """Whole volumes are kept on request, and the report says so."""
        x = self.make("a.nrrd", (4, 3, 5, 6))
        path = self.folder / "a.nrrd"
        os.truncate(path, path.stat().st_size - 1)
        with self.assertRaisesRegex(ndconv.FileError, "truncated=keep"):
            ndconv.Recording(path)
        with self.assertRaisesRegex(ndconv.SettingsError, "'refuse' or 'keep'"):
            ndconv.Recording(path, truncated="yes")
        recording = ndconv.Recording(path, truncated="keep")
        self.assertEqual(recording.shape, (3, 3, 5, 6))
        self.assertIn("the 3 whole ones are read", recording.warnings[0])
        np.testing.assert_array_equal(recording.read(2), x[2])
        with self.assertRaises(ndconv.FileError):
            ndconv.run(path, self.folder / "b.nrrd", filter=W)
        report = ndconv.run(path, self.folder / "b.nrrd", filter=W, exact=True,
                            truncated="keep")
        self.assertIn("the 3 whole ones are read", str(report))
        np.testing.assert_array_equal(self.read("b.nrrd"), ndconv.convolve(
            x[:3], W, method="separable"))

    def test_many(self):
        """Each of many small recordings is one task."""
        self.make("a.nii", (2, 2, 4, 5), "uint8")
        for i in range(1000):
            shutil.copy(self.folder / "a.nii", self.folder / f"b{i}.nii")
        ledger = _ledger.Ledger(0, None)
        _archive.plan(ledger, _planning.Options(W, {}), _planning.find_pairs(
            str(self.folder / "b*.nii"), self.folder / "out", None))
        self.assertEqual((len(ledger.tasks), ledger.failed), (1000, []))

    def test_refused(self):
        x = self.make("a.nii", (3, 4, 5, 6))
        target = self.folder / "out" / "a.nii"
        for sentence, settings in (
                ("none of the extensions", {"output": "b.xyz"}),
                ("axes is 'yx' without z", {"axes": "yx"}),
                ("components last", {"axes": "tczyx"}),
                ("block is for", {"block": (1, 4, 5, 6)}),
                ("needs axes with t", {"axes": "zyx", "output": "b.zarr"}),
                ("output_format is", {"output_format": "tiff"}),
                ("compression is", {"compression": "lzma"})):
            with self.assertRaisesRegex(ndconv.SettingsError, sentence):
                ndconv.run(self.folder / "a.nii", self.folder
                           / settings.pop("output", "b.nii"),
                           filter="box,size=3", **settings)
        report = ndconv.run(self.folder / "a.nii", "/proc/none/a.nii",
                            filter=W, retries=0)
        self.assertIn("/proc/none/a.nii cannot be written", str(report))
        # Files of others stay.
        target.write_bytes(b"mine")
        with self.assertRaisesRegex(ndconv.SettingsError, "not by this"):
            ndconv.run(self.folder / "a.nii", target, filter=W)
        self.make("b.mhd", (3, 4, 5, 6))
        (self.folder / "out" / "b.raw").write_bytes(b"mine")
        report = ndconv.run(self.folder / "b.mhd", self.folder / "out/b.mhd",
                            filter=W, retries=0)
        self.assertIn("was not made by this function", str(report))
        self.assertEqual((self.folder / "out" / "b.raw").read_bytes(), b"mine")
        np.testing.assert_array_equal(self.read("a.nii"), x)

    def test_program(self):
        x = self.make("a.raw", (3, 4, 5, 6), "uint16")
        done = subprocess.run(
            [sys.executable, "-m", "ndconv._program", "--filter", W, "--exact",
             "--volume-size", "6:5:4", "--type", "uint16",
             str(self.folder / "a.raw"), str(self.folder / "b.raw")],
            capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(
            self.read("b.raw", ndconv.Raw((4, 5, 6), "uint16")),
            ndconv.convolve(x, W, method="separable"))

    def test_script_without_guard(self):
        """One sentence, and not the traceback of each worker."""
        self.make("a.nii", (2, 3, 4, 5))
        script = self.folder / "script.py"
        script.write_text(
            f"import ndconv\nndconv.run({str(self.folder / 'a.nii')!r}, "
            f"{str(self.folder / 'b.nii')!r}, filter={W!r}, workers=2)\n")
        done = subprocess.run([sys.executable, script], capture_output=True,
                              text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("Traceback"), 1, done.stderr)
        self.assertIn("under if __name__ == '__main__':",
                      done.stderr.splitlines()[-1])
        script.write_text("import ndconv\nif __name__ == '__main__':\n    "
                          + script.read_text().splitlines()[1])
        subprocess.run([sys.executable, script], timeout=300, check=True)
        self.assertTrue((self.folder / "b.nii").exists())

    def test_planted(self):
        """Links, pipes and folders that somebody else put into the folder."""
        self.make("a.nii", (2, 3, 4, 5))
        out, away = self.folder / "out", self.folder / "away"
        away.mkdir()

        def run():
            return ndconv.run(self.folder / "a.nii", out / "a.nii", filter=W,
                              retries=0)
        (out / ".ndconv").symlink_to(away)
        report = run()
        self.assertEqual(len(report.failed), 1)
        self.assertIn("is a link, a file, or a folder of another user",
                      str(report))
        self.assertEqual(os.listdir(away), [])
        (out / ".ndconv").unlink()
        # The ledger of an output, which is replaced and not followed.
        (out / ".ndconv").mkdir()
        (away / "secret").write_text("secret")
        ledger = out / ".ndconv" / "a.nii.json"
        ledger.symlink_to(away / "secret")
        self.assertEqual(run().failed, [])
        self.assertEqual((away / "secret").read_text(), "secret")
        self.assertFalse(ledger.is_symlink())
        # A pipe: reading it would wait for ever.
        ledger.unlink()
        os.mkfifo(ledger)
        with self.assertRaisesRegex(ndconv.SettingsError, "other settings"):
            run()
        ledger.unlink()
        if os.geteuid() == 0:
            shutil.rmtree(out)
            (out / ".ndconv").mkdir(parents=True)
            os.chown(out / ".ndconv", 65534, 65534)
            self.assertEqual(len(run().failed), 1)

    def test_names_in_messages(self):
        """Escapes of a terminal in names of files."""
        name = "\x1b[31m\u202ea\udc9b.nii"
        (self.folder / name).write_bytes(b"nothing")
        with self.assertRaises(ndconv.Error) as caught:
            ndconv.Recording(self.folder / name)
        self.assertIn("\\x1b[31m\\u202ea\\x9b.nii", str(caught.exception))
        self.assertEqual(str(ndconv.Error("\x07\n")), "\\x07\\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
