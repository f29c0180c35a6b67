# Runs over archives whose disk becomes full: a small file system in memory, in
# name spaces of its own. Skipped if the system does not allow them. Needs zarr 3.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import pathlib
import shutil
import subprocess
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

NAMES = ("a", "large", "z")
W = "box,size=3"


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        # 2 MiB: the large output of 3.2 MB does not fit, the others of 0.3 do.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none",
                        self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=True)
        source = np.random.default_rng(5)
        self.volumes = {name: source.random(
            (20 if name == "large" else 2, 10, 40, 100), "f4")
            for name in NAMES}
        self.outputs = self.disk / "outputs"

    def make_recordings(self):
        for name, volumes in self.volumes.items():
            np.save(self.folder / f"{name}.npy", volumes)
        return [self.folder / f"{name}.npy" for name in NAMES]

    def make_stores(self):
        for name, x in self.volumes.items():
            zarr.create_array(str(self.folder / f"{name}.zarr"), shape=x.shape,
                              dtype="f4", chunks=(1, *x.shape[1:]))[...] = x
        return [self.folder / f"{name}.zarr" for name in NAMES]

    def grow(self):
        subprocess.run(["mount", "-o", "remount,size=64m", self.disk],
                       check=True)

    def check(self, kind):
        """All outputs are there and right, and nothing else."""
        for name, x in self.volumes.items():
            path = self.outputs / f"{name}.{kind}"
            found = (np.load(path) if kind == "npy" else
                     zarr.open_group(str(path), mode="r")["0"][...])
            np.testing.assert_array_equal(
                found, ndconv.convolve(x, W, method="separable"), name)
        self.assertEqual({path.name for path in self.outputs.iterdir()}
                         - {".ndconv"}, {f"{name}.{kind}" for name in NAMES})

    def check_run(self, inputs, kind, **options):
        def run():
            return ndconv.run(inputs, self.outputs, filter=W, exact=True,
                              retries=1, **options)
        report = run()
        failed = {pathlib.Path(failure.input).stem: failure.message
                  for failure in report.failed}
        self.assertIn(f"large.{kind}", failed["large"])
        # Another worker may meet the disk that the large output fills.
        for message in failed.values():
            self.assertIn("No space left", message)
        self.assertEqual(sorted([*failed, *(pathlib.Path(path).stem for path
                                            in report.outputs)]),
                         sorted(NAMES))
        self.assertFalse((self.outputs / f"large.{kind}").exists())
        self.grow()
        report = run()
        self.assertEqual((report.failed, report.skipped > 0), ([], True))
        self.check(kind)

    def test_recordings(self):
        self.check_run(self.make_recordings(), "npy", workers=2)

    def test_stores(self):
        inputs = self.make_stores()
        for version in ("0.4", "0.5"):
            with self.subTest(version):
                self.check_run(inputs, "zarr",
                               output_format=f"ome-zarr-{version}",
                               block=(20, 10, 40, 100))
                shutil.rmtree(self.outputs)
                subprocess.run(["mount", "-o", "remount,size=2m", self.disk],
                               check=True)

    def test_dask(self):
        try:
            import distributed  # pylint: disable=unused-import
        except ImportError as error:
            self.skipTest(str(error))
        self.check_run(self.make_recordings(), "npy", runner="dask")

    def test_blocks(self):
        """Finished blocks stay, and the second start does the rest."""
        source = self.make_stores()[1]
        target = self.outputs / "large.zarr"
        self.outputs.mkdir()
        options = {"filter": W, "exact": True, "block": (2, 10, 40, 100),
                   "compression": "none", "retries": 0}
        report = ndconv.run(source, target, **options)
        self.assertGreater(len(report.failed), 1)
        self.assertGreater(report.finished, 1)
        self.assertFalse(target.exists())
        self.grow()
        again = ndconv.run(source, target, **options)
        self.assertEqual((again.failed, again.skipped),
                         ([], report.finished))
        np.testing.assert_array_equal(
            zarr.open_group(str(target), mode="r")["0"][...],
            ndconv.convolve(self.volumes["large"], W, method="separable"))

    def test_full_from_the_start(self):
        """Not even the folder of the run fits."""
        source = self.make_stores()[0]
        ballast = self.disk / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        target = self.disk / "a.zarr"
        with self.assertRaisesRegex(ndconv.FileError, "a.zarr cannot be "
                                    "written: No space left"):
            ndconv.run(source, target, filter=W)
        self.assertFalse(target.exists())
        ballast.unlink()
        self.assertEqual(ndconv.run(source, target, filter=W).failed, [])

    def test_program(self):
        inputs = self.make_recordings()
        command = [sys.executable, "-m", "ndconv._program", *map(str, inputs),
                   str(self.outputs), "--filter", W, "--exact", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("No space left", done.stderr)
        self.assertIn("large.npy", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.grow()
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check("npy")


def enter():
    """Runs this test as root of name spaces of its own."""
    command = ["unshare", "--user", "--map-root-user", "--mount"]
    mount = ["sh", "-c", "mount -t tmpfs -o size=1m none /mnt"]
    if not shutil.which("unshare") or subprocess.run(
            command + mount, capture_output=True, check=False).returncode:
        print("skipped: this system allows no mounts in name spaces")
        sys.exit(77)
    os.execvp("unshare", [*command, sys.executable, *sys.argv, "inside"])


if __name__ == "__main__":
    if sys.argv[-1] != "inside":
        enter()
    sys.argv.pop()
    unittest.main(verbosity=2)
