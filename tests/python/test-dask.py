# Runs over archives by workers of Dask: the same samples, workers that die,
# damaged inputs, cancellation. Needs zarr 3 and distributed.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import numpy as np
    import zarr
    import distributed
    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(f"zarr {zarr.__version__} is too old")
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv
from ndconv import _dask

SETTINGS = {"filter": "gaussian,sigma=<0.7,0.8,0.5,0.5>", "exact": True,
            "block": (2, 5, 8, 8), "runner": "dask"}


SBATCH = r"""#!/bin/bash
script=${@: -1}
cp "$script" "$FOLDER/$$.sh"
setsid bash "$FOLDER/$$.sh" >"$FOLDER/$$.log" 2>&1 </dev/null &
ln "$FOLDER/$$.sh" "$FOLDER/$!.sh"
echo $! >>"$FOLDER/jobs"
echo "Submitted batch job $!"
"""
SCANCEL = r"""#!/bin/bash
for job in "$@"; do
  echo "$job" >>"$FOLDER/ended"
  kill -- "-$job"
done
"""


class Dask(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None)
        cls.client = distributed.Client(cls.cluster)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.x = np.random.default_rng(2).normal(
            0, 9, (6, 10, 20, 30)).astype("f4")
        self.source = self.folder / "in.zarr"
        self.target = self.folder / "out.zarr"
        zarr.create_array(str(self.source), shape=self.x.shape, dtype="f4",
                          chunks=(2, 5, 8, 8))[...] = self.x

    def check(self):
        found = zarr.open_group(str(self.target), mode="r")["0"][...]
        np.testing.assert_array_equal(found, ndconv.convolve(
            self.x, SETTINGS["filter"], method="separable"))

    def run_it(self, **more):
        return ndconv.run(self.source, self.target, client=self.client,
                          **{**SETTINGS, **more})

    def test_killed_workers(self):
        """Workers die again and again; the output is whole."""
        killed = []

        def kill(done, _total):
            if done < (3, 12, 30, 1000)[len(killed)]:
                return
            # One that is being started has no process yet.
            pids = [worker.pid for worker in self.cluster.workers.values()]
            for pid in pids:
                if pid and pid not in killed:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                    return
        report = self.run_it(progress=kill)
        self.assertGreaterEqual(len(killed), 1)
        self.assertEqual((report.failed, report.finished), ([], 72))
        self.assertEqual(report.samples, self.x.size)
        self.assertEqual(report.outputs, [str(self.target)])
        self.check()
        self.assertEqual(self.run_it().skipped, 72)

    def test_cancelled(self):
        """Ctrl-C leaves nothing under the final name, and the rest is done
        later."""
        def stop(done, _total):
            if done == 3:
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.run_it(progress=stop)
        self.assertFalse(self.target.exists())
        report = self.run_it()
        self.assertGreaterEqual(report.skipped, 3)
        self.check()

    def test_damaged_input(self):
        chunk = next(p for p in sorted(self.source.rglob("*"))
                     if p.is_file() and p.name != "zarr.json")
        chunk.write_bytes(b"nothing")
        report = self.run_it(filter="box,size=1", retries=1)
        self.assertEqual((len(report.failed), report.retried), (1, 1))
        self.assertEqual(report.finished, 71)
        self.assertFalse(self.target.exists())

    def test_share(self):
        """Workers of a host share its cores."""
        self.client.wait_for_workers(2, timeout=300)
        self.assertEqual(_dask._find_per_host(self.client), 2)

    def test_program(self):
        """It starts workers, or uses those of a cluster."""
        command = [sys.executable, "-m", "ndconv._program", self.source,
                   self.target, "--exact", "--block", "8:8:5:2", "--filter",
                   SETTINGS["filter"], "--runner", "dask"]
        more = ["--scheduler", self.cluster.scheduler_address]
        for arguments in (more, []):
            done = subprocess.run([*map(str, command), *arguments],
                                  capture_output=True, text=True, timeout=300,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check()

    def test_jobs_of_slurm(self):
        """Workers that dask-jobqueue submits, to an sbatch that starts them
        here; no job is left."""
        try:
            import dask_jobqueue    # pylint: disable=W0611,C0415
        except ImportError as error:
            self.skipTest(str(error))
        programs = self.folder / "bin"
        programs.mkdir()
        for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        with unittest.mock.patch.dict(os.environ, {
                "FOLDER": str(self.folder),
                "PATH": f"{programs}:{os.environ['PATH']}"}):
            report = ndconv.run(
                self.source, self.target, workers=2, n_threads=3,
                slurm={"memory": "1GB", "queue": "short", "interface": "lo"},
                **{**SETTINGS, "runner": "slurm"})
        self.assertEqual((report.failed, report.finished), ([], 72))
        self.check()
        pids = (self.folder / "jobs").read_text().split()
        self.assertGreaterEqual(len(pids), 2)
        self.assertEqual(set(pids),
                         set((self.folder / "ended").read_text().split()))
        job = (self.folder / f"{pids[0]}.sh").read_text()
        for option in ("-p short", "--cpus-per-task=3", "--mem="):
            self.assertIn(f"#SBATCH {option}", job)
        with self.assertRaisesRegex(ndconv.SettingsError, "needs the memory"):
            ndconv.run(self.source, self.folder / "b.zarr",
                       **{**SETTINGS, "runner": "slurm"})

    def test_refused(self):
        with self.assertRaisesRegex(ndconv.SettingsError, "distributed.Client"):
            ndconv.run(self.source, self.target, client="here", **SETTINGS)
        with self.assertRaisesRegex(ndconv.SettingsError, "runner='dask'"):
            self.run_it(runner="local")


class Lazy(unittest.TestCase):
    """Arrays of Dask stay lazy, and have the samples of whole arrays."""
    def setUp(self):
        # Debian's SciPy is not for the NumPy of these tests.
        sys.modules.setdefault("scipy", None)
        try:
            import dask.array
        except ImportError as missing:
            self.skipTest(str(missing))
        self.da = dask.array
        self.x = np.random.default_rng(3).normal(
            size=(5, 11, 13, 17)).astype("f4")

    def check(self, x, chunks, filter, **settings):
        expected = ndconv.convolve(x, filter, **settings)
        read = []

        def note(block):
            read.append(block.shape)
            return block
        lazy = self.da.from_array(x, chunks=chunks).map_blocks(
            note, dtype=x.dtype, meta=x[..., :0])
        found = ndconv.convolve(lazy, filter, **settings)
        self.assertEqual((found.shape, found.dtype, read),
                         (expected.shape, expected.dtype, []))
        np.testing.assert_array_equal(found.compute(scheduler="sync"),
                                      expected)
        return found

    def test_blocks(self):
        for border in "constant", "nearest", "reflect", "mirror", "wrap":
            for filter in ("gaussian,sigma=1", "box,size=4:3:2:2",
                           "box,size=3;box,size=5"):
                self.check(self.x, (2, 4, 7, 17), filter, border=border,
                           method="direct")
        self.check(self.x, (5, 3, 5, 2), "box,size=3", origin=-1,
                   method="direct", time_border="wrap")
        self.check(self.x, 4, "box,size=3", axes="yx", method="direct")
        self.check(self.x, (2, 4, 7, 17), "gaussian,sigma=1", method="direct",
                   border=("constant", "reflect", "wrap", "mirror"))

    def test_types(self):
        x = np.random.default_rng(5).integers(-99, 99, (30, 40))
        for dtype in "i8", "u8", "i4", "?":
            self.check(abs(x).astype(dtype), (9, 11), "box,size=3",
                       method="direct")
        self.check(x.astype("f4"), (9, 11), "box,size=3", method="direct",
                   output_type="int64")

    def test_components(self):
        x = np.random.default_rng(4).integers(0, 99, (3, 16, 18, 3)).astype("u1")
        self.check(x, (1, 8, 9, 1), "box,size=3", axes="yxc", method="direct")
        self.check(self.x, (2, 4, 7, 17), "quadrature", axes="zyx",
                   method="direct")

    def test_refused(self):
        lazy = self.da.from_array(self.x, chunks=4)
        with self.assertRaisesRegex(ndconv.SettingsError, "of Dask"):
            ndconv.convolve(lazy, "box,size=3", out=self.x)
        with self.assertRaises(TypeError):
            ndconv.convolve(lazy.astype("U1"), "box,size=3")
        with self.assertRaises(ndconv.SettingsError):
            ndconv.convolve(lazy, "box,size=3", border="none")

    def test_wrong_device(self):
        for settings in ({"device_id": 7}, {"devices": "0,7"},
                         {"devices": [7]}):
            with self.assertRaisesRegex(ndconv.SettingsError, "has the GPU"):
                ndconv.convolve(self.x, "box,size=3", **settings)
        ndconv.convolve(self.x, "box,size=3", backend="cpu", device_id=7)


if __name__ == "__main__":
    unittest.main(verbosity=2)
