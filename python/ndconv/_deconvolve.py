"""Deconvolution of arrays.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable, NamedTuple

import numpy

from . import _library as lib
from ._arrays import View, empty, view
from ._calls import Cancel, Report, call_with_flag
from ._filters import Prepared
from ._outputs import to_array
from ._settings import DECONVOLVE, check_names, takes

_AXES = {1: "x", 2: "yx", 3: "zyx", 4: "tzyx"}


class Residue(NamedTuple):
    """What `deconvolve` computed for one volume."""
    residue: float   # root of the squared differences, a share of the volume
    iterations: int


def _find_axes(axes: str | None, n: int) -> str:
    if axes is None:
        axes = _AXES.get(n, "")
    if (len(axes) != n or len(set(axes)) != n or "x" not in axes
            or ("z" in axes and "y" not in axes) or not set(axes) <= set("tzyxc")):
        raise lib.SettingsError(
            f"The array has {n} axes; name each of them in axes, as in 'tyx' "
            "for frames or 'tzyxc' for volumes with components")
    return axes


def _prepare(psf: Any, axes: str, settings: dict[str, Any]) -> Prepared:
    if not isinstance(psf, str):
        w = numpy.asarray(psf)
        psf = (w.tobytes(), w.shape, w.dtype.str)
    return Prepared(psf, axes, settings)


@takes(DECONVOLVE)
def deconvolve(array: Any, psf: Any, *, axes: str | None = None,
               spacing: Any = None, full: bool = False, out: Any = None,
               progress: Callable[[int, int], Any] | None = None,
               cancel: Cancel | None = None, **settings: Any) -> Any:
    """Removes the blur of a point spread function from volumes or frames, by
    the method of Richardson and Lucy.

    Parameters
    ----------
    array : array
        Volumes or frames in memory of the host, of any type that `convolve`
        takes, or float64, which is computed in float32. Samples below 0 count
        as 0, and samples that are not finite are missing.
    psf : str or array
        The blur: the text of a filter, for example
        ``"psf,location=bead.npy"``, or coefficients of 0 and more with the axes
        x, y and z of `array`. It is scaled to sum 1.
    axes : str, optional
        The names of all axes, by default ``"x"``, ``"yx"``, ``"zyx"`` or
        ``"tzyx"``; ``"tyx"`` are frames, and ``"c"`` components.
    spacing : sequence of float, optional
        The distance of samples in mm, in the order of `axes`, for a text with
        units.
    full : bool
        True: the result is a tuple of the array and a list with a `Residue` for
        each volume.
    out : array, optional
        Written and returned. It may be `array` itself.
    progress, cancel : optional
        As those of `convolve`.
    {settings}

    Returns
    -------
    array
        `out` or a new array of the type of `array`.

    Examples
    --------
    >>> import ndconv, numpy
    >>> points = numpy.zeros((15, 15), "f4")
    >>> points[4, 5] = points[9, 8] = 100
    >>> blurred = ndconv.convolve(points, "gaussian,sigma=1")
    >>> sharp = ndconv.deconvolve(blurred, "gaussian,sigma=1", iterations=100)
    >>> bool(sharp[9, 8] > 3 * blurred[9, 8])
    True
    """
    axes = _find_axes(axes, len(view(array, "array").shape))
    check_names(settings.keys(), DECONVOLVE)
    values = {**{name: row.default for name, row in DECONVOLVE.items()},
              **settings}
    iterations = int(values.pop("iterations"))
    own = {name: value for name, value in values.items() if value is not None}
    space = "".join(axis for axis in "zyx" if axis in axes)
    if spacing is not None:
        by_axis = dict(zip((a for a in axes if a in "zyx"), spacing))
        if len(by_axis) != len(space) or len(tuple(spacing)) != len(space):
            raise lib.SettingsError(
                f"spacing is {spacing}; it must be {len(space)} numbers, in the "
                "order of the axes")
        own["spacing"] = tuple(by_axis[a] for a in space)
    memory: View = view(array, "array")
    if memory.complex:
        raise lib.SettingsError("array is complex: deconvolve its magnitude")
    source = to_array(memory, axes)
    if out is None:
        out = empty(array, memory.shape, memory.type.decode())
    target = to_array(view(out, "out", writes=True), axes)
    prepared = _prepare(psf, space, own)
    found = (lib.VolumeResidue * max(source.size[3], 1))()

    def run(flag: ctypes.c_int, report: Report) -> Any:
        told = lib.PROGRESS((lambda done, total, _data: report(done, total))
                            if progress else 0)
        return lib.nd_deconvolve(prepared.filters, max(iterations, 0),
                                 prepared.settings, source, target, found,
                                 lib.Watch(ctypes.pointer(flag), told))
    call_with_flag(run, cancel, progress, False)
    if not full:
        return out
    return out, [Residue(r.residue, r.iterations)
                 for r in found[:source.size[3]]]
