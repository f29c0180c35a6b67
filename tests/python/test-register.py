"""ndconv.register() and ndconv.warp(): motions that are known.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import pathlib
import sys

import numpy

import ndconv

# Limits of errors do not hold for all random volumes.
SEED = int(os.environ.get("ND_SEED", 1))
print(f"ND_SEED={SEED}")
RANDOM = numpy.random.default_rng(SEED)
SIZE = (20, 24, 28)
BLOBS = RANDOM.uniform(-.5, .5, (12, 3)) * numpy.array(SIZE) * .55


def volume(shift=(0, 0, 0)):
    """Gaussians that @shift (z, y, x) moves, in samples."""
    grid = numpy.moveaxis(numpy.mgrid[:SIZE[0], :SIZE[1], :SIZE[2]], 0, -1)
    centre = (numpy.array(SIZE) - 1) / 2 + numpy.array(shift)
    total = numpy.full(SIZE, 20.0)
    for number, blob in enumerate(BLOBS):
        total += (60 + 8 * number) * numpy.exp(
            -((grid - centre - blob) ** 2).sum(-1) / (8 + number % 3 * 4))
    return total


def check_raises(kind, sentence, call, *arguments, **settings):
    try:
        call(*arguments, **settings)
    except kind as error:
        assert sentence in str(error), error
        return
    raise AssertionError(f"no {kind.__name__} with '{sentence}'")


def check_stream():
    shifts = [(0, 0, 0), (.5, -1, 1.5), (1, .5, -.7), (-.4, 1.2, .3)]
    stream = numpy.stack([volume(shift) for shift in shifts])
    for dtype in ("float32", "float64", "uint16"):
        still, motions = ndconv.register(stream.astype(dtype), model="rigid",
                                         spacing=(3, 2, 1.5))
        assert still.dtype == dtype and still.shape == stream.shape
        assert len(motions) == len(shifts)
        inner = (slice(None),) + (slice(4, -4),) * 3
        left = numpy.abs(still - stream[0].astype(dtype).astype("float64"))[inner]
        assert left.max() < 8, left.max()
        for motion, shift in zip(motions, shifts):
            assert motion.measured and motion.overlap > .8
            # The middle of the volume moves by the shift.
            middle = numpy.array([(n - 1) / 2 * step for n, step in zip(
                SIZE[::-1], (1.5, 2, 3))])
            moved = motion.matrix @ numpy.append(middle, 1)
            expected = numpy.array(shift[::-1]) * (1.5, 2, 3)
            assert numpy.abs(moved[:3] - middle - expected).max() < .1, motion
    # warp() does the same again, and in place.
    again = ndconv.warp(stream, [m.matrix for m in motions], spacing=(3, 2, 1.5))
    still, _ = ndconv.register(stream, spacing=(3, 2, 1.5))
    assert numpy.abs(again - still).max() < 1
    own = stream.copy()
    assert ndconv.register(own, spacing=(3, 2, 1.5), out=own)[0] is own
    assert numpy.array_equal(own, still)
    for method in ("auto", "phase", "intensity"):
        other, _ = ndconv.register(stream, spacing=(3, 2, 1.5), method=method)
        assert numpy.abs(other - still)[:, 4:-4, 4:-4, 4:-4].max() < 8
        assert (method == "phase") != numpy.array_equal(other, still)
    nothing, motions = ndconv.register(stream, moves=False, reference=2)
    assert nothing is None
    assert [m.measured for m in motions] == [False, False, True, True]


def check_shapes():
    frame = volume()[10]
    assert ndconv.register(frame)[0].shape == frame.shape
    colours = numpy.stack([volume()] * 3, -1).astype("uint8")[None]
    still, motions = ndconv.register(colours, axes="tzyxc", channel=1)
    assert numpy.array_equal(still, colours) and motions[0].measured
    still, motions = ndconv.register(numpy.zeros((2, 8, 8)), axes="tyx")
    assert not any(m.measured for m in motions) and not still.any()
    still, motions = ndconv.register(numpy.zeros((0, 8, 8)), axes="tyx")
    assert still.shape == (0, 8, 8) and motions == []
    image = numpy.arange(30).reshape(5, 6).astype("float32")
    matrix = numpy.eye(4)
    matrix[1, 3] = 1
    for border, last in (("constant", 0), ("nearest", image[-1])):
        moved = ndconv.warp(image, matrix, border=border,
                            interpolation="linear")
        assert numpy.allclose(moved[:-1], image[1:])
        assert numpy.allclose(moved[-1], last)


def check_errors():
    frame = volume()[10]
    error = ndconv.SettingsError
    check_raises(error, "must be first", ndconv.register, frame,
                 reference="last")
    check_raises(error, "translation, rigid, affine", ndconv.register, frame,
                 model="dense")
    check_raises(error, "auto, phase, intensity", ndconv.register, frame,
                 method="fft")
    check_raises(error, "name each of them", ndconv.register, frame, axes="xy0")
    check_raises(error, "0 to 0", ndconv.register, frame, channel=1)
    check_raises(error, "spacing is", ndconv.register, frame, spacing=(1, 0))
    check_raises(error, "is complex", ndconv.register,
                 frame.astype("complex64"))
    check_raises(error, "must be 3 x 4", ndconv.warp, frame, numpy.eye(3))
    check_raises(error, "finite", ndconv.warp, frame, numpy.eye(4) * numpy.nan)
    check_raises(error, "2 matrices for 1", ndconv.warp, frame,
                 [numpy.eye(4)] * 2)
    check_raises(error, "type, components and sizes", ndconv.register, frame,
                 out=frame.astype("float32"))
    check_raises(error, "finite", ndconv.warp, frame, numpy.eye(4) * 1e300)
    check_raises(ndconv.FormatError, "correct the spacing", ndconv.register,
                 frame, spacing=(1, 1e-200))
    cancel = ndconv.Cancel()
    cancel.set()
    check_raises(ndconv.CancelledError, "cancelled", ndconv.register, frame,
                 cancel=cancel)


def check_recording():
    """A recording of a head, if it is there: its motion is undone."""
    shared = pathlib.Path(os.environ.get("ND_SHARED", "/nonexistent"))
    found = sorted(shared.glob("data/*fmri*.nii*"))
    if not found:
        print("no recording of a head in ND_SHARED: skipped")
        return
    recording = ndconv.Recording(str(found[0]))
    stream = numpy.stack([recording.read(t) for t in range(6)])
    stream = stream.astype("float32")
    still, motions = ndconv.register(stream, spacing=(16.8, .96, .96))
    before, after = (numpy.abs(film[1:] - film[0])[:, 1:-1, 4:-4, 4:-4].mean()
                     for film in (stream, still))
    print(f"{found[0].name}: mean difference {before:.2f}, {after:.2f} after")
    assert all(m.measured for m in motions) and after < before


if __name__ == "__main__":
    for check in (check_stream, check_shapes, check_errors, check_recording):
        check()
        print(check.__name__)
    sys.exit(0)
