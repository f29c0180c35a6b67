"""Whole arrays.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, Callable

import numpy

from . import _library as lib
from ._arrays import COMPLEX, SENTENCE, View, empty, view
from ._calls import Cancel, Report, call_with_flag
from ._filters import (DEFAULTS, Filter, Prepared, check_axes, prepare)
from ._lazy import convolve_lazily, find_depth, is_lazy

# Products of samples and coefficients that take a few milliseconds by any
# method.
SHORT = 5_000_000
_MEMBERS = {"x": 0, "y": 1, "z": 2, "t": 3}


def to_array(memory: View, axes: str, skip: int, bank: bool = False,
             responses: int = 1, times: bool = False) -> lib.Array:
    """NdArray of the last axes of @memory, named @axes. The first axis is that of
    a bank's responses if @bank; @skip more come before @axes, and if @times the
    last of these counts volumes."""
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
    if times:
        array.size[3] = shape[first - 1]
        array.strides[3] = strides[first - 1]
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
    """The GPUs of this machine that CUDA filters on."""
    try:
        return len(lib.take_texts(lib.nd_list_devices(b"cuda")))
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


def _count_all(progress: Callable[[int, int], Any] | None, i: int,
               n: int) -> Callable[[int, int], Any] | None:
    """@progress of part @i of @n parts of equal size."""
    return progress and (lambda done, total: progress(i * total + done,
                                                      n * total))


def _run(prepared: Prepared, source: lib.Array, target: lib.Array,
         progress: Callable[[int, int], Any] | None, cancel: Cancel | None,
         kept: Any) -> None:
    """@kept are arrays that live as long as the call."""
    def run(flag: ctypes.c_int, report: Report) -> Any:
        told = lib.PROGRESS(
            (lambda done, total, _data: report(done, total))
            if progress else 0)
        watch = lib.Watch(ctypes.pointer(flag), told)
        return kept and lib.nd_convolve(prepared.filters, prepared.settings,
                                        source, target, watch)
    work = math.prod(source.size) * source.components * prepared.count_taps()
    call_with_flag(run, cancel, progress, work < SHORT)


def _check_out(out: View, layout: Layout) -> None:
    if (out.shape != layout.shape or out.type.decode() != layout.type
            or out.complex != layout.complex):
        kind = COMPLEX[out.type] if out.complex else out.type.decode()
        raise lib.SettingsError(
            f"out is {kind} of the shape {out.shape}; this filter gives "
            f"{layout.dtype} of the shape {layout.shape}")
    extent = numpy.dtype(layout.dtype).itemsize
    for stride, n in sorted((abs(stride), n) for n, stride
                            in zip(out.shape, out.strides) if n > 1):
        if stride < extent:
            raise lib.SettingsError(
                "out has several samples in one place of memory, as arrays of "
                "numpy.broadcast_to() have: use an array with memory for each")
        extent += stride * (n - 1)


def _make_sample(array: Any, axes: str) -> numpy.ndarray:
    """The smallest array with the axes and components of @array."""
    first = array.ndim - len(axes)
    return numpy.zeros([n if axes[i - first:i - first + 1] == "c" and i >= first
                        else 1 for i, n in enumerate(array.shape)], array.dtype)


def convolve(array: Any, filter: Filter, *, axes: str | None = None,
             border: str = "nearest", time_border: str = "nearest",
             border_value: float = 0.0, origin: Any = 0,
             output_type: str = "same", backend: str = "auto",
             method: str = "auto", out: Any = None,
             progress: Callable[[int, int], Any] | None = None,
             cancel: Cancel | None = None, **settings: Any) -> Any:
    """Filters an image, a volume, or a stream of them, by a true convolution.

    Parameters
    ----------
    array : array
        Samples of NumPy, CuPy, PyTorch, or of whatever has ``__dlpack__`` or the
        array interface, with any strides: uint8, int16, uint16, float32, int8,
        int32, uint32, float16 or complex64, with ``precision="double"`` also
        float64 or complex128. It is not copied as a whole. Arrays of Dask give
        arrays of Dask, of which each block is filtered when it is computed.
    filter : str or array
        A text as ``"gaussian,sigma=1.5"``, in which sizes are in the order x, y,
        z, t; or coefficients in the order of `axes`. Coefficients with one axis
        more are a bank of filters, and complex ones a complex filter.
    axes : str, optional
        The names of the last axes: ``"yx"``, ``"zyx"``, ``"tyx"`` or
        ``"tzyx"``, by default the one with as many axes as `array`; ``"c"``
        among them are components, as in ``"yxc"``, which are filtered
        separately. Axes before them are filtered one by one.
    border, time_border : str
        The samples beyond the edges, along t and along the other axes:
        ``constant``, ``nearest``, ``reflect``, ``mirror`` or ``wrap``.
    border_value : float
        The value of the border ``constant``.
    origin : int or sequence of int
        Shifts the filter, as in SciPy; in the order of `axes`.
    output_type : str
        The type of the output, ``"same"`` as the input (floats for complex
        responses). Integers are rounded half to even and saturated.
    backend, method : str
        ``"auto"``, ``"cpu"`` or ``"cuda"``; ``"auto"``, ``"direct"``,
        ``"separable"``, ``"fft"``, ``"tensor"`` or ``"reference"``.
    out : array, optional
        Written and returned. It may be `array` itself, unless ``time_border``
        is ``"wrap"``.
    progress : callable, optional
        Called with the number of filtered volumes and of all volumes. An
        exception that it raises ends the convolution.
    cancel : Cancel, optional
        Its `set` ends the convolution from any thread. So does Ctrl-C in the main
        thread. After that, or after an exception of `progress`, the content of
        `out` is undefined.
    **settings
        ``causal``, ``normalize``, ``gain``, ``offset``, ``response``,
        ``threshold``, ``device_id``, ``devices``, ``accuracy``, ``precision``,
        ``n_threads``, ``memory_limit``, ``spacing`` and ``rate``, as the
        properties of the GStreamer elements.

    Returns
    -------
    array
        `out`, or an array of the library of `array`. A bank's responses are the
        first axis; complex responses are complex64 or complex128; a tensor's components are
        the last axis.

    Raises
    ------
    SettingsError, TypeError, ValueError
        If filter, settings, array and out do not fit each other.
    BackendError, OutOfMemoryError
        If the back end does not work here, or memory is short.
    CancelledError
        By `cancel`.

    Examples
    --------
    >>> import ndconv, numpy
    >>> stream = numpy.zeros((5, 16, 32, 32), "float32")  # t, z, y, x
    >>> stream[2, 8, 16, 16] = 1
    >>> smooth = ndconv.convolve(stream, "gaussian,sigma=1")
    >>> smooth.shape
    (5, 16, 32, 32)
    >>> float(smooth[2].max() - smooth[3].max()) > 0
    True
    >>> ndconv.convolve(numpy.eye(3, dtype="uint8"), numpy.ones((2, 2)),
    ...                 border="constant")
    array([[2, 1, 0],
           [1, 2, 1],
           [0, 1, 1]], dtype=uint8)
    """
    lazy = is_lazy(array)
    if lazy and (out is not None or progress or cancel):
        raise lib.SettingsError(
            "The array is of Dask and is filtered when its blocks are computed: "
            "out, progress and cancel are for arrays in memory")
    if lazy:
        axes = check_axes(axes, array.ndim)
        memory = view(_make_sample(array, axes), "array")
    else:
        memory = view(array, "array")
        axes = check_axes(axes, len(memory.shape))
    if memory.complex and "c" in axes:
        raise lib.SettingsError("The array is complex and has components; "
                                "filter the components one by one")
    for name, value in (("border", border), ("time_border", time_border),
                        ("border_value", border_value), ("origin", origin),
                        ("output_type", output_type), ("backend", backend),
                        ("method", method)):
        if not (value is DEFAULTS[name] or isinstance(value, (str, float, int))
                and value == DEFAULTS[name]):
            settings[name] = value
    prepared = settings_for(filter, axes, memory, settings)
    skip = len(memory.shape) - len(axes)
    times = skip == 1 and "t" not in axes
    source = to_array(memory, axes, skip, times=times)
    layout = Layout(prepared, source, axes, memory.shape)
    if lazy:
        return convolve_lazily(
            array, [0] * skip + find_depth(filter, axes, settings,
                                           array.shape[skip:]),
            layout.shape[:1] if layout.bank else (),
            layout.shape[-1:] if layout.axes != axes else (), layout.dtype,
            functools.partial(convolve, filter=filter, axes=axes, **settings))
    if out is None:
        out = empty(array, layout.shape, layout.dtype)
        target_memory = view(out, "out")
    else:
        target_memory = view(out, "out", writes=True)
        _check_out(target_memory, layout)
    target = to_array(target_memory, layout.axes, skip, layout.bank,
                      layout.responses, times)
    if skip == 0 or times:
        _run(prepared, source, target, progress, cancel, (array, out))
        return out
    first = len(target_memory.shape) - len(layout.axes) - skip
    parts = math.prod(memory.shape[:skip])
    for number, index in enumerate(numpy.ndindex(memory.shape[:skip])):
        source.data = memory.pointer + sum(
            i * stride for i, stride in zip(index, memory.strides))
        target.data = target_memory.pointer + sum(
            i * stride for i, stride in zip(index,
                                            target_memory.strides[first:]))
        _run(prepared, source, target, _count_all(progress, number, parts),
             cancel, (array, out))
    return out


def is_separable(filter_: Filter, axes: str, settings: dict[str, Any]) -> bool:
    """Whether the method "separable" can be used."""
    settings = {**settings, "method": "separable", "backend": "cpu"}
    prepared = prepare(filter_, axes, settings)
    if prepared.is_separable is None:
        try:
            convolve(numpy.zeros((1,) * len(axes), "float32"), filter_,
                     axes=axes, **settings)
            prepared.is_separable = True
        except lib.Error:
            prepared.is_separable = False
    return prepared.is_separable
