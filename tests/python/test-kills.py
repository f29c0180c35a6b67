# Runs over archives that are killed: at each change that a run makes to the
# folder of its outputs, half way through each write, and workers of both runners
# at random moments. The started-again run makes the same files, byte for byte,
# and nothing incomplete ever has a final name. Needs zarr 3.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import contextlib
import ctypes
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
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
from ndconv import _archive, _ledger, _local, _planning

FAULTS = ctypes.CDLL(os.environ["ND_FAULTS"])
# Workers that are killed at random moments, by runner.
N_KILLS = int(os.environ.get("ND_KILLS", "4"))
SEED = int(os.environ.get("ND_SEED", time.time_ns() % 10 ** 6))
W = "gaussian,sigma=<0.7,0.8,0.5,0.5>"
KILLED = -signal.SIGKILL


def read_tree(folder):
    """The bytes of all files, by name."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Kills(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # As the system names it.
        self.folder = pathlib.Path(folder.name).resolve()
        self.outputs = self.folder / "outputs"
        self.x = np.random.default_rng(2).normal(
            0, 9, (5, 3, 9, 10)).astype("f4")
        print("seed", SEED)
        self.random = random.Random(SEED)

    def in_child(self, function, at=0):
        """Calls @function in a process that is killed at change number @at of
        the outputs. Returns its exit status."""
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                FAULTS.faults_arm(str(self.outputs).encode(), at)
                function()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def make_recording(self, name):
        with ndconv.RecordingWriter(self.folder / name, self.x.shape[1:],
                                    "f4") as writer:
            for volume in self.x:
                writer.write(volume)

    def check_everywhere(self, source, name, **options):
        """A run of one process, killed at each of its changes."""
        self.outputs.mkdir()
        target = self.outputs / name

        def run():
            ledger = _ledger.Ledger(0, None)
            _archive.plan(ledger, _planning.Options(
                W, {"n_threads": 1, "method": "direct"}, **options),
                [(str(source), str(target))])
            for task in ledger.tasks:
                ledger.done(task, task.do(1))
            report = ledger.report()
            if report.failed or report.outputs != [str(target)]:
                raise RuntimeError(str(report))

        def empty():
            for path in sorted(self.outputs.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()

        self.assertEqual(self.in_child(run), 0)
        whole = read_tree(self.outputs)
        at = 0
        while True:
            empty()
            at += 1
            status = self.in_child(run, at)
            if status == 0:
                break
            self.assertEqual(status, KILLED, at)
            # Also the second start, in every second case.
            if at % 2:
                status = self.in_child(run, self.random.randint(1, at + 9))
                self.assertIn(status, (0, KILLED), at)
            for path, found in read_tree(self.outputs).items():
                if not (".part/" in path or path.startswith(".ndconv")):
                    self.assertEqual(found == whole[path], True, (at, path))
            self.assertEqual(self.in_child(run), 0, at)
            found = read_tree(self.outputs)
            self.assertEqual(sorted(found), sorted(whole), at)
            self.assertEqual([path for path in whole
                              if found[path] != whole[path]], [], at)
        print(f"{name}: killed at each of {at - 1} changes, seed {SEED}")
        self.assertGreater(at, 9)
        return whole

    def make_store(self):
        def make():
            zarr.create_array(str(self.folder / "in.zarr"), shape=self.x.shape,
                              dtype="f4", chunks=(1, 3, 8, 8))[...] = self.x
        # Its threads would not be in the children.
        self.assertEqual(self.in_child(make), 0)
        return self.folder / "in.zarr"

    def test_shards(self):
        self.check_everywhere(self.make_store(), "out.zarr",
                              block=(2, 3, 16, 16))

    def test_chunks(self):
        self.check_everywhere(self.make_store(), "out.zarr",
                              block=(3, 3, 16, 16), compression="none",
                              output_format="ome-zarr-0.4")

    def test_recordings(self):
        for name in ("heart.nii.gz", "heart.nhdr"):
            self.make_recording(name)
        for name in ("heart.nii.gz", "heart.nhdr"):
            self.outputs = self.folder / name.replace(".", "-")
            self.check_everywhere(self.folder / name, name)

    def test_same_stem(self):
        """The end of heart.nii leaves the unfinished heart.nii.gz alone."""
        names = ("heart.nii", "heart.nii.gz")
        for name in names:
            self.make_recording(name)
        ledger = _ledger.Ledger(0, None)
        _archive.plan(ledger, _planning.Options(W, {}), [
            (str(self.folder / name), str(self.outputs / name))
            for name in names])
        unfinished = self.outputs / ".ndconv" / "unfinished"
        other, own = (unfinished / f"{name}.a1b2" for name in names[::-1])
        other.mkdir(parents=True)
        own.mkdir()
        ledger.done(ledger.tasks[0], ledger.tasks[0].do(1))
        self.assertEqual((other.exists(), own.exists()), (True, False))

    def check_random(self, runner, find_pids):
        """Workers of @runner are killed at random moments."""
        source = self.make_store()
        options = {"filter": W, "exact": True, "block": (1, 3, 8, 8)}
        self.outputs.mkdir()
        expected = ndconv.run(source, self.outputs / "a.zarr", **options)
        self.assertEqual(expected.failed, [])
        started, ended = threading.Event(), threading.Event()
        killed = []

        def kill():
            started.wait()
            while len(killed) < N_KILLS:
                if ended.wait(self.random.expovariate(10)):
                    return
                pids = [pid for pid in find_pids() if pid not in killed]
                if pids:
                    killed.append(self.random.choice(pids))
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(killed[-1], signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        runs = 0
        try:
            # Again until as many were killed.
            while len(killed) < N_KILLS:
                started.clear()
                target = self.outputs / f"b{runs}.zarr"
                report = ndconv.run(source, target, workers=2, retries=1000,
                                    runner=runner, **options,
                                    progress=lambda *_: started.set())
                self.assertEqual(report.failed, [])
                found, whole = (read_tree(path) for path in
                                (target, self.outputs / "a.zarr"))
                self.assertEqual([path for path in {**found, **whole} if
                                  found.get(path) != whole.get(path)], [])
                runs += 1
        finally:
            ended.set()
            started.set()
            thread.join()
        names = {path.name for path in self.outputs.iterdir()}
        self.assertEqual(names, {".ndconv", "a.zarr"} | {f"b{i}.zarr"
                                              for i in range(runs)})
        print(f"{runner}: {len(killed)} killed in {runs} runs, seed {SEED}")

    def test_random_local(self):
        runners = []
        original = _local.Local.run

        def run(runner):
            runners.append(runner)
            original(runner)
        _local.Local.run = run
        self.addCleanup(setattr, _local.Local, "run", original)
        self.check_random("local", lambda: [
            worker.process.pid for worker in runners[-1].workers
            if worker.ready])

    def test_random_dask(self):
        try:
            import distributed
        except ImportError as error:
            self.skipTest(str(error))
        clusters = []
        original = distributed.LocalCluster

        def make(*arguments, **options):
            clusters.append(original(*arguments, **options))
            return clusters[-1]
        distributed.LocalCluster = make
        self.addCleanup(setattr, distributed, "LocalCluster", original)
        self.check_random("dask", lambda: [
            worker.pid for worker in clusters[-1].workers.values()
            if worker.pid])


if __name__ == "__main__":
    unittest.main(verbosity=2)
