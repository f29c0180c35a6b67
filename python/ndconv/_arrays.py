"""Arrays of NumPy, CuPy, PyTorch and others as memory, without copies.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

import numpy

TYPES: dict[Any, bytes] = {numpy.dtype(name): name.encode() for name in (
    "uint8", "int16", "uint16", "float32", "int8", "int32", "uint32",
    "float16", "float64")}
# The real and imaginary parts of complex numbers.
_PARTS: dict[Any, bytes] = {numpy.dtype("complex64"): b"float32",
                            numpy.dtype("complex128"): b"float64"}
COMPLEX: dict[bytes, str] = {part: dtype.name for dtype, part in _PARTS.items()}
SENTENCE = ("filters take uint8, int16, uint16, float32, int8, int32, uint32, "
            "float16 and complex64, with precision='double' also float64 and "
            "complex128, in the byte order of the machine: convert it, for "
            "example by array.astype('float32')")

ALIGN = "use an array that NumPy allocated"


class View(NamedTuple):
    """Memory of an array; strides are in bytes."""
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    type: bytes       # of the library
    complex: bool     # pairs of that type
    device: int | None  # of a GPU; None: memory of the host
    owner: Any        # keeps the memory


def find_kind(dtype: Any) -> tuple[bytes | None, bool]:
    """The library's type of @dtype, or None, and whether numbers are complex."""
    dtype = numpy.dtype(dtype)
    return _PARTS.get(dtype, TYPES.get(dtype)), dtype in _PARTS


def _of_numpy(array: numpy.ndarray, name: str, writes: bool) -> View:
    kind, is_complex = find_kind(array.dtype)
    if kind is None:
        raise TypeError(f"{name} has samples of the type {array.dtype}; "
                        f"{SENTENCE}")
    if writes and not array.flags.writeable:
        raise ValueError(f"{name} cannot be written: it is read-only")
    if not array.flags.aligned:
        if writes:
            raise ValueError(f"{name} is not aligned in memory: {ALIGN}")
        array = array.copy()
    return View(array.ctypes.data, array.shape, array.strides, kind, is_complex,
                None, array)


def _wait(array: Any) -> int:
    """Waits for the work that writes @array, and returns its device."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        torch = sys.modules["torch"]
        torch.cuda.current_stream(array.device).synchronize()
        return array.device.index
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with array.device:
            cupy.cuda.get_current_stream().synchronize()
        return array.device.id
    raise TypeError(f"Arrays of {library} on a GPU are not known: pass them as "
                    "CuPy or PyTorch arrays, for example by cupy.asarray()")


def _of_device(array: Any, name: str, writes: bool) -> View:
    interface = array.__cuda_array_interface__
    if writes and interface["data"][1]:
        raise ValueError(f"{name} cannot be written: it is read-only")
    dtype = numpy.dtype(interface["typestr"])
    kind, is_complex = find_kind(dtype)
    if kind is None:
        raise TypeError(f"{name} has samples of the type {dtype}; {SENTENCE}")
    pointer, shape = interface["data"][0], tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        strides, bytes_ = [], dtype.itemsize
        for size in reversed(shape):
            strides.insert(0, bytes_)
            bytes_ *= size
    return View(pointer, shape, tuple(strides), kind, is_complex, _wait(array),
                array)


_get_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_get_capsule_name.argtypes = [ctypes.py_object]
_get_capsule_name.restype = ctypes.c_char_p


def _tells_read_only(array: Any) -> bool:
    """Whether @array is exchanged by DLPack 1.0, which has a flag for that."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:
        return False
    return _get_capsule_name(capsule) == b"dltensor_versioned"


def _of_dlpack(array: Any, name: str, writes: bool) -> View:
    try:
        shared = numpy.from_dlpack(array)
    except (TypeError, RuntimeError, BufferError, AttributeError) as error:
        raise TypeError(f"{name} cannot be used: {error}") from error
    # NumPy marks all arrays of DLPack before 1.0 read-only.
    if writes and not shared.flags.writeable and _tells_read_only(array):
        raise ValueError(f"{name} cannot be written: it is read-only")
    if writes and not shared.flags.aligned:
        raise ValueError(f"{name} is not aligned in memory: {ALIGN}")
    # The export of some libraries owns memory of its own.
    memory = _of_numpy(shared, name, False)
    return memory._replace(owner=(array, memory.owner))


def view(array: Any, name: str, writes: bool = False) -> View:
    """The memory of @array: of NumPy, of a GPU (__cuda_array_interface__), or of
    whatever exchanges by DLPack or the array interface."""
    if isinstance(array, numpy.ndarray):
        return _of_numpy(array, name, writes)
    if hasattr(array, "__cuda_array_interface__"):
        return _of_device(array, name, writes)
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(array, name, writes)
    if writes:
        raise TypeError(f"{name} is no array: {type(array).__name__}")
    return _of_numpy(numpy.asarray(array), name, writes)


def empty(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """An array of the library and on the device of @like."""
    library = type(like).__module__.partition(".")[0]
    if library == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype),
                           device=like.device)
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)
    return numpy.empty(shape, dtype)
