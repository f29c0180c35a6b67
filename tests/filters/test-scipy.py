# Compares designs with SciPy's impulse responses, and reads files written by
# NumPy and nibabel. Exit status 77: skipped, because a module is missing.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy import ndimage
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

PROGRAM = sys.argv[1]
checks = 0


def run(axes, design, **parameters):
    arguments = [f"{name}={value}" for name, value in parameters.items()]
    return subprocess.run([PROGRAM, axes, design] + arguments,
                          capture_output=True, text=True, check=False)


def kernel(axes, design, **parameters):
    """The filter as an array (t, z, y, x)."""
    done = run(axes, design, **parameters)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "1 0", lines[0]
    size = [int(n) for n in lines[1].split()[:4]]
    return np.array([float(n) for n in lines[2:]]).reshape(size[::-1])


def check(name, got, expected, tolerance):
    global checks
    assert got.shape == expected.shape, (name, got.shape, expected.shape)
    error = np.abs(got - expected).max()
    assert error <= tolerance * np.abs(expected).max(), (name, error)
    checks += 1


def impulse(shape):
    """The index of the centre in SciPy for a filter of this shape: 1 at k/2."""
    array = np.zeros(shape)
    array[tuple(k // 2 for k in shape)] = 1
    return array


def check_designs():
    sigma = (1.3, 0.6, 0.9, 0.7)
    got = kernel("xyzt", "gaussian", sigma=":".join(map(str, sigma)))
    check("gaussian", got, ndimage.gaussian_filter(
        impulse(got.shape), sigma[::-1], mode="constant"), 1e-14)

    got = kernel("xyz", "log", sigma=0.8)
    expected = ndimage.gaussian_laplace(impulse(got.shape[1:]), 0.8,
                                        mode="constant")[None]
    check("log", got, expected - expected.mean(), 1e-13)

    for axes, shape in (("xy", (1, 1, 3, 3)), ("xyz", (1, 3, 3, 3)),
                        ("xyt", (3, 1, 3, 3)), ("xyzt", (3, 3, 3, 3))):
        inner = tuple(k for k in shape if k > 1)
        check("laplace", kernel(axes, "laplace"),
              ndimage.laplace(impulse(inner), mode="constant").reshape(shape),
              0)
        for i, direction in enumerate(axes):
            # SciPy correlates with [-1 0 1]; its axes are in reverse order.
            expected = ndimage.sobel(impulse(inner), len(axes) - 1 - i,
                                     mode="constant")
            check("sobel", kernel(axes, "sobel", direction=direction),
                  expected.reshape(shape), 0)
        check("box", kernel(axes, "box", size=3), ndimage.uniform_filter(
            impulse(inner), 3, mode="constant").reshape(shape), 1e-14)


def check_npy(folder):
    random = np.random.default_rng(5)
    path = os.path.join(folder, "k.npy")
    for axes, shape in (("xy", (4, 3)), ("xyz", (5, 4, 3)),
                        ("xyt", (2, 4, 3)), ("xyzt", (2, 5, 4, 3)),
                        ("xyzt", (31, 31, 31, 31)), ("xyz", (1, 5, 4, 3))):
        types = ("<f4",) if len(shape) == 4 else (
            "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "u1", "i1", "<i2", ">u2", "<i4",
            ">u4", "<i8", ">u8")
        for dtype in types:
            array = (random.normal(size=shape) * 50).astype("i1").astype(dtype)
            np.save(path, array)
            full = {3: (1,) + shape, 2: (1, 1) + shape, 4: shape}[len(shape)]
            if axes == "xyt":
                full = (shape[0], 1) + shape[1:]
            check(f"npy {dtype}", kernel(axes, "file", location=path),
                  array.reshape(full).astype(float), 0)
    for version in ((1, 0), (2, 0), (3, 0)):
        array = random.normal(size=(3, 2))
        with open(path, "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        check("npy version", kernel("xy", "file", location=path)[0, 0], array,
              0)
    for wrong in (np.zeros((3, 3), order="F") + 0j, np.zeros((3, 2)).T,
                  np.array([None, 1]), np.zeros(3, "?"),
                  np.zeros(3, [("a", "f4")]), np.zeros((1, 1, 3))):
        np.save(path, wrong, allow_pickle=True)
        done = run("xy", "file", location=path)
        assert done.returncode == 1 and path in done.stderr, done


def check_nifti(folder):
    try:
        import nibabel
    except ImportError as error:
        print("without NIfTI:", error)
        return
    random = np.random.default_rng(6)
    for name in ("k.nii", "k.nii.gz"):
        path = os.path.join(folder, name)
        for axes, shape in (("xyz", (3, 4, 5)), ("xyzt", (3, 4, 5, 2)),
                            ("xyt", (3, 4, 1, 6))):
            for dtype in ("f4", "i2", "u1", "u2"):
                array = np.abs(random.normal(size=shape) * 50).astype(dtype)
                nibabel.save(nibabel.Nifti1Image(array, np.eye(4)), path)
                expected = array.reshape(shape + (1,) * (4 - len(shape)))
                check(f"nifti {dtype}", kernel(axes, "file", location=path),
                      expected.transpose().astype(float), 0)


check_designs()
with tempfile.TemporaryDirectory() as temporary:
    check_npy(temporary)
    check_nifti(temporary)
print(f"{checks} filters agree with SciPy, NumPy and nibabel")
