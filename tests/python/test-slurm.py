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

    def test_planted(self):
        """Jobs in a folder of others run none of its modules, in no process."""
        planted = self.folder / "planted"
        planted.mkdir()
        for name in ("numpy", "ndconv", "json", "pickle", "multiprocessing",
                     "socket", "selectors", "shlex", "pathlib", "signal",
                     "sitecustomize"):
            (planted / f"{name}.py").write_text(
                f"open({str(self.folder / 'stolen')!r}, 'a').write('{name} ')\n")
        self.assertEqual(self.write().returncode, 0)
        done = subprocess.run(
            ["bash", str(self.folder / "job.sh")], capture_output=True,
            text=True, timeout=300, check=False, cwd=planted,
            env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_not_stolen()
        self.assertIn("5 outputs, 0 tasks",
                      (self.folder / "log").read_text())
        # Processes of this machine.
        code = ("import sys; sys.path.remove(''); import ndconv; print("
                "ndconv.run(sys.argv[1], sys.argv[2], filter='box,size=3'))")
        done = subprocess.run(
            [sys.executable, "-c", code, str(self.folder / "a*.nii"),
             str(self.folder / "other")], capture_output=True, text=True,
            timeout=300, check=False, cwd=planted, env=self.environment)
        self.assertIn("5 outputs, 5 tasks", done.stdout, done.stderr)
        self.check_not_stolen()

    def check_not_stolen(self):
        stolen = self.folder / "stolen"
        self.assertEqual(stolen.read_text() if stolen.exists() else "", "")

    def test_names(self):
        """Names and options are words, and no lines or commands."""
        stolen = self.folder / "stolen"
        for name in ("$(touch stolen) `touch stolen`; touch stolen.sh",
                     "a'b\"c\\d # {work} %s.sh"):
            for path in self.folder.glob("submitted"):
                path.unlink()
            script = self.folder / name
            done = self.write("--slurm", script,
                              "--slurm-options=--comment='$(touch stolen) `x`'")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = subprocess.run(
                ["bash", str(script)], capture_output=True, text=True,
                timeout=300, check=False, cwd=self.folder, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(stolen.exists())
            self.assertIn("--comment=$(touch stolen) `x`",
                          (self.folder / "submitted").read_text())
            for path in (self.folder / "out").glob("*.nii"):
                path.unlink()
        for bad in ("a\ntouch stolen", "a\rb", "a\x1b[2J", "a\u2028b"):
            done = self.write("--slurm", self.folder / (bad + ".sh"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("characters that a script cannot have", done.stderr)
            done = self.write(f"--slurm-options=--mem=1G {bad}")
            self.assertEqual(done.returncode, 2)
        self.assertEqual(self.write("--slurm-options='").returncode, 2)
        # Names of inputs and outputs are in the plan, not in the script.
        odd = self.folder / "new\nline $(touch stolen) `x` '.nii"
        os.rename(self.folder / "a0.nii", odd)
        done = self.run_it([
            sys.executable, "-m", "ndconv._program", "--filter", W, "--slurm",
            self.folder / "job.sh", odd, self.folder / "a1.nii",
            self.folder / "odd"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 outputs, 0 tasks", self.submit())
        self.assertTrue((self.folder / "odd" / odd.name).exists())
        self.assertFalse(stolen.exists())

    def test_cut(self):
        """An output that was cut is made again, or the last job names it."""
        self.assertEqual(self.write().returncode, 0)
        self.assertIn("5 outputs", self.submit())
        output = self.folder / "out" / "a2.nii"
        whole = output.read_bytes()
        os.truncate(output, len(whole) // 2)
        log = self.submit(KILLED="2").splitlines()
        self.assertTrue(any("a2.nii is not as it was written" in line
                            for line in log))
        self.assertTrue(any("a2.nii: is missing" in line for line in log))
        self.assertIn("5 outputs", self.submit().splitlines()[-1])
        self.assertEqual(output.read_bytes(), whole)


if __name__ == "__main__":
    unittest.main(verbosity=2)
