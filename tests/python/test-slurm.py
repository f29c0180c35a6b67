# Array jobs of Slurm: the script that ndconv-run --slurm writes, submitted to an
# sbatch that runs the jobs at once.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import pathlib
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

W = "gaussian,sigma=<0.7,0.8,0.5,0.5>"
# As sbatch --parsable. The job KILLED never runs.
SBATCH = r"""#!/bin/bash
echo "$@" >>"$FOLDER/submitted"
array=0-0
while [ $# -gt 0 ]; do
  case $1 in
    --array=*) array=${1#*=} ;;
    --wrap) wrap=$2 ;;
  esac
  shift
done
for i in $(seq "${array%-*}" "${array#*-}"); do
  [ "$i" = "${KILLED:-}" ] && [[ $wrap != *check ]] ||
    SLURM_ARRAY_TASK_ID=$i bash -c "$wrap" >>"$FOLDER/log" 2>&1
done
echo '12;cluster'
"""


class Slurm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        sbatch = self.folder / "bin" / "sbatch"
        sbatch.write_text(SBATCH)
        sbatch.chmod(0o755)
        self.environment = dict(
            os.environ, FOLDER=folder.name,
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")
        random = np.random.default_rng(1)
        self.arrays = {}
        for i in range(5):
            x = random.integers(0, 99, (3, 4, 5, 6)).astype("u1")
            self.arrays[f"a{i}.nii"] = x
            with ndconv.RecordingWriter(self.folder / f"a{i}.nii", x.shape[1:],
                                        "u1") as writer:
                for volume in x:
                    writer.write(volume)

    def run_it(self, command, **environment):
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True,
            timeout=300, check=False, env={**self.environment, **environment})

    def write(self, *arguments):
        return self.run_it([
            sys.executable, "-m", "ndconv._program", "--filter", W, "--exact",
            "--workers", 3, "--slurm", self.folder / "job.sh",
            "--slurm-options=--mem=1G --partition=short", *arguments,
            self.folder / "a*.nii", self.folder / "out"])

    def submit(self, **environment):
        done = self.run_it(["bash", self.folder / "job.sh"], **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "log").read_text()

    def test_array(self):
        done = self.write("--n-threads", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("submits 5 tasks", done.stdout)
        # A job that dies is named by the last one.
        log = self.submit(KILLED="1")
        for name in ("a1.nii", "a4.nii"):
            self.assertIn(f"{name}: is missing", log)
            self.assertFalse((self.folder / "out" / name).exists())
        submitted = (self.folder / "submitted").read_text()
        for option in ("--array=0-2", "--cpus-per-task=2", "--partition=short",
                       "--dependency=afterany:12 "):
            self.assertIn(option, submitted)
        # The same script goes on.
        self.assertIn("5 outputs, 0 tasks", self.submit())
        for name, x in self.arrays.items():
            found = np.stack(list(ndconv.Recording(self.folder / "out" / name)))
            np.testing.assert_array_equal(
                found, ndconv.convolve(x, W, method="separable"))
        self.assertIn("All outputs are there", self.write().stdout)

    def test_refused(self):
        self.assertEqual(self.write("--border", "zero").returncode, 2)
        self.assertFalse((self.folder / "job.sh").exists())
        (self.folder / "a5.nii").write_bytes(b"damaged")
        done = self.write()
        self.assertEqual(done.returncode, 1)
        self.assertIn("a5.nii", done.stderr)
        self.assertIn("5 outputs, 0 tasks", self.submit())


if __name__ == "__main__":
    unittest.main(verbosity=2)
