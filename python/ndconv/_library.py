"""The functions of libndconv, by ctypes, which releases the GIL in each call.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import itertools
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double,
                    c_int, c_size_t, c_ssize_t, c_uint, c_uint32, c_uint64,
                    c_void_p)
from typing import TYPE_CHECKING, Any, Callable, Iterator

from ._printable import printable

AXES = 4  # x, y, z, t


class Error(Exception):
    """The library refused or failed to do something; the message says why."""

    def __str__(self) -> str:
        return printable(super().__str__())


class SettingsError(Error, ValueError):
    """A filter, a setting or an array that the library cannot use."""


class FormatError(Error, ValueError):
    """Samples or a file of a kind that the library does not support."""


class FileError(Error, OSError):
    """A file that cannot be opened, read or written."""


class OutOfMemoryError(Error, MemoryError):
    """The memory of the machine or of a device does not suffice."""


class BackendError(Error, RuntimeError):
    """A back end that does not work on this machine."""


class CancelledError(Error):
    """The caller cancelled the computation."""


# By the numbers of NdError.
_ERRORS = [SettingsError, FileError, FileError, FileError, FileError, FileError,
           OutOfMemoryError, FormatError, BackendError, CancelledError, Error,
           FileError]


class Array(Structure):
    """NdArray."""
    _fields_ = [("data", c_void_p), ("type", c_char_p),
                ("components", c_size_t), ("responses", c_size_t),
                ("size", c_size_t * AXES), ("strides", c_ssize_t * AXES),
                ("component_stride", c_ssize_t),
                ("response_stride", c_ssize_t), ("on_device", c_int),
                ("reserved", c_void_p * 4)]


class Block(Structure):
    """NdBlock."""
    _fields_ = [("out_start", c_size_t * AXES), ("out_size", c_size_t * AXES),
                ("in_start", c_size_t * AXES), ("in_size", c_size_t * AXES)]


PROGRESS = CFUNCTYPE(None, c_size_t, c_size_t, c_void_p)


class Watch(Structure):
    """NdWatch."""
    _fields_ = [("cancelled", POINTER(c_int)), ("progress", PROGRESS),
                ("data", c_void_p), ("saturated", POINTER(c_uint64)),
                ("reserved", c_void_p * 3)]


class VolumeMotion(Structure):
    """NdVolumeMotion."""
    _fields_ = [("matrix", c_double * 12), ("residual", c_double),
                ("unexplained", c_double), ("overlap", c_double),
                ("iterations", c_uint), ("measured", c_int),
                ("restarted", c_int), ("reserved", c_void_p * 4)]


class VolumeResidue(Structure):
    """NdVolumeResidue."""
    _fields_ = [("residue", c_double), ("iterations", c_uint),
                ("reserved", c_void_p * 2)]


class Timing(Structure):
    """NdTiming."""
    _fields_ = [("backend", ctypes.c_char * 16), ("method", ctypes.c_char * 16),
                ("seconds", c_double), ("slowest", c_double),
                ("bytes", c_size_t), ("delay", c_uint), ("measured", c_int),
                ("reserved", c_void_p * 4)]


class _GError(Structure):
    _fields_ = [("domain", c_uint32), ("code", c_int), ("message", c_char_p)]


_sizes = c_size_t * AXES
_ints = c_int * AXES
_doubles = POINTER(c_double)
_error = POINTER(POINTER(_GError))

# Name: result, arguments. "!" stands for the last argument, a GError, which
# becomes an exception.
_FUNCTIONS = {
    "nd_version": (c_char_p,),
    "nd_count_cores": (c_uint,),
    "nd_settings_new": (c_void_p,),
    "nd_settings_free": (None, c_void_p),
    "nd_settings_set": (c_int, c_void_p, c_char_p, c_char_p, "!"),
    "nd_list_settings": (c_void_p,),
    "nd_border_get_indices": (c_int, c_char_p, c_size_t, c_ssize_t, c_size_t,
                              c_void_p, "!"),
    "nd_filters_new": (c_void_p, c_char_p, c_void_p, POINTER(c_int), "!"),
    "nd_filters_new_from_arrays": (c_void_p, c_uint, _sizes, c_void_p, c_void_p,
                                   c_void_p, "!"),
    "nd_filters_free": (None, c_void_p),
    "nd_filters_get_count": (c_uint, c_void_p),
    "nd_filters_are_complex": (c_int, c_void_p),
    "nd_filters_get": (None, c_void_p, c_uint, _sizes, _ints,
                       POINTER(_doubles), POINTER(_doubles)),
    "nd_filters_get_reach": (None, c_void_p, _ints, _ints),
    "nd_filters_get_warning": (c_char_p, c_void_p),
    "nd_filters_describe": (c_void_p, c_void_p),
    "nd_list_designs": (POINTER(c_char_p),),
    "nd_stream_new": (c_void_p, c_void_p, c_void_p, POINTER(Array),
                      POINTER(c_int), "!"),
    "nd_stream_free": (None, c_void_p),
    "nd_stream_push": (c_int, c_void_p, POINTER(Array), "!"),
    "nd_stream_ready": (c_int, c_void_p),
    "nd_stream_take": (c_int, c_void_p, POINTER(Array), "!"),
    "nd_stream_skip": (None, c_void_p),
    "nd_stream_cancel": (None, c_void_p),
    "nd_stream_end": (None, c_void_p),
    "nd_stream_flush": (None, c_void_p),
    "nd_stream_get_backend": (c_char_p, c_void_p),
    "nd_stream_get_method": (c_char_p, c_void_p),
    "nd_stream_get_reason": (c_char_p, c_void_p),
    "nd_stream_get_estimate": (c_double, c_void_p),
    "nd_stream_get_bytes": (c_size_t, c_void_p),
    "nd_stream_get_pushed": (c_uint64, c_void_p),
    "nd_stream_get_taken": (c_uint64, c_void_p),
    "nd_stream_get_saturated": (c_uint64, c_void_p),
    "nd_stream_get_delay": (c_uint, c_void_p),
    "nd_convolve": (c_int, c_void_p, c_void_p, POINTER(Array), POINTER(Array),
                    POINTER(Watch), "!"),
    "nd_convolve_init_output": (c_int, c_void_p, c_void_p, POINTER(Array),
                                POINTER(Array), "!"),
    "nd_deconvolve": (c_int, c_void_p, c_uint, c_void_p, POINTER(Array),
                      POINTER(Array), POINTER(VolumeResidue), POINTER(Watch),
                      "!"),
    "nd_register": (c_int, c_void_p, POINTER(Array), POINTER(Array),
                    POINTER(VolumeMotion), POINTER(Watch), "!"),
    "nd_rank": (c_int, c_void_p, POINTER(Array), POINTER(Array),
                POINTER(Watch), "!"),
    "nd_warp": (c_int, c_void_p, _doubles, POINTER(Array), POINTER(Array),
                POINTER(Watch), "!"),
    "nd_time_filters": (c_int, c_void_p, c_void_p, POINTER(Array), c_double,
                        POINTER(c_int), POINTER(Timing), "!"),
    "nd_time_denoiser": (c_int, c_char_p, c_void_p, POINTER(Array), c_double,
                         POINTER(c_int), POINTER(Timing), "!"),
    "nd_plan_blocks": (c_void_p, c_void_p, c_void_p, _sizes, _sizes, c_void_p,
                       POINTER(c_size_t), "!"),
    "nd_recording_reader_new": (c_void_p, c_char_p, POINTER(Array), c_size_t,
                                c_size_t, c_int, "!"),
    "nd_recording_reader_free": (None, c_void_p),
    "nd_recording_reader_init_array": (None, c_void_p, POINTER(Array)),
    "nd_recording_reader_get_format": (c_char_p, c_void_p),
    "nd_recording_reader_get_warnings": (POINTER(c_char_p), c_void_p),
    "nd_recording_reader_get_rate": (c_int, c_void_p, POINTER(c_int),
                                     POINTER(c_int)),
    "nd_recording_reader_get_geometry": (c_int, c_void_p, _doubles, _doubles,
                                         _doubles),
    "nd_recording_reader_read": (c_int, c_void_p, c_size_t, c_void_p, "!"),
    "nd_recording_writer_new": (c_void_p, c_char_p, POINTER(Array), c_void_p,
                                c_int, "!"),
    "nd_recording_writer_free": (None, c_void_p),
    "nd_recording_writer_write": (c_int, c_void_p, c_void_p, "!"),
    "nd_recording_writer_finish": (c_int, c_void_p, "!"),
    "nd_recording_writer_get_warning": (c_char_p, c_void_p),
    "nd_list_backends": (c_void_p,),
    "nd_list_devices": (c_void_p, c_char_p, "!"),
}


def _open() -> ctypes.CDLL:
    """The library that NDCONV_LIBRARY names, that of the wheel, or the one that
    is installed."""
    named = os.environ.get("NDCONV_LIBRARY")
    if named:
        return ctypes.CDLL(named)
    folder = pathlib.Path(__file__).resolve().parent.parent
    for path in sorted((folder / ".ndconv.mesonpy.libs").glob("libndconv.so*")):
        return ctypes.CDLL(str(path))
    try:
        return ctypes.CDLL("libndconv.so.0")
    except OSError as error:
        raise ImportError(
            f"libndconv.so.0 cannot be opened: {error}; install the package by "
            "pip, or the library by 'meson install', or name its file in the "
            "environment variable NDCONV_LIBRARY") from error


_library = _open()
_library.nd_library_error_quark.restype = c_uint32
_glib = ctypes.CDLL("libglib-2.0.so.0")
_glib.g_free.argtypes = [c_void_p]
_glib.g_free.restype = None
_glib.g_strfreev.argtypes = [c_void_p]
_glib.g_strfreev.restype = None
_glib.g_error_free.argtypes = [c_void_p]
_glib.g_error_free.restype = None


def _raise(error: Any) -> None:
    domain, code = error.contents.domain, error.contents.code
    message = error.contents.message.decode("utf-8", "replace")
    _glib.g_error_free(error)
    # GLib has errors of its own.
    is_known = (domain == _library.nd_library_error_quark()
                and code < len(_ERRORS))
    raise (_ERRORS[code] if is_known else Error)(message)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Calls @function with a GError and raises it."""
    def call(*arguments: Any) -> Any:
        error = POINTER(_GError)()
        result = function(*arguments, byref(error))
        if error:
            _raise(error)
        return result
    return call


