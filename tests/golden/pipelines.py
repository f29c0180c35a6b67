# Helpers of the tests in Python: pipelines run by the program run-pipelines,
# samples in files, and error bounds.
#
# A test that cannot run is skipped with exit status 77. A GPU test (ND_GPU)
# that cannot run fails instead if a driver is present.
#
# Arrays are (t, z, y, x), so that x varies fastest in memory and in files.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import subprocess
import sys

GPU = "ND_GPU" in os.environ      # auto then selects the GPU


def has_driver():
    try:
        with open("/dev/nvidiactl", "rb"):
            return True
    except OSError:
        return False


def skip(why):
    there = GPU and has_driver()
    print("failed:" if there else "skipped:", why)
    sys.exit(1 if there else 77)


try:
    import numpy as np
except ImportError as missing:
    skip(missing)

PROGRAM = sys.argv[1]
SHARED = os.environ.get("ND_SHARED", "")
TYPES = {"uint8": "u1", "int16": "<i2", "uint16": "<u2", "float32": "<f4",
         "float64": "<f8"}
FFT_BOUND = 1e-6        # relative L2 error
DOUBLE_FFT_BOUND = 1e-13


def shared(*names):
    """Returns the path of a file outside the project. Skips the test if the
    file is missing, on a GPU too."""
    path = os.path.join(SHARED, *names)
    if not os.path.exists(path):
        print(f"skipped: no {'/'.join(names)} in the folder that ND_SHARED "
              "names")
        sys.exit(77)
    return path


def run(pipelines, simd=None):
    """Returns one result per pipeline: ["eos", method, volumes in, volumes out]
    or ["error", element, message]."""
    environment = dict(os.environ)
    if simd:
        environment["NDCONV_SIMD"] = simd
    done = subprocess.run([PROGRAM], input="\n".join(pipelines) + "\n",
                          capture_output=True, text=True, check=False,
                          env=environment)
    # compute-sanitizer prints its own lines.
    outcomes = [line.split("\t") for line in done.stdout.splitlines()
                if not line.startswith("====")]
    if done.returncode != 0 or len(outcomes) != len(pipelines):
        at = pipelines[min(len(outcomes), len(pipelines) - 1)]
        sys.exit(f"exit status {done.returncode} after {len(outcomes)} "
                 f"pipelines, in\n{at}\n{done.stderr}")
    return outcomes


def colons(numbers):
    return ":".join(str(n) for n in numbers)


def properties(**values):
    """Turns border_value=1 into border-value=1."""
    return " ".join(f"{name.replace('_', '-')}={value}"
                    for name, value in values.items())


def float32_bound(taps, largest):
    """The largest error of a float32 sum of this many products, in any order,
    if the sum of their absolute values is at most @largest. The golden cases
    use this bound."""
    return 2.0 ** -24 * largest * min(taps + 1, 8 * np.sqrt(taps + 1))


def relative_l2(got, expected):
    norm = np.linalg.norm(expected)
    return np.linalg.norm(got - expected) / norm if norm else \
        np.linalg.norm(got)


def read_raw(path, kind, shape):
    """Returns None if the file has another size."""
    samples = np.fromfile(path, TYPES[kind])
    if samples.size != np.prod(shape):
        return None
    return samples.reshape(shape)
