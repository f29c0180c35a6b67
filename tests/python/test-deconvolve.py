"""ndconv.deconvolve(): the formula of scikit-image's richardson_lucy, in NumPy
and double precision, and what is refused.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import pathlib
import tempfile

import numpy

import ndconv

try:
    from skimage.restoration import richardson_lucy as peer
except ImportError:
    peer = None

SEED = int(os.environ.get("ND_SEED", 1))
print(f"ND_SEED={SEED}")
RANDOM = numpy.random.default_rng(SEED)


def convolve_same(array, w):
    """scipy.signal.convolve (array, w, 'same') for odd sizes: zeros beyond the
    edges."""
    padded = numpy.pad(array, [(k // 2, k // 2) for k in w.shape])
    total = numpy.zeros(array.shape)
    for at in numpy.ndindex(*w.shape):
        part = tuple(slice(k - 1 - m, k - 1 - m + n)
                     for k, m, n in zip(w.shape, at, array.shape))
        total += w[at] * padded[part]
    return total


def richardson_lucy(image, psf, iterations):
    """skimage.restoration.richardson_lucy (image, psf, iterations, clip=False)
    of scikit-image 0.25."""
    estimate = numpy.full(image.shape, .5)
    mirrored = psf[(slice(None, None, -1),) * psf.ndim]
    for _ in range(iterations):
        blurred = convolve_same(estimate, psf) + 1e-12
        estimate *= convolve_same(image / blurred, mirrored)
    return estimate


def random_psf(shape):
    psf = RANDOM.random(shape) ** 3
    return psf / psf.sum()


def check_raises(kind, sentence, call, *arguments, **settings):
    try:
        call(*arguments, **settings)
    except kind as error:
        assert sentence in str(error), error
        return
    raise AssertionError(f"no {kind.__name__} with '{sentence}'")


def check_formula():
    for shape, k in (((30, 41), (7, 5)), ((11, 14, 18), (3, 5, 5)), ((60,), (9,))):
        image, psf = RANDOM.random(shape), random_psf(k)
        image.flat[::9] *= 20
        expected = richardson_lucy(image, psf, 10)
        if peer and image.ndim > 1:
            scaled = peer(image, psf, 10, clip=False)
            assert numpy.abs(scaled - expected).max() < 1e-6 * expected.max()
        out, (found,) = ndconv.deconvolve(image, psf, border="constant", full=True)
        assert out.dtype == image.dtype
        error = numpy.abs(out - expected).max() / expected.max()
        print(f"{shape}: error {error:.1e}, {found}")
        assert error < 1e-4 and found.iterations == 10 and 0 < found.residue < 1


def check_types():
    points = numpy.zeros((2, 9, 12, 13), "f4")
    points[:, 4, 5, 6] = 4000
    points[1, 2, 9, 3] = 90000
    text = "gaussian,sigma=1"
    blurred = ndconv.convolve(points, text, axes="zyx")
    expected = ndconv.deconvolve(blurred, text, iterations=20)
    assert expected[0, 4, 5, 6] > 2 * blurred[0, 4, 5, 6]
    for dtype in ("u1", "i2", "u2", "i4", "f4", "f2"):
        limit = numpy.iinfo(dtype) if dtype[0] in "iu" else numpy.finfo(dtype)
        given = numpy.clip(blurred, limit.min, limit.max).astype(dtype)
        exact = ndconv.deconvolve(given.astype("f4"), text, iterations=20)
        out = ndconv.deconvolve(given, text, iterations=20)
        assert out.dtype == dtype
        wanted = numpy.clip(numpy.rint(exact) if dtype[0] in "iu" else exact,
                            limit.min, limit.max)
        scale = 1e-3 if dtype == "f2" else 1e-5
        assert numpy.abs(out - wanted).max() <= 1 + scale * numpy.abs(exact).max()
    own = blurred.astype("f4")
    assert ndconv.deconvolve(own, text, iterations=20, out=own) is own
    assert numpy.abs(own - expected).max() < 1e-4 * expected.max()
    colours = numpy.stack([blurred[0, 4]] * 3, -1)
    out = ndconv.deconvolve(colours, text, axes="yxc")
    assert numpy.array_equal(out[..., 0], out[..., 2])
    assert numpy.array_equal(out[..., 0], ndconv.deconvolve(blurred[0, 4], text))
    # A sample that is missing is filled from its neighbours.
    own = blurred[0].copy()
    own[4, 5, 6] = numpy.nan
    assert numpy.isfinite(ndconv.deconvolve(own, text)).all()


def check_settings():
    image = RANDOM.poisson(200 * numpy.ones((24, 30))).astype("f4")
    text = "gaussian,sigma=1.2"
    rough = ndconv.deconvolve(image, text, iterations=30)
    smooth = ndconv.deconvolve(image, text, iterations=30, tv=.02)
    assert smooth.std() < .7 * rough.std(), (smooth.std(), rough.std())
    out, (found,) = ndconv.deconvolve(image, text, iterations=500, tolerance=.02,
                                      full=True)
    assert 1 < found.iterations < 100, found
    again = ndconv.deconvolve(image, text, iterations=found.iterations)
    assert numpy.array_equal(out, again)
    told = []
    ndconv.deconvolve(numpy.stack([image] * 3), text, axes="tyx",
                      progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3), told
    cancel = ndconv.Cancel()
    cancel.set()
    check_raises(ndconv.CancelledError, "", ndconv.deconvolve, image, text,
                 cancel=cancel)


def check_units():
    image = RANDOM.random((6, 12, 14))
    sizes = ndconv.deconvolve(image, "gaussian,sigma=1:1:0.5,size=7:7:5")
    units = ndconv.deconvolve(image, "gaussian,sigma=0.3mm,size=7:7:5",
                              spacing=(.6, .3, .3))
    assert numpy.abs(sizes - units).max() < 1e-5
    check_raises(ndconv.SettingsError, "spacing", ndconv.deconvolve, image,
                 "gaussian,sigma=0.3mm", spacing=(1, 2))


def check_measured(folder):
    psf = random_psf((3, 5, 7))
    psf[0, 3, 2] = 2 * psf.max()
    path = os.path.join(folder, "bead.npy")
    numpy.save(path, 300 * psf)
    text = f"psf,location={path}"
    found = ndconv.design(text + ",background=0", axes="zyx")
    assert numpy.allclose(found, psf / psf.sum())
    # A point comes to its place, whatever the place of the peak is.
    point = numpy.zeros((9, 11, 13), "f4")
    point[4, 5, 6] = 1
    blurred = ndconv.convolve(point, text, border="constant")
    assert numpy.unravel_index(blurred.argmax(), blurred.shape) == (4, 5, 6)
    moved = ndconv.convolve(point, text + ",center=3:3:0", border="constant")
    assert numpy.allclose(moved[:, :, :-1], blurred[:, :, 1:], atol=1e-6)
    sharp = ndconv.deconvolve(blurred, text, iterations=50)
    assert numpy.unravel_index(sharp.argmax(), sharp.shape) == (4, 5, 6)
    assert sharp.max() > 2 * blurred.max()
    check_wiener(folder)
    # The background is the median of the faces.
    bead = numpy.full((7, 7, 7), 100.)
    bead[2:5, 2:5, 2:5] += random_psf((3, 3, 3)) * 50
    numpy.save(path, bead)
    found = ndconv.design(text, axes="zyx")
    assert numpy.allclose(found, (bead - 100) / (bead - 100).sum())
    for more, sentence in ((",background=1000", "above the background"),
                           (",center=7", "center is 7 along x"),
                           (",center=0.5", "center is 0.5"),
                           (",wavelength=1", "wavelength is given with")):
        check_raises(ndconv.SettingsError, sentence, ndconv.design, text + more,
                     axes="zyx")
    check_raises(ndconv.SettingsError, "location is missing", ndconv.design,
                 "psf,center=1", axes="zyx")
    numpy.save(path, bead + 1j)
    check_raises(ndconv.FormatError, "complex", ndconv.design, text, axes="zyx")
    check_raises(ndconv.FileError, "none.npy", ndconv.design,
                 f"psf,location={folder}/none.npy", axes="zyx")


def check_wiener(folder):
    """Of a file with a Gaussian: as of sigma. Of any psf, wherever its centre
    is: the response is near the formula."""
    path = os.path.join(folder, "wiener.npy")
    x = numpy.arange(-10, 11)
    numpy.save(path, numpy.exp(-(x[:, None] ** 2 + x ** 2) / 8))
    text = f"wiener,location={path},background=0,size=21,snr=8"
    found = ndconv.design(text, axes="yx")
    expected = ndconv.design("wiener,sigma=2,size=21,snr=8", axes="yx")
    error = numpy.abs(found - expected).max() / expected.max()
    print(f"wiener of a Gaussian: error {error:.1e}")
    assert error < 1e-3
    psf = numpy.array([[0, 2., 1], [3, 9, 2], [0, 4, 2], [0, 1, 0]])
    numpy.save(path, psf)
    text = text.replace("size=21", "size=13")
    found = ndconv.design(text, axes="yx")
    assert found.shape == (13, 13) and abs(found.sum() - 1) < 1e-6
    u = numpy.linspace(-2, 2, 9)

    def respond(w, y0, x0):
        y, x = numpy.arange(w.shape[0]) - y0, numpy.arange(w.shape[1]) - x0
        return numpy.exp(-1j * u[:, None] * y) @ w @ numpy.exp(-1j * u * x[:, None])
    p = respond(psf / psf.sum(), 1, 1)
    wanted = (1 + 1 / 64) * p.conj() / (abs(p) ** 2 + 1 / 64)
    error = abs(respond(found, 6, 6) - wanted)
    print(f"wiener of a file: {error.max():.1e} of {abs(wanted).max():.1f}")
    assert error.max() < .05 * abs(wanted).max()
    # Many samples, along all axes more than the filter has.
    z, y, x = numpy.meshgrid(numpy.arange(-20, 20), numpy.arange(-15, 16),
                             numpy.arange(-20, 21), indexing="ij")
    psf = numpy.exp(-(z ** 2 + y ** 2 + x ** 2) / 2.)
    psf *= RANDOM.random(psf.shape) * .2 + .9
    numpy.save(path, psf)
    found = ndconv.design(text.replace("size=13", "size=11") + ",center=20:15:20",
                          axes="zyx")
    u = numpy.linspace(-1.5, 1.5, 5)

    def respond_3d(w, centre):
        for n, c in zip(w.shape, centre):
            w = numpy.tensordot(
                w, numpy.exp(-1j * numpy.outer(numpy.arange(n) - c, u)), (0, 0))
        return w
    p = respond_3d(psf / psf.sum(), (20, 15, 20))
    wanted = (1 + 1 / 64) * p.conj() / (abs(p) ** 2 + 1 / 64)
    error = abs(respond_3d(found, (5, 5, 5)) - wanted)
    print(f"wiener of a long psf: {error.max():.1e} of {abs(wanted).max():.1f}")
    assert error.max() < .05 * abs(wanted).max()
    numpy.save(path, numpy.ones((257, 256)))
    check_raises(ndconv.SettingsError, "65792 samples", ndconv.design, text,
                 axes="yx")
    check_raises(ndconv.SettingsError, "sigma is given with", ndconv.design,
                 text + ",sigma=1", axes="yx")
    check_raises(ndconv.SettingsError, "location is missing", ndconv.design,
                 "wiener,sigma=1,center=1", axes="yx")


def check_refused():
    image = numpy.ones((8, 9))
    for psf, sentence in ((numpy.zeros((3, 3)), "zeros only"),
                          (-numpy.ones((3, 3)), "coefficient -1"),
                          (numpy.full((3, 3), numpy.nan), "finite"),
                          (numpy.ones((3, 3)) * 1j, "complex"),
                          (numpy.ones((2, 3, 3)), "bank of 2"),
                          ("gaussian,sigma=1;box,size=3", "bank of 2"),
                          ("laplace", "coefficient")):
        check_raises(ndconv.SettingsError, sentence, ndconv.deconvolve, image, psf)
    for name, value in (("iterations", 0), ("iterations", 2000), ("tv", .5),
                        ("tolerance", -1), ("border", "none")):
        check_raises(ndconv.SettingsError, name, ndconv.deconvolve, image,
                     "box,size=3", **{name: value})
    check_raises(TypeError, "sigma", ndconv.deconvolve, image, "box,size=3",
                 sigma=2)
    check_raises(ndconv.SettingsError, "axes", ndconv.deconvolve, image,
                 "box,size=3", axes="yz")
    check_raises(ndconv.SettingsError, "complex", ndconv.deconvolve, image * 1j,
                 "box,size=3")
    check_raises(ndconv.SettingsError, "output", ndconv.deconvolve, image,
                 "box,size=3", out=numpy.ones((8, 8)))
    # A psf that is larger than the volume, and volumes of nothing.
    assert numpy.allclose(ndconv.deconvolve(image, numpy.ones((31, 29))), 1)
    assert not ndconv.deconvolve(0 * image, "box,size=3").any()
    assert ndconv.deconvolve(numpy.ones((0, 8, 9)), "box,size=3",
                             axes="tyx").shape == (0, 8, 9)


if __name__ == "__main__":
    check_formula()
    check_types()
    check_settings()
    check_units()
    check_refused()
    with tempfile.TemporaryDirectory() as name:
        check_measured(pathlib.Path(name))
