"""ndconv.rank() and the rank filters of ndconv.ndimage, against sorted windows of
NumPy and, if it is installed, SciPy itself.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import sys
import warnings

import numpy

import ndconv
from ndconv import ndimage

try:
    import scipy.ndimage as scipy
except ImportError:
    scipy = None

seed = int(os.environ.get("ND_SEED", "0")) or numpy.random.SeedSequence(
    ).entropy % 10 ** 6
print("seed", seed)
random = numpy.random.default_rng(seed)

PADS = {"reflect": "symmetric", "nearest": "edge", "mirror": "reflect",
        "wrap": "wrap", "constant": "constant"}
TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64",
         "uint64", "float32", "float64", "bool"]
NAMES = ["median_filter", "percentile_filter", "rank_filter", "minimum_filter",
         "maximum_filter", "grey_erosion", "grey_dilation", "grey_opening",
         "grey_closing", "white_tophat", "black_tophat",
         "morphological_gradient"]


def make_array(shape, dtype):
    if dtype == "bool":
        return random.integers(0, 2, shape) > 0
    if dtype.startswith("float"):
        return (random.standard_normal(shape) * 9).astype(dtype)
    array = random.integers(0, 100, shape)
    return (array - (50 if dtype.startswith("i") else 0)).astype(dtype)


def expected_rank(array, rank, mask, mode, cval, origins):
    """The definition: windows of a padded array, sorted."""
    low = [k // 2 + o for k, o in zip(mask.shape, origins)]
    more = {"constant_values": cval} if mode == "constant" else {}
    padded = numpy.pad(array, [(b, k - 1 - b) for b, k in zip(low, mask.shape)],
                       PADS[mode], **more)
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, mask.shape)
    return numpy.sort(windows[..., mask], axis=-1)[..., rank]


def make_case():
    ndim = int(random.integers(1, 5))
    sizes = [int(k) for k in random.integers(1, 5, ndim)]
    mask = random.integers(0, 3, sizes) > 0
    mask.flat[0] = True
    if random.integers(2):
        mask[...] = True
    return (make_array(tuple(random.integers(1, 8, ndim)),
                       TYPES[random.integers(len(TYPES))]), mask,
            [int(random.integers(-(k // 2), (k - 1) // 2 + 1)) for k in sizes])


def test_definition():
    for _ in range(80):
        array, mask, origins = make_case()
        rank = int(random.integers(mask.sum()))
        mode = list(PADS)[random.integers(5)]
        found = ndimage.rank_filter(array, rank, footprint=mask, mode=mode,
                                    cval=1, origin=origins)
        wanted = expected_rank(array, rank, mask, mode, 1, origins)
        assert found.dtype == array.dtype
        assert numpy.array_equal(found, wanted), (array, mask, mode, origins)


def call(module, name, *args, **more):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(module, name)(*args, **more)
    except Exception as error:
        return type(error)


def test_scipy():
    if scipy is None:
        print("SciPy is not installed")
        return
    modes = ["reflect", "constant", "nearest", "mirror", "wrap",
             "grid-constant", "grid-wrap", "grid-mirror"]
    for _ in range(600):
        array, mask, origins = make_case()
        if array.ndim == 1:
            mask[...] = True  # SciPy 1.17 overlooks holes along one axis.
        name = NAMES[random.integers(len(NAMES))]
        args = {"percentile_filter": [float(random.integers(-50, 101))],
                "rank_filter": [0]}.get(name, [])
        more = {"mode": modes[random.integers(len(modes))],
                "cval": float(random.integers(2 if array.dtype == "bool"
                                              else 9)), "origin": origins}
        more.update({"size": mask.shape} if mask.all() else
                    {"footprint": mask})
        wanted = call(scipy, name, array, *args, **more)
        found = call(ndimage, name, array, *args, **more)
        if isinstance(wanted, type):
            assert found is wanted, (name, wanted, found)
            continue
        assert found.dtype == wanted.dtype, (name, more)
        assert numpy.array_equal(found, wanted), (name, array, more)


def test_arguments():
    array = make_array((5, 6, 7), "uint8")
    over = ndimage.median_filter(array, (3, 5), axes=(2, 0), mode="mirror")
    own = ndimage.median_filter(array, (5, 1, 3), mode="mirror")
    assert numpy.array_equal(over, own)
    mixed = ndimage.minimum_filter(array, (3, 1, 3),
                                   mode=("wrap", "nearest", "mirror"))
    first = ndimage.minimum_filter(array, (3, 1, 1), mode="wrap")
    assert numpy.array_equal(mixed, ndimage.minimum_filter(
        first, (1, 1, 3), mode="mirror"))
    out = numpy.empty(array.shape, "float32")
    assert ndimage.maximum_filter(array, 3, output=out) is out
    assert numpy.array_equal(out, ndimage.maximum_filter(array, 3))
    assert ndimage.grey_erosion(array, 3, output="int32").dtype == "int32"
    flat = ndimage.grey_closing(array, structure=numpy.zeros((3, 3, 3)))
    assert numpy.array_equal(flat, ndimage.grey_closing(array, 3))
    big = numpy.array([2 ** 60, 2 ** 60 + 1, 2 ** 60 + 2])
    assert (ndimage.median_filter(big, 3) == big).all()


def test_rank():
    stream = make_array((6, 5, 4, 7), "int16")
    background = ndconv.rank(stream, footprint="1:1:1:5", time_border="mirror")
    assert numpy.array_equal(background, expected_rank(
        stream, 2, numpy.ones((5, 1, 1, 1), bool), "mirror", 0, [0] * 4))
    cross = numpy.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    frame = stream[0, 0]
    assert numpy.array_equal(
        ndconv.rank(frame, footprint=cross, border="reflect"),
        ndimage.median_filter(frame, footprint=cross))
    out = numpy.empty_like(frame)
    assert ndconv.rank(frame, operation="tophat", footprint=3, out=out) is out
    assert (out >= 0).all()
    assert ndconv.rank(stream[:0]).shape == (0, 5, 4, 7)


def raises(error, text, function, *args, **more):
    try:
        function(*args, **more)
    except error as found:
        assert text in str(found), found
    else:
        raise AssertionError(f"no {error.__name__}")


def test_refused():
    frame = make_array((5, 6), "uint8")
    wrong = ndconv.SettingsError
    raises(wrong, "footprint", ndconv.rank, frame, footprint="nonsense")
    raises(wrong, "percentile", ndconv.rank, frame, percentile=101)
    raises(wrong, "operation", ndconv.rank, frame, operation="mean")
    raises(wrong, "has 1 axes", ndconv.rank, frame, footprint=[1, 1])
    raises(wrong, "time-border=wrap", ndconv.rank, frame, time_border="wrap")
    raises(wrong, "overlaps", ndconv.rank, frame, out=frame)
    raises(wrong, "complex", ndconv.rank, frame * 1j)
    raises(wrong, "type, components", ndconv.rank, frame,
           out=numpy.empty((5, 6), "int16"))
    raises(TypeError, "no parameter", ndconv.rank, frame, footprints=3)
    raises(NotImplementedError, "flat", ndimage.grey_erosion, frame,
           structure=numpy.ones((3, 3)))
    raises(RuntimeError, "rank not within", ndimage.rank_filter, frame, 9, 3)
    raises(RuntimeError, "no footprint", ndimage.median_filter, frame)
    raises(ValueError, "invalid origin", ndimage.median_filter, frame, 3,
           origin=2)
    raises(TypeError, "Complex", ndimage.median_filter, frame * 1j, 3)


for test in (test_definition, test_scipy, test_arguments, test_rank,
             test_refused):
    test()
    print("ok", test.__name__)
sys.exit(0)
