"""Motion correction of arrays.

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
from ._outputs import to_array
from ._settings import REGISTER, Setting, check_names, takes

# The parameters of warp().
_WARP = {name: REGISTER[name] for name in (
    "interpolation", "border", "border_value", "n_threads")}
# Names that filters have, too.
_OWN_NAMES = {"method": "register-method"}
_AXES = {2: "yx", 3: "zyx", 4: "tzyx"}


class Motion(NamedTuple):
    """What `register` found for one volume."""
    matrix: numpy.ndarray  # 4 x 4; x, y, z in mm from the first sample
    measured: bool         # False: nothing could be measured; no motion
    residual: float        # root mean square, in sample values when smoothed
    unexplained: float     # its square as a share of the variance
    overlap: float         # share of the reference that lies in the volume
    iterations: int
    restarted: bool        # the motion of the volume before was no help


def _find_axes(axes: str | None, n: int) -> str:
    if axes is None:
        axes = _AXES.get(n, "")
    if (len(axes) != n or len(set(axes)) != n or not set("yx") <= set(axes)
            or not set(axes) <= set("tzyxc")):
        raise lib.SettingsError(
            f"The array has {n} axes; name each of them in axes, as in 'tyx' "
            "for frames or 'tzyxc' for volumes with components")
    return axes


def _text(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, (tuple, list, numpy.ndarray)):
        value = ":".join(str(float(part)) for part in value)
    return str(value).encode()


class _Settings:
    """NdSettings of these calls."""

    def __init__(self, given: dict[str, Any], known: dict[str, Setting],
                 more: dict[str, Any]):
        check_names(given.keys(), known)
        values = {**{name: row.default for name, row in known.items()},
                  **given, **more}
        self.pointer = lib.nd_settings_new()
        try:
            for name, value in values.items():
                if value is not None:
                    own = _OWN_NAMES.get(name, name.replace("_", "-"))
                    lib.nd_settings_set(self.pointer, own.encode(),
                                        _text(value))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        lib.nd_settings_free(self.pointer)


def _spacing(spacing: Any, axes: str) -> Any:
    """In the order x, y, z, from the order of @axes."""
    if spacing is None:
        return None
    own = [axis for axis in axes if axis in "zyx"]
    values = [float(value) for value in spacing]
    if len(values) != len(own) or not all(0 < value < float("inf")
                                          for value in values):
        raise lib.SettingsError(
            f"spacing is {spacing}; it must be {len(own)} numbers above 0, in "
            f"the order of the axes {''.join(own)}")
    by_axis = dict(zip(own, values))
    return [by_axis.get(axis, 1.0) for axis in "xyz"]


def _memory(array: Any, name: str, axes: str, writes: bool = False) -> Any:
    memory: View = view(array, name, writes=writes)
    if memory.complex:
        raise lib.SettingsError(
            f"{name} is complex: register its magnitude, and move real and "
            "imaginary part by warp()")
    return memory, to_array(memory, axes)


def _call(function: Any, progress: Any, cancel: Cancel | None) -> None:
    def run(flag: ctypes.c_int, report: Report) -> Any:
        told = lib.PROGRESS(
            (lambda done, total, _data: report(done, total))
            if progress else 0)
        return function(lib.Watch(ctypes.pointer(flag), told))
    call_with_flag(run, cancel, progress, False)


@takes(REGISTER)
def register(array: Any, *, axes: str | None = None, spacing: Any = None,
             moves: bool = True, out: Any = None,
             progress: Callable[[int, int], Any] | None = None,
             cancel: Cancel | None = None,
             **settings: Any) -> tuple[Any, list[Motion]]:
    """Moves each volume of a stream to a reference: motion correction.

    Parameters
    ----------
    array : array
        Volumes or frames in memory of the host, of any type that `convolve`
        takes, or float64, which is computed in float32.
    axes : str, optional
        The names of all axes, by default ``"yx"``, ``"zyx"`` or ``"tzyx"``;
        ``"tyx"`` are frames, and ``"c"`` components.
    spacing : sequence of float, optional
        The distance of samples in mm, in the order of `axes`; by default 1.
    moves : bool
        False: only the motions are found; the first result is None.
    out : array, optional
        Written and returned. It may be `array` itself.
    progress, cancel : optional
        As those of `convolve`.
    {settings}

    Returns
    -------
    array, list of Motion
        `out` or a new array, and a motion for each volume. Its matrix takes
        positions (x, y, z, 1) in the reference to positions in the volume, in mm
        from the first sample.

    Examples
    --------
    >>> import ndconv, numpy
    >>> y, x = numpy.mgrid[:40, :40]
    >>> frames = numpy.stack([numpy.exp(-((x - 20 - t)**2 + (y - 18)**2) / 40)
    ...                       for t in range(3)])
    >>> still, motions = ndconv.register(frames, axes="tyx",
    ...                                  model="translation")
    >>> still.shape, [f"{m.matrix[0, 3]:.1f}" for m in motions]
    ((3, 40, 40), ['0.0', '1.0', '2.0'])
    """
    axes = _find_axes(axes, len(view(array, "array").shape))
    memory, source = _memory(array, "array", axes)
    own = _Settings(settings, REGISTER, {"spacing": _spacing(spacing, axes)})
    target = None
    if moves:
        if out is None:
            out = empty(array, memory.shape, memory.type.decode())
        _, target = _memory(out, "out", axes, writes=True)
    motions = (lib.VolumeMotion * max(source.size[3], 1))()
    try:
        _call(lambda watch: lib.nd_register(own.pointer, source, target,
                                            motions, watch), progress, cancel)
    finally:
        own.close()
    return out if moves else None, [
        Motion(numpy.vstack([numpy.array(m.matrix).reshape(3, 4),
                             (0, 0, 0, 1)]),
               bool(m.measured), m.residual, m.unexplained, m.overlap,
               m.iterations, bool(m.restarted))
        for m in motions[:source.size[3]]]


@takes(_WARP)
def warp(array: Any, matrices: Any, *, axes: str | None = None,
         spacing: Any = None, out: Any = None,
         progress: Callable[[int, int], Any] | None = None,
         cancel: Cancel | None = None, **settings: Any) -> Any:
    """Moves volumes by matrices, for example those that `register` found for
    another channel. Matrices of motions that follow each other are multiplied
    first, so that samples are interpolated once.

    Parameters
    ----------
    array : array
        As for `register`.
    matrices : array
        3 x 4 or 4 x 4 numbers as in `Motion`, one matrix for each volume, or one
        for all.
    axes, spacing, out, progress, cancel : optional
        As for `register`.
    {settings}

    Returns
    -------
    array
        `out`, or an array of the library of `array`.

    Examples
    --------
    >>> import ndconv, numpy
    >>> image = numpy.zeros((5, 5), "uint8")
    >>> image[2, 3] = 9
    >>> matrix = numpy.eye(4)
    >>> matrix[0, 3] = 2    # from 2 samples further along x
    >>> ndconv.warp(image, matrix)[2]
    array([0, 9, 0, 0, 0], dtype=uint8)
    """
    axes = _find_axes(axes, len(view(array, "array").shape))
    memory, source = _memory(array, "array", axes)
    numbers = numpy.asarray(matrices, "float64")
    if numbers.ndim not in (2, 3) or numbers.shape[-2:] not in ((3, 4), (4, 4)):
        raise lib.SettingsError(
            f"matrices has the shape {numbers.shape}; it must be 3 x 4 or "
            "4 x 4, or one such matrix for each volume")
    numbers = numbers[..., :3, :]
    if numbers.ndim == 2:
        numbers = numpy.broadcast_to(numbers, (source.size[3], 3, 4))
    if numbers.shape[0] != source.size[3]:
        raise lib.SettingsError(
            f"There are {numbers.shape[0]} matrices for {source.size[3]} "
            "volumes: give one for each, or one for all")
    numbers = numpy.ascontiguousarray(numbers)
    own = _Settings(settings, _WARP, {"spacing": _spacing(spacing, axes)})
    try:
        if out is None:
            out = empty(array, memory.shape, memory.type.decode())
        _, target = _memory(out, "out", axes, writes=True)
        _call(lambda watch: lib.nd_warp(
            own.pointer,
            numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), source,
            target, watch), progress, cancel)
    finally:
        own.close()
    return out
