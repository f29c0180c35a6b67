"""Short calls of `convolve` that were made before with other samples. What they
pass to the library is remembered, because to find it takes longer than to filter
a small image.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy

from . import _library as lib
from ._filters import Prepared

# The calls that are remembered, and the bytes of the coefficients of one.
MOST_CALLS = 512
MOST_BYTES = 1 << 14

_run = lib.find_plain("nd_convolve")
_known: dict[Any, Quick] = {}


def find_key(array: Any, filter_: Any, axes: str | None,
             settings: dict[str, Any]) -> Any:
    """What identifies a call, or None if it is not remembered."""
    if type(array) is not numpy.ndarray or not array.flags.aligned:
        return None
    if type(filter_) is numpy.ndarray:
        if filter_.nbytes > MOST_BYTES:
            return None
        filter_ = (filter_.tobytes(), filter_.shape, filter_.dtype)
    elif type(filter_) is not str:
        return None
    return (filter_, axes, tuple(settings.items()) if settings else None,
            array.dtype, array.shape, array.strides)


def find(key: Any) -> Quick | None:
    """The call of @key, if it was made before."""
    try:
        return _known.get(key)
    except TypeError:   # a list among the settings
        return None


def keep(key: Any, call: Quick) -> None:
    """Remembers @call."""
    try:
        if len(_known) >= MOST_CALLS:
            _known.clear()
        _known[key] = call
    except TypeError:
        pass


class _Arguments:
    """Those of nd_convolve(), for one thread at a time."""

    def __init__(self, call: Quick):
        self.source = lib.Array.from_buffer_copy(call.source)
        self.target = lib.Array.from_buffer_copy(call.target)
        self.saturated = ctypes.c_uint64()
        self.error = lib.new_error()
        self._watch = lib.Watch(None, lib.PROGRESS(0), None,
                                ctypes.pointer(self.saturated))
        self.all = (ctypes.c_void_p(call.prepared.filters),
                    ctypes.c_void_p(call.prepared.settings),
                    ctypes.byref(self.source), ctypes.byref(self.target),
                    ctypes.byref(self._watch), ctypes.byref(self.error))


class Quick:
    """A call for arrays of one shape and type."""

    def __init__(self, prepared: Prepared, source: lib.Array,
                 target: lib.Array, shape: tuple[int, ...], dtype: str):
        self.prepared = prepared
        # The library does not keep the name of a type.
        self.source, self.target = source, target
        self._shape, self._dtype = shape, numpy.dtype(dtype)
        self._free: list[_Arguments] = []

    def run(self, array: numpy.ndarray,
            warn: Callable[[Prepared, int, Any], Any]) -> numpy.ndarray:
        """The output."""
        out = numpy.empty(self._shape, self._dtype)
        try:
            arguments = self._free.pop()
        except IndexError:
            arguments = _Arguments(self)
        arguments.source.data = array.__array_interface__["data"][0]
        arguments.target.data = out.__array_interface__["data"][0]
        _run(*arguments.all)
        if arguments.error:
            lib.raise_error(arguments.error)
        if arguments.saturated.value:
            warn(self.prepared, arguments.saturated.value, out)
        self._free.append(arguments)
        return out
