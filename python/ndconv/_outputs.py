"""The library's descriptions of arrays, and of the outputs that they give.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import functools
import sys
from typing import Any

from . import _library as lib
from ._arrays import COMPLEX, SENTENCE, View
from ._filters import Filter, Prepared, prepare

_MEMBERS = {"x": 0, "y": 1, "z": 2, "t": 3}


def to_array(memory: View, axes: str, bank: bool = False,
             responses: int = 1) -> lib.Array:
    """NdArray of the last axes of @memory, named @axes. The first axis is that of
    a bank's responses if @bank."""
    array = lib.Array(data=memory.pointer, type=memory.type, components=1,
                      responses=1, size=(1, 1, 1, 1))
    shape, strides = memory.shape, memory.strides
    first = len(shape) - len(axes)
    for i, axis in enumerate(axes, first):
        if axis == "c":
            array.components = shape[i]
            array.component_stride = strides[i]
        else:
            at = _MEMBERS[axis]
            array.size[at] = shape[i]
            array.strides[at] = strides[i]
    if bank:
        array.responses = responses
        array.response_stride = strides[0]
    if memory.complex:
        array.components = 2
        array.component_stride = 8 if memory.type == b"float64" else 4
    array.on_device = memory.device is not None
    return array


def find_output(prepared: Prepared, array: lib.Array) -> tuple[str, int, int]:
    """Type, components and responses of the output."""
    key = (array.type, array.components)
    found = prepared.outputs.get(key)
    if found is None:
        out = lib.Array()
        lib.nd_convolve_init_output(prepared.filters, prepared.settings, array,
                                    out)
        found = (out.type.decode(), out.components, out.responses)
        prepared.outputs[key] = found
    return found


class Layout:
    """The shape of the output for an input of @shape with @axes."""

    def __init__(self, prepared: Prepared, array: lib.Array, axes: str,
                 shape: tuple[int, ...]):
        self.type, self.components, responses = find_output(prepared, array)
        self.responses = responses
        self.bank = prepared.is_bank and (responses > 1 or prepared.count == 1)
        # Real and imaginary part are one complex number.
        number = COMPLEX.get(self.type.encode())
        self.complex = bool(self.components == 2 and number
                            and "c" not in axes)
        self.dtype = number if self.complex and number else self.type
        self.axes = axes
        if self.components > 1 and not self.complex and "c" not in axes:
            self.axes += "c"
            shape = shape + (self.components,)
        if self.bank:
            shape = (responses,) + shape
        self.shape = shape


@functools.lru_cache(maxsize=1)
def _count_devices() -> int:
    """The GPUs of this machine that CUDA filters on. A back end that has some
    but does not name them refuses wrong numbers itself."""
    try:
        return len(lib.take_texts(lib.nd_list_devices(b"cuda"))) or sys.maxsize
    except lib.Error:
        return 0


def _check_device(settings: dict[str, Any]) -> None:
    """Refuses GPUs that this machine has not, which backend=auto would replace
    by the CPU in silence."""
    if settings.get("backend", "auto") not in ("auto", "cuda"):
        return
    devices = settings.get("devices") or ""
    if not isinstance(devices, (tuple, list, range)):
        devices = str(devices).split(",")
    for name, value in [("device_id", settings.get("device_id", -1)),
                        *(("devices", device) for device in devices)]:
        number = str(value).strip()
        if number.isdecimal() and int(number) >= _count_devices():
            n = _count_devices()
            raise lib.SettingsError(
                f"{name} has the GPU {number}; this machine has "
                + (f"{n} for CUDA, counted from 0" if n else
                   "none for CUDA: use backend='cpu'"))


def settings_for(filter_: Filter, axes: str, memory: View,
                 settings: dict[str, Any]) -> Prepared:
    """Prepared filters. By default complex responses are complex numbers,
    whatever the input is, and arrays on a GPU are filtered there."""
    _check_device(settings)
    is_double = settings.get("precision", "single") == "double"
    if memory.type == b"float64" and not is_double:
        kind = COMPLEX[memory.type] if memory.complex else "float64"
        raise TypeError("The array has samples of the type "
                        f"{kind}; {SENTENCE}")
    if memory.device is not None:
        settings = {"backend": "cuda", **settings}
        if not settings.get("devices"):
            settings = {"device_id": memory.device, **settings}
    own = axes.replace("c", "")
    prepared = prepare(filter_, own, settings)
    if (prepared.is_complex and memory.type not in COMPLEX
            and settings.get("output_type", "same") == "same"
            and settings.get("response", "all") == "all"):
        prepared = prepare(filter_, own, {
            **settings, "output_type": "float64" if is_double else "float32"})
    return prepared
