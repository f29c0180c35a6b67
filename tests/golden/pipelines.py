# What the checks share: pipelines that the program run-pipelines runs, samples
# in files, and bounds.
#
# A check that cannot run is skipped, exit status 77; one of the GPU (ND_GPU)
# fails where there is a driver.
#
# Arrays are (t, z, y, x), so that x runs fastest in memory and in files.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import subprocess
import sys

GPU = "ND_GPU" in os.environ      # auto then means the GPU


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
TYPES = {"uint8": "u1", "int16": "<i2", "uint16": "<u2", "float32": "<f4"}
FFT_BOUND = 1e-6        # relative L2 error
TENSOR_BOUND = 2e-6     # of accuracy=single, where sums are not exact


def shared(*names):
    """The path of a file that is not part of the project; skips where it is
    not there, on a GPU too."""
    path = os.path.join(SHARED, *names)
    if not os.path.exists(path):
        print(f"skipped: no {'/'.join(names)} in the folder that ND_SHARED "
              "names")
        sys.exit(77)
    return path


def run(pipelines, simd=None):
    """One outcome for each: ["eos", method, volumes in, volumes out] or
    ["error", element, message]."""
    environment = dict(os.environ)
    if simd:
        environment["NDCONV_SIMD"] = simd
    done = subprocess.run([PROGRAM], input="\n".join(pipelines) + "\n",
                          capture_output=True, text=True, check=False,
                          env=environment)
    # compute-sanitizer prints lines of its own.
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
    """border_value=1 to border-value=1."""
    return " ".join(f"{name.replace('_', '-')}={value}"
                    for name, value in values.items())


def float32_bound(taps, largest):
    """What float32 sums of as many products may be off, in any order, where
    the sum of their absolute values is @largest at most (the golden cases'
    rule)."""
    return 2.0 ** -24 * largest * min(taps + 1, 8 * np.sqrt(taps + 1))


def relative_l2(got, expected):
    norm = np.linalg.norm(expected)
    return np.linalg.norm(got - expected) / norm if norm else \
        np.linalg.norm(got)


def read_raw(path, kind, shape):
    """None where the file has another size."""
    samples = np.fromfile(path, TYPES[kind])
    if samples.size != np.prod(shape):
        return None
    return samples.reshape(shape)
