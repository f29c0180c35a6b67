"""Types of samples that the library does not filter itself.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy

from . import _library as lib
from ._arrays import SENTENCE
from ._settings import CONVOLVE

# Computed in double precision, and exact up to this number.
_WIDE = ("int64", "uint64")
_EXACT = 2 ** 53
# The share of saturated samples above which a warning tells of them, as that of
# the elements.
SATURATED_TO_WARN = 0.001
# The types whose magnitude has half the bytes.
_COMPLEX = {"complex64": "float32", "complex128": "float64"}


class SaturationWarning(UserWarning):
    """Many outputs do not fit in their integer type."""


class Saturation:
    """A count of saturated samples among all that were computed."""

    def __init__(self) -> None:
        self.saturated = self.samples = 0

    def add(self, saturated: int, samples: int) -> None:
        """Counts more of them."""
        self.saturated += saturated
        self.samples += samples


class Accepted(NamedTuple):
    """An array that the library takes."""
    array: Any
    settings: dict[str, Any]
    final: numpy.dtype | None   # of the result, unless the library makes it


def find_name(output_type: Any) -> str:
    """The name of an output type: ``numpy.uint8``, ``"u1"``, ``float`` and so
    on."""
    if isinstance(output_type, str) and output_type in CONVOLVE[
            "output_type"].values:
        return output_type
    try:
        return numpy.dtype(output_type).newbyteorder("=").name
    except TypeError:
        return str(output_type)


def _check_range(array: numpy.ndarray) -> None:
    if array.size and (int(array.max()) > _EXACT or int(array.min()) < -_EXACT):
        raise lib.SettingsError(
            f"The array has integers beyond 2^53, which no filter computes "
            "exactly: divide them, or convert them by "
            "array.astype('float64') and use precision='double'")


def accept(array: Any, settings: dict[str, Any]) -> Accepted:
    """@array with samples that the library takes, and the settings for it.
    int64 and uint64 become float64, bool becomes uint8, and other byte orders
    become that of the machine."""
    if not isinstance(array, numpy.ndarray):
        if hasattr(array, "__cuda_array_interface__") or hasattr(
                array, "__dlpack__"):
            return _accept_output(array, settings, None)
        array = numpy.asarray(array)
    dtype = array.dtype
    if not dtype.isnative:
        dtype = dtype.newbyteorder("=")
        array = array.astype(dtype)
    if dtype == bool:
        array = array.view("u1")
    elif dtype.name in _WIDE:
        _check_range(array)
        array = array.astype("f8")
        settings = {**settings, "precision": "double"}
    elif dtype.kind not in "iufc":
        raise TypeError(f"array has samples of the type {dtype}; {SENTENCE}")
    return _accept_output(array, settings, dtype)


def _accept_output(array: Any, settings: dict[str, Any],
                   dtype: numpy.dtype | None) -> Accepted:
    name = find_name(settings.get("output_type", "same"))
    final = None
    if name == "same" and dtype is not None and (
            dtype == bool or dtype.name in _WIDE):
        # Responses that are no samples have a type of their own.
        name = dtype.name
    if name in _WIDE or name == "bool":
        final = numpy.dtype(name)
        settings = {**settings, "output_type": "float64",
                    "precision": "double"}
    elif name in _COMPLEX:
        final = numpy.dtype(name)
        settings = {**settings, "output_type": _COMPLEX[name]}
    elif name != settings.get("output_type", "same"):
        settings = {**settings, "output_type": name}
    return Accepted(array, settings, final)


def convert(result: numpy.ndarray, final: numpy.dtype,
            out: Any) -> tuple[Any, int]:
    """@result as samples of the type @final, in @out if it is not None, and the
    number of saturated samples."""
    saturated = 0
    if final.name in _WIDE and result.dtype.kind == "f":
        result = numpy.rint(result)
        limits = numpy.iinfo(final)
        # The largest doubles below the limits, which are no doubles.
        low, high = float(limits.min), numpy.nextafter(float(limits.max), 0)
        saturated = int(numpy.count_nonzero((result < low) | (result > high)))
        if numpy.any(numpy.abs(result) > _EXACT):
            warnings.warn(
                f"Outputs above 2^53 are rounded, because {final} is computed "
                "in double precision", stacklevel=4)
        result = numpy.nan_to_num(numpy.clip(result, low, high))
    elif final == bool:
        result = result != 0
    if out is None:
        return result.astype(final, copy=False), saturated
    out[...] = result.astype(final, copy=False)
    return out, saturated


def warn(saturated: int, samples: int, dtype: Any, stacklevel: int) -> bool:
    """Tells of @saturated of @samples outputs of @dtype, if they are many."""
    if saturated <= SATURATED_TO_WARN * samples:
        return False
    warnings.warn(
        f"{100 * saturated / samples:.2g} % of the outputs do not fit in "
        f"{dtype} and are saturated: use output_type='float32' or 'int16', or "
        "gain and offset", SaturationWarning, stacklevel + 1)
    return True