def _bind(name: str, signature: tuple) -> Callable[..., Any]:
    function = getattr(_library, name)
    raises = signature[-1] == "!"
    function.restype = signature[0]
    function.argtypes = [*(signature[1:-1] if raises else signature[1:]),
                         *([_error] if raises else [])]
    return _checked(function) if raises else function


for _name, _signature in _FUNCTIONS.items():
    globals()[_name] = _bind(_name, _signature)

if TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """For checkers, which do not see the functions above."""


def find_plain(name: str) -> Callable[..., Any]:
    """A function that takes arguments of ctypes only, without conversions, and
    fills the GError of `new_error`."""
    function = _library[name]
    function.restype = None
    return function


def new_error() -> Any:
    """A GError, which is not set."""
    return POINTER(_GError)()


raise_error = _raise


def refuse_copy(thing: Any, remedy: str) -> Any:
    """For __reduce_ex__() of what owns objects of the library: a copy would free
    them a second time."""
    name = type(thing).__name__.lstrip("_")
    raise TypeError(f"A {name} cannot be copied or pickled, because it owns "
                    f"objects of the library: {remedy}")


def take_text(pointer: int) -> str:
    """The text at @pointer, which is freed."""
    text = ctypes.string_at(pointer).decode()
    _glib.g_free(pointer)
    return text


def take_texts(pointer: int) -> list[str]:
    """The texts of a list that ends with NULL and is freed."""
    found = list(read_texts(ctypes.cast(pointer, POINTER(c_char_p))))
    _glib.g_strfreev(pointer)
    return found


def read_texts(texts: Any) -> Iterator[str]:
    """The texts of a list that ends with NULL."""
    return (text.decode() for text in itertools.takewhile(
        lambda text: text is not None, texts))


def free(pointer: int) -> None:
    """g_free()."""
    _glib.g_free(pointer)
