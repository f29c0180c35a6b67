# The property response: outputs for a recording with complex filters and banks,
# by every method, compared with SciPy's convolutions with the coefficients that
# ndconv-filter saves.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import glob
import os
import subprocess
import sys
import tempfile

from pipelines import PROGRAM, colons, np, relative_l2, run

try:
    from scipy import ndimage
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

assert PROGRAM
TOOL = sys.argv[2]
CASES = (("ndconv2d", "xy", "quadrature-bank,size=7"),
         ("ndconv3d", "xyz", "quadrature-bank,size=5"),
         ("ndconv3d", "xyz", "monomial-bank,size=5"),
         ("ndconv4dtemporal", "xyzt", "quadrature-bank,size=3"),
         ("ndconv4dtemporal", "xyzt",
          "motion,size=5,velocity=<1.0,0.0,0.0>"))
METHODS = ("direct", "fft")
KINDS = {
    "all": lambda r: np.stack([r.real, r.imag], -1) if np.iscomplexobj(r)
           else r[..., None],
    "magnitude": np.abs,
    "phase": np.angle,
    "real": np.real,
    "imaginary": np.imag,
    "energy": lambda r: np.abs(r) ** 2,
    "max": lambda r: np.abs(r).max(1, keepdims=True),
    "argmax": lambda r: np.abs(r).argmax(1)[:, None],
    "sum": lambda r: np.abs(r).sum(1, keepdims=True),
}
SHAPE = (6, 7, 9, 11)           # t, z, y, x


def load(axes, text, folder):
    """The filters of a bank, (t, z, y, x)."""
    for old in glob.glob(os.path.join(folder, "f*.npy")):
        os.remove(old)
    subprocess.run([TOOL, "save", text, os.path.join(folder, "f.npy"),
                    "--axes=" + axes], check=True, capture_output=True)
    files = glob.glob(os.path.join(folder, "f*.npy"))
    # f-2.npy comes before f-10.npy
    for name in sorted(files, key=lambda name: (len(name), name)):
        f = np.load(name)
        yield f.reshape((1,) * (4 - f.ndim) + f.shape)


def convolve(x, f):
    real = ndimage.convolve(x, f.real, mode="nearest")
    if not np.iscomplexobj(f):
        return real
    return real + 1j * ndimage.convolve(x, f.imag, mode="nearest")


def main(folder):
    x = np.random.default_rng(4).normal(size=SHAPE).astype("<f4")
    source = os.path.join(folder, "in.raw")
    x.tofile(source)
    pipelines, wanted = [], []
    for element, axes, text in CASES:
        # (t, k, z, y, x), the order of a bank in memory
        responses = np.stack([convolve(x.astype(float), f)
                              for f in load(axes, text, folder)], 1)
        for method in METHODS:
            for kind, make in KINDS.items():
                out = os.path.join(folder, f"{len(wanted)}.raw")
                pipelines.append(
                    f'ndfilesrc location={source} volume-size='
                    f'{colons(SHAPE[:0:-1])} type=float32 framerate=10/1 ! '
                    f'{element} filter="{text}" response={kind} '
                    f'method={method} ! ndfilesink location={out}')
                wanted.append((out, kind, method, make(responses), responses))
    misses = 0
    for pipeline, outcome, (out, kind, method, expected, responses) in zip(
            pipelines, run(pipelines), wanted):
        if outcome[0] != "eos":
            print(pipeline, outcome)
            misses += 1
            continue
        got = np.fromfile(out, "<f4")
        os.remove(out)
        if got.size != expected.size:
            print(pipeline, got.size, expected.size)
            misses += 1
            continue
        got = got.reshape(expected.shape)
        if kind == "phase":
            # Only if there is a response; the phase wraps at its ends.
            error = np.abs(np.exp(1j * got) - np.exp(1j * expected))[
                np.abs(responses) > .01].max()
        elif kind == "argmax":
            # If responses are equal, any of them is right.
            index = got.astype(int)
            strength = np.abs(responses)
            error = np.abs(np.take_along_axis(strength, index, 1)
                           - strength.max(1, keepdims=True)).max()
        else:
            error = relative_l2(got, expected)
        if not error < 2e-5:
            print(pipeline, error)
            misses += 1
    print(f"{len(pipelines) - misses} of {len(pipelines)} responses agree "
          "with SciPy")
    return misses > 0


with tempfile.TemporaryDirectory() as temporary:
    sys.exit(main(temporary))
