"""Filters and settings, and their descriptions by the library.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import functools
import math
import warnings
from typing import Any, Sequence, Union

import numpy
from numpy.typing import ArrayLike

from . import _library as lib
from ._calls import call_with_flag
from ._settings import CONVOLVE, check_names
from ._types import find_name

Filter = Union[str, ArrayLike]

_AXES = {"x": "x", "yx": "xy", "zyx": "xyz", "tyx": "xyt", "tzyx": "xyzt"}
_PER_AXIS = ("origin", "spacing")


def check_axes(axes: str | None, ndim: int) -> str:
    """Names of the last axes of an array: "x", "yx", "zyx", "tyx" or "tzyx", and
    "c" for components anywhere among them."""
    if axes is None:
        axes = {1: "x", 2: "yx", 3: "zyx", 4: "tzyx"}.get(ndim)
        if axes is None:
            raise lib.SettingsError(
                f"The array has {ndim} axes; with 1 to 4 they are (t, z, y,) x; "
                "otherwise give axes, as axes='tyx' or axes='zyxc'")
    if (not isinstance(axes, str) or axes.replace("c", "", 1) not in _AXES
            or len(axes) > ndim):
        raise lib.SettingsError(
            f"axes is {axes!r} and the array has {ndim} axes; axes names the "
            "last ones: 'x', 'yx', 'zyx', 'tyx' or 'tzyx', with 'c' for components")
    return axes


def _text(name: str, value: Any) -> str:
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if name == "output_type":
        return find_name(value)
    if name in _PER_AXIS and not isinstance(value, (str, int, float)):
        # The library's order is x, y, z, t.
        return ":".join(str(number) for number in reversed(tuple(value)))
    if name == "devices" and isinstance(value, (tuple, list, range)):
        return ",".join(str(number) for number in value)
    if isinstance(value, (float, numpy.floating)):
        return repr(float(value))
    return str(value)


def _origin(value: Any, axes: str) -> str:
    """One number is for all axes, as in SciPy."""
    if isinstance(value, (int, numpy.integer)):
        value = [value] * len(axes)
    if len(tuple(value)) != len(axes):
        raise lib.SettingsError(
            f"origin has {len(tuple(value))} numbers; give one, or one for each "
            f"of the axes {axes}")
    return _text("origin", value)


class Prepared:
    """Filters and settings of the library."""

    def __init__(self, filter_: Any, axes: str, settings: dict[str, Any]):
        self._free = (lib.nd_settings_free, lib.nd_filters_free)
        self.settings = self.filters = None
        self.settings = lib.nd_settings_new()
        self.axes = axes
        self.outputs: dict[tuple[bytes, int], tuple[str, int, int]] = {}
        self.set("axes", _AXES[axes])
        for name, value in settings.items():
            if name == "origin":
                if not isinstance(value, (int, numpy.integer)) or value != 0:
                    self.set("origin", _origin(value, axes))
            elif value is not None:
                self.set(name.replace("_", "-"), _text(name, value))
        self._taps: int | None = None           # not counted yet
        self.warned: set[str] = set()   # types whose saturation was told
        self.is_separable: bool | None = None   # not known yet
        self.pieces: dict[Any, Any] = {}        # of blocks
        self.is_bank = False
        if isinstance(filter_, str):
            self.filters = call_with_flag(lambda flag, _: lib.nd_filters_new(
                filter_.encode(), self.settings, flag))
        else:
            self._take_array(*filter_)
        warning = lib.nd_filters_get_warning(self.filters)
        if warning:
            warnings.warn(warning.decode(), stacklevel=5)
        self.count = lib.nd_filters_get_count(self.filters)
        self.is_bank = self.is_bank or self.count > 1
        self.is_complex = bool(lib.nd_filters_are_complex(self.filters))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return lib.refuse_copy(self, "prepare the filter again")

    def __del__(self) -> None:
        free_settings, free_filters = self._free
        if self.filters:
            free_filters(self.filters)
        if self.settings:
            free_settings(self.settings)

    def set(self, name: str, value: str) -> None:
        lib.nd_settings_set(self.settings, name.encode(), value.encode())

    def _take_array(self, data: bytes, shape: tuple[int, ...],
                    dtype: str) -> None:
        w = numpy.frombuffer(data, dtype).reshape(shape)
        self.is_bank = w.ndim == len(self.axes) + 1
        if not self.is_bank:
            w = w[None]
        if w.ndim != len(self.axes) + 1:
            raise lib.SettingsError(
                f"The filter has {len(shape)} axes; it needs {len(self.axes)}, "
                f"as the axes {self.axes} have, or one more for a bank")
        sizes = dict(zip(self.axes, w.shape[1:]))
        size = (ctypes.c_size_t * 4)(*(sizes.get(axis, 1) for axis in "xyzt"))
        real = numpy.ascontiguousarray(w.real, "f8")
        imaginary = None
        if numpy.iscomplexobj(w):
            imaginary = numpy.ascontiguousarray(w.imag, "f8")
        self.filters = lib.nd_filters_new_from_arrays(
            w.shape[0], size, real.ctypes.data,
            None if imaginary is None else imaginary.ctypes.data, self.settings)

    def count_taps(self) -> int:
        """The coefficients of all filters."""
        if self._taps is None:
            size, origin = (ctypes.c_size_t * 4)(), (ctypes.c_int * 4)()
            self._taps = 0
            for i in range(self.count):
                lib.nd_filters_get(self.filters, i, size, origin, None, None)
                self._taps += math.prod(size)
        return self._taps

    def origin(self, i: int) -> tuple[int, ...]:
        """The origin of filter @i, in the order of the axes."""
        size, origin = (ctypes.c_size_t * 4)(), (ctypes.c_int * 4)()
        lib.nd_filters_get(self.filters, i, size, origin, None, None)
        found = dict(zip("xyzt", origin))
        return tuple(found[axis] for axis in self.axes)

    def coefficients(self, i: int) -> numpy.ndarray:
        size, origin = (ctypes.c_size_t * 4)(), (ctypes.c_int * 4)()
        parts = [ctypes.POINTER(ctypes.c_double)() for _ in range(2)]
        lib.nd_filters_get(self.filters, i, size, origin, parts[0], parts[1])
        sizes = dict(zip("xyzt", size))
        shape = tuple(sizes[axis] for axis in self.axes)
        real = numpy.ctypeslib.as_array(parts[0], shape).copy()
        if not parts[1]:
            return real + 0j if self.is_complex else real
        return real + 1j * numpy.ctypeslib.as_array(parts[1], shape)


@functools.lru_cache(maxsize=64)
def _prepare(filter_: Any, axes: str, settings: tuple) -> Prepared:
    return Prepared(filter_, axes, dict(settings))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, numpy.ndarray)) else value


def is_in_file(filter_: Filter) -> bool:
    """Whether coefficients of @filter_ are in a file, which can change."""
    return isinstance(filter_, str) and "location" in filter_


def prepare(filter_: Filter, axes: str, settings: dict[str, Any]) -> Prepared:
    """Filters and settings, which are remembered: a design may take longer than
    many convolutions. @axes without "c"."""
    check_names(settings.keys(), CONVOLVE)
    key = tuple((name, _hashable(value)) for name, value in settings.items())
    if is_in_file(filter_):
        return Prepared(filter_, axes, settings)
    if isinstance(filter_, str):
        return _prepare(filter_, axes, key)
    if hasattr(filter_, "__dlpack__") and not isinstance(filter_,
                                                         numpy.ndarray):
        filter_ = filter_.get() if hasattr(filter_, "get") else filter_
        if hasattr(filter_, "detach"):
            filter_ = filter_.detach().cpu()
    w = numpy.asarray(filter_)
    if w.dtype.kind not in "biufc":
        raise lib.SettingsError(
            f"The filter is an array of {w.dtype}; it must have numbers, or be "
            "a text such as 'gaussian,sigma=1.5'")
    w = w.astype("c16" if w.dtype.kind == "c" else "f8", copy=False)
    return _prepare((w.tobytes(), w.shape, w.dtype.str), axes, key)


def design(filter: str, *, axes: str = "zyx",
           **settings: Any) -> numpy.ndarray | list[numpy.ndarray]:
    """Coefficients of a filter that is given by a text.

    Parameters
    ----------
    filter : str
        A design and its parameters, ``"gaussian,sigma=1.5"``, or several that
        are separated by ``;``. Sizes and directions in the text are in the
        order x, y, z, t.
    axes : {"x", "yx", "zyx", "tyx", "tzyx"}
        The axes that the filter extends along.
    **settings
        ``normalize``, ``causal``, ``spacing`` (mm along the axes in space, or
        text in the order x, y, z, as ``"0.3um:0.3um:1um"``), ``rate`` (volumes
        per second).

    Returns
    -------
    numpy.ndarray or list of numpy.ndarray
        float64, or complex128 for complex filters, in the order of `axes`; a
        list if the text has several filters.

    Raises
    ------
    SettingsError
        If the text cannot be read or a parameter is wrong.

    Examples
    --------
    >>> import ndconv
    >>> ndconv.design("box,size=3", axes="yx")
    array([[0.11111111, 0.11111111, 0.11111111],
           [0.11111111, 0.11111111, 0.11111111],
           [0.11111111, 0.11111111, 0.11111111]])
    >>> ndconv.design("gaussian,sigma=1", axes="tyx").shape
    (9, 9, 9)
    """
    prepared = prepare(filter, check_axes(axes, 4), settings)
    found = [prepared.coefficients(i) for i in range(prepared.count)]
    return found if prepared.is_bank else found[0]


def describe(filter: Filter, *, axes: str = "zyx", **settings: Any) -> str:
    """Size, sum, rank, symmetry, gain, band and lag of filters, for people.

    Parameters
    ----------
    filter : str or array
        A text as for `design`, or coefficients in the order of `axes`.
    axes : {"x", "yx", "zyx", "tyx", "tzyx"}
        The axes that the filter extends along.
    **settings
        As for `design`.

    Returns
    -------
    str
        Lines of text; with `spacing` and `rate` also in physical units.

    Examples
    --------
    >>> import ndconv
    >>> print(ndconv.describe("box,size=3", axes="yx").splitlines()[1])
    size        3:3:1:1 (x:y:z:t), 9 real coefficients
    """
    prepared = prepare(filter, check_axes(axes, 4), settings)
    return lib.take_text(lib.nd_filters_describe(prepared.filters))


def designs() -> list[str]:
    """The names of all designs.

    Examples
    --------
    >>> import ndconv
    >>> "gaussian" in ndconv.designs()
    True
    """
    return list(lib.read_texts(lib.nd_list_designs()))


def spread(values: Sequence[int], axes: str, rest: int) -> ctypes.Array:
    """Numbers in the order of @axes as x, y, z, t of the library."""
    known = dict(zip(axes, values))
    return (ctypes.c_size_t * 4)(*(known.get(axis, rest) for axis in "xyzt"))
