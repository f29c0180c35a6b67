"""Borders that the library does not have: other ones along each axis, and values
that it does not take. The array is extended by them.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import math
from typing import Any, Sequence

import numpy

from . import _library as lib
from ._filters import Prepared
from ._settings import CONVOLVE

# SciPy's other names.
_NAMES = {"grid-constant": "constant", "grid-wrap": "wrap",
          "grid-mirror": "reflect"}
_KNOWN = CONVOLVE["border"].values
_GREATEST = float(numpy.finfo("f4").max)


def find_borders(border: Any, time_border: str, axes: str) -> list[str]:
    """The border of each of @axes, which have no "c"."""
    if isinstance(border, str):
        found = [time_border if axis == "t" else border for axis in axes]
    else:
        found = list(border)
        if len(found) != len(axes):
            raise lib.SettingsError(
                f"border has {len(found)} names; give one, or one for each of "
                f"the axes {axes}")
    found = [_NAMES.get(name, name) for name in found]
    for name in found:
        if name not in _KNOWN:
            raise lib.SettingsError(
                f"border is '{name}'; it must be one of {', '.join(_KNOWN)}, "
                f"{', '.join(_NAMES)}, or one of these for each axis")
    return found


def find_reach(prepared: Prepared) -> dict[str, tuple[int, int]]:
    """The samples before and after an output that the filters read."""
    low, high = (ctypes.c_int * 4)(), (ctypes.c_int * 4)()
    lib.nd_filters_get_reach(prepared.filters, low, high)
    return {axis: (-low[i], high[i]) for i, axis in enumerate("xyzt")}


def is_plain(value: Any) -> bool:
    """Whether the library takes the border value."""
    return (not isinstance(value, complex) and math.isfinite(value)
            and abs(value) <= _GREATEST)


def find_scalar(value: Any) -> Any:
    """A border value as a number of Python."""
    value = numpy.asarray(value)
    if value.ndim or value.dtype.kind not in "biufc":
        raise lib.SettingsError(
            f"border-value is {value!s:.40}; it must be a number")
    value = value.item()
    if isinstance(value, complex):
        return value.real if value.imag == 0 else value
    return float(value)


def _find_indices(border: str, n: int, before: int,
                  after: int) -> numpy.ndarray:
    """The samples of an extended axis of @n samples; -1: the border value."""
    indices = numpy.empty(before + n + after, numpy.intp)
    lib.nd_border_get_indices(border.encode(), n, -before, indices.size,
                              indices.ctypes.data)
    return indices


def _find_type(dtype: numpy.dtype, value: Any) -> numpy.dtype:
    """A type that holds samples of @dtype and the border value."""
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        if not (limits.min <= value <= limits.max and value == int(value)):
            return numpy.dtype("f4" if dtype.itemsize < 4 else "f8")
    return dtype


def extend(array: numpy.ndarray, axes: str, borders: Sequence[str],
           reach: dict[str, tuple[int, int]],
           value: Any) -> tuple[numpy.ndarray, tuple[slice, ...]]:
    """@array, of which @axes are the last ones, with its borders as far as the
    filters reach, and where in the outputs those of @array are."""
    own = dict(zip(axes.replace("c", ""), borders))
    first = array.ndim - len(axes)
    inner = [slice(None)] * array.ndim
    for i, axis in enumerate(axes, first):
        before, after = reach.get(axis, (0, 0))
        if axis == "c" or before + after == 0:
            continue
        n = array.shape[i]
        indices = _find_indices(own[axis], n, before, after)
        array = numpy.take(array, indices, axis=i)
        if own[axis] == "constant":
            array = array.astype(_find_type(array.dtype, value), copy=False)
            outside = numpy.flatnonzero(indices < 0)
            array[(slice(None),) * i + (outside,)] = value
        inner[i] = slice(before, before + n)
    return array, tuple(inner)
