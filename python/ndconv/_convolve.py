"""Whole arrays.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, Callable, NamedTuple, Sequence

import numpy

from . import _library as lib
from ._arrays import COMPLEX, View, empty, view
from ._borders import extend, find_borders, find_reach, find_scalar, is_plain
from ._calls import Cancel, Report, call_with_flag
from ._filters import Filter, Prepared, check_axes, is_in_file, prepare
from ._layouts import count_long, filter_line, find_order, is_long_line
from ._lazy import convolve_lazily, find_depth, is_lazy, make_sample
from ._outputs import Layout, settings_for, to_array
from ._quick import Quick, find, find_key, keep
from ._settings import CONVOLVE, DEFAULTS, takes
from ._types import accept, convert, warn

# Products of samples and coefficients that take a few milliseconds by any
# method.
SHORT = 5_000_000
# Lines are summed tap by tap if a filter reaches no further.
DIRECT_REACH = 32
# The samples of a batch that are filtered as one volume.
VOLUME = 1 << 20
# Arrays with fewer samples are filtered as they are.
REARRANGED = 1 << 14
# In double precision, the error of outputs below this is far from a half.
LARGEST_BY_FFT = 2.0 ** 45


def _count_all(progress: Callable[[int, int], Any] | None, i: int,
               n: int) -> Callable[[int, int], Any] | None:
    """@progress of part @i of @n parts of equal size."""
    return progress and (lambda done, total: progress(i * total + done,
                                                      n * total))


def _run(prepared: Prepared, source: lib.Array, target: lib.Array,
         progress: Callable[[int, int], Any] | None, cancel: Cancel | None,
         kept: Any) -> int:
    """The number of saturated outputs. @kept are arrays that live as long as the
    call."""
    saturated = ctypes.c_uint64()

    def run(flag: ctypes.c_int, report: Report) -> Any:
        told = lib.PROGRESS(
            (lambda done, total, _data: report(done, total))
            if progress else 0)
        watch = lib.Watch(ctypes.pointer(flag), told, None,
                          ctypes.pointer(saturated))
        return kept and lib.nd_convolve(prepared.filters, prepared.settings,
                                        source, target, watch)
    call_with_flag(run, cancel, progress, _count_work(prepared, source) < SHORT)
    return saturated.value


def _count_work(prepared: Prepared, source: lib.Array) -> int:
    """Products of samples and coefficients."""
    return math.prod(source.size) * source.components * prepared.count_taps()


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


@takes(CONVOLVE)
def convolve(array: Any, filter: Filter, *, axes: str | None = None,
             out: Any = None,
             progress: Callable[[int, int], Any] | None = None,
             cancel: Cancel | None = None, **settings: Any) -> Any:
    """Filters an image, a volume, or a stream of them, by a true convolution.

    Parameters
    ----------
    array : array
        Samples of NumPy, CuPy, PyTorch, or of whatever has ``__dlpack__`` or the
        array interface, with any strides: bool, integers of up to 64 bits,
        float16, float32 or complex64, with ``precision="double"`` also float64
        or complex128. Integers of 32 and 64 bits are computed in double
        precision. Arrays of Dask give arrays of Dask, of which each block is
        filtered when it is computed.
    filter : str or array
        A text as ``"gaussian,sigma=1.5"``, in which sizes are in the order x, y,
        z, t; or coefficients in the order of `axes`. Coefficients with one axis
        more are a bank of filters, and complex ones a complex filter.
    axes : str, optional
        The names of the last axes: ``"x"``, ``"yx"``, ``"zyx"``, ``"tyx"`` or
        ``"tzyx"``, by default the one with as many axes as `array`; ``"c"``
        among them are components, as in ``"yxc"``, which are filtered
        separately. Axes before them are a batch.
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
    {settings}

    Notes
    -----
    `border` may be a sequence of names for all of `axes`, also t.
    `border_value` is complex for complex arrays. `origin` is one number or a
    sequence in the order of `axes`; so are the numbers of `spacing`. An
    `output_type` may be a dtype; ``"same"`` gives floats for complex responses,
    and a `SaturationWarning` tells of saturated integers.

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
    key = None
    if out is None and progress is None and cancel is None:
        key = find_key(array, filter, axes, settings)
        known = find(key)
        if known is not None:
            return known.run(array, _warn_quick)
    settings = {name: value for name, value in settings.items()
                if not _is_default(name, value)}
    if is_lazy(array):
        if out is not None or progress or cancel:
            raise lib.SettingsError(
                "The array is of Dask and is filtered when its blocks are "
                "computed: out, progress and cancel are for arrays in memory")
        return _convolve_lazily(array, filter, axes, settings)
    found = convolve_counted(array, filter, axes, out, progress, cancel,
                             settings)
    if found.saturated:
        _warn(found.prepared, found.saturated, found.samples, found.dtype, 3)
    if key is not None and found.quick is not None:
        keep(key, found.quick)
    return found.result


def _is_default(name: str, value: Any) -> bool:
    return isinstance(value, (str, float, int, type(None))) and (
        value == DEFAULTS.get(name, NotImplemented))


def _convolve_lazily(array: Any, filter_: Filter, axes: str | None,
                     settings: dict[str, Any]) -> Any:
    """As `convolve` of an array of Dask."""
    axes = check_axes(axes, array.ndim)
    sample, used, final = accept(make_sample(array, axes), settings)
    return _Call(sample, filter_, axes, used, None, None).run_lazily(
        array, final, functools.partial(convolve, filter=filter_, axes=axes,
                                        **settings))


def _warn(prepared: Prepared, saturated: int, samples: int, dtype: str,
          stacklevel: int) -> None:
    if dtype not in prepared.warned and warn(saturated, samples, dtype,
                                             stacklevel):
        prepared.warned.add(dtype)


def _warn_quick(prepared: Prepared, saturated: int, out: Any) -> None:
    _warn(prepared, saturated, out.size, out.dtype.name, 4)


class Counted(NamedTuple):
    """An output, and how many of its samples do not fit in their type."""
    result: Any
    saturated: int
    samples: int
    dtype: str
    prepared: Prepared
    quick: Quick | None     # the call, if it can be repeated


def convolve_counted(array: Any, filter_: Filter, axes: str | None, out: Any,
                     progress: Callable[[int, int], Any] | None,
                     cancel: Cancel | None,
                     settings: dict[str, Any]) -> Counted:
    """As `convolve`; @settings are those that are not the default."""
    given = array
    array, settings, final = accept(array, settings)
    target, result = out, None
    if final is not None or (isinstance(out, numpy.ndarray)
                             and not out.dtype.isnative):
        _check_final(out, final)
        target = None
    call = _Call(array, filter_, axes, settings, progress, cancel)
    if final is not None and "method" not in settings and _may_round(
            call.prepared, array, final):
        call = _Call(array, filter_, axes, {**settings, "method": "direct"},
                     progress, cancel)
    result = call.run(target)
    saturated, dtype = call.saturated, call.layout.dtype
    if final is not None:
        dtype = final.name
        result, more = convert(result, final, out)
        saturated += more
    elif target is not out:
        out[...] = result
        result = out
    return Counted(result, saturated, math.prod(call.layout.shape), dtype,
                   call.prepared, call.quick if final is None
                   and array is given and not is_in_file(filter_) else None)


def _may_round(prepared: Prepared, array: Any, final: numpy.dtype) -> bool:
    """Whether the method fft may change outputs that become integers of 64
    bits, or may turn 0 into true."""
    if final == bool or not array.size:
        return True
    most = float(numpy.abs(array).max()) * max(
        numpy.abs(prepared.coefficients(i)).sum()
        for i in range(prepared.count))
    return most > LARGEST_BY_FFT


def _check_final(out: Any, final: numpy.dtype | None) -> None:
    if out is None:
        return
    if not isinstance(out, numpy.ndarray) or (
            final is not None and out.dtype != final):
        raise lib.SettingsError(
            f"out must be an array of NumPy of the type {final}, which this "
            "filter gives")


def _name_batch(axes: str, shape: tuple[int, ...]) -> str:
    """Names for the axes before @axes, which the filter does not extend along:
    those of @axes that are left, the volumes of a stream last, because each is
    filtered by itself. "b" stands for axes that no name is left for."""
    n = len(shape) - len(axes)
    left = [axis for axis in "tzy" if axis not in axes]
    # A volume of many large items would need much memory at once.
    items = math.prod(shape[-len(axes):])
    names: list[str] = []
    for size in reversed(shape[:n]):
        if len(left) > 1 and items * size <= VOLUME:
            names.insert(0, left.pop())
            items *= size
        elif left and left[0] == "t":
            names.insert(0, left.pop(0))
            left = []
        elif left and items * size <= VOLUME:
            names.insert(0, left.pop())
            items *= size
        else:
            names.insert(0, "b")
            left = []
    return "".join(names)


class _Call:
    """One call, for an array that the library takes."""

    def __init__(self, array: Any, filter_: Filter, axes: str | None,
                 settings: dict[str, Any],
                 progress: Callable[[int, int], Any] | None,
                 cancel: Cancel | None):
        self._array, self._filter = array, filter_
        self._progress, self._cancel = progress, cancel
        self._settings = settings
        self.saturated = 0
        self.quick: Quick | None = None
        self._memory = view(array, "array")
        self._axes = check_axes(axes, len(self._memory.shape))
        if self._memory.complex and "c" in self._axes:
            raise lib.SettingsError("The array is complex and has components; "
                                    "filter the components one by one")
        self._border_value: Any = 0.0
        if "border_value" in settings:
            self._border_value = find_scalar(settings["border_value"])
        self._borders = find_borders(
            settings.get("border", "nearest"),
            settings.get("time_border", "nearest"), self._axes.replace("c", ""))
        self._settings = self._simplify(dict(settings))
        self.prepared = settings_for(filter_, self._axes, self._memory,
                                      self._settings)
        self._make_layout()

    def _simplify(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings with the names that the library knows."""
        in_space = {border for border, axis in zip(
            self._borders, self._axes.replace("c", "")) if axis != "t"}
        if "border" in settings or "time_border" in settings:
            settings.pop("border", None)
            settings.pop("time_border", None)
            if len(in_space) == 1 and in_space != {"nearest"}:
                settings["border"] = in_space.pop()
            if "t" in self._axes and self._borders[0] != "nearest":
                settings["time_border"] = self._borders[0]
        if "border_value" in settings:
            settings["border_value"] = self._border_value
            if not is_plain(self._border_value):
                del settings["border_value"]
        return settings

    def _make_layout(self) -> None:
        memory = self._memory
        # The type does not depend on the size, and no axis may be empty.
        one = memory._replace(shape=tuple(max(n, 1) for n in memory.shape))
        parts = 1
        if memory.complex and self.prepared.is_complex:
            one, parts = one._replace(complex=False), 2
        self.layout = Layout(self.prepared, to_array(one, self._axes),
                             self._axes, memory.shape)
        if parts == 2 and not self.layout.complex:
            raise lib.SettingsError(
                "The array and the filter are complex; only response='all' is "
                "computed: take the magnitude of its result")

    def _needs_extension(self) -> bool:
        """Whether the library has no such border."""
        if not (self._memory.complex or is_plain(self._border_value)):
            if isinstance(self._border_value, complex):
                raise lib.SettingsError(
                    "border_value is complex and the array is real: convert "
                    "it by array.astype('complex64')")
        values = ([self._border_value] if not self._memory.complex else
                  [self._border_value.real, self._border_value.imag])
        if len(set(self._borders)) == 1 and all(map(is_plain, values)):
            return False
        reach = find_reach(self.prepared)
        used = {axis: border for axis, border in zip(
            self._axes.replace("c", ""), self._borders)
            if reach[axis] != (0, 0)}
        in_space = {border for axis, border in used.items() if axis != "t"}
        if len(in_space) == 1 and "border" not in self._settings:
            only = in_space.pop()
            if only != "nearest":
                self._settings["border"] = only
                self.prepared = settings_for(self._filter, self._axes,
                                              self._memory, self._settings)
        return len(in_space) > 1 or ("constant" in used.values() and not all(
            map(is_plain, values)))

    def run(self, out: Any) -> Any:
        """The output, in @out if it is not None."""
        if out is not None:
            _check_out(view(out, "out", writes=True), self.layout)
        if 0 in self.layout.shape:
            return self._make_output() if out is None else out
        if out is None and self._progress is None and (
                isinstance(self._array, numpy.ndarray)
                and math.prod(self.layout.shape) >= REARRANGED
                and self._may_rearrange()):
            found = self._run_rearranged()
            if found is not None:
                return found
        if self._needs_extension():
            return self._run_extended(out)
        if self._memory.complex and self.prepared.is_complex:
            return self._run_complex(out)
        if out is None:
            out = self._make_output()
        target = view(out, "out", writes=True)
        if (self._memory.complex and "constant" in self._borders
                and self._border_value != 0):
            self._run_parts(target, out)
        else:
            self._filter_memory(self.prepared, self._memory, target,
                                self.layout, (self._array, out))
        return out

    def run_lazily(self, array: Any, final: numpy.dtype | None,
                   function: Callable[[Any], Any]) -> Any:
        """The output for @array of Dask, whose sample the array of this call is.
        @function filters a block."""
        skip = array.ndim - len(self._axes)
        layout = self.layout
        return convolve_lazily(
            array, [0] * skip + find_depth(self.prepared, self._axes,
                                           self._borders, array.shape[skip:]),
            layout.shape[:1] if layout.bank else (),
            layout.shape[-1:] if layout.axes != self._axes else (),
            layout.dtype if final is None else final, function)

    def _may_rearrange(self) -> bool:
        """Whether the filter is the same in any order of the axes: one, and not
        along t, whose border and causality are its own."""
        prepared = self.prepared
        return (self.layout.shape == self._array.shape
                and self.layout.axes == self._axes and not prepared.is_bank
                and prepared.count == 1 and not prepared.is_complex
                and "t" not in self._axes and "c" not in self._axes
                and len(set(self._borders)) == 1)

    def _run_rearranged(self) -> Any:
        """The output of an array of which another axis than the last is
        innermost in memory, or that is one long line; otherwise None."""
        array, n = self._array, len(self._axes)
        w = self.prepared.coefficients(0)
        origin = self.prepared.origin(0)
        if n > 1 and array.ndim == n and count_long(array.shape) == 1:
            at = max(range(n), key=lambda i: array.shape[i])
            if w.shape[at] == w.size:
                line = array.reshape(-1)
                return self._run_other(line, w.reshape(-1), (origin[at],), "x"
                                       ).reshape(array.shape)
        first = array.ndim - n
        order = find_order(array.shape[first:], array.strides[first:])
        if order:
            whole = (*range(first), *(first + i for i in order))
            result = self._run_other(array.transpose(whole), w.transpose(order),
                                     [origin[i] for i in order], self._axes)
            return result.transpose(numpy.argsort(whole))
        reach = find_reach(self.prepared)["x"]
        if n == 1 and not self._is_direct(reach) and is_long_line(
                array, reach, self._borders[0]):
            return filter_line(array, reach, lambda rows: self._run_other(
                rows, w, origin, "x"))
        return None

    def _is_direct(self, reach: tuple[int, int]) -> bool:
        """Whether the library sums a line tap by tap, which it does in parts."""
        return sum(reach) <= DIRECT_REACH and self._settings.get(
            "method", "auto") in ("auto", "direct")

    def _run_other(self, array: numpy.ndarray, w: numpy.ndarray,
                   origin: Sequence[int], axes: str) -> numpy.ndarray:
        """The output of another array, with the same settings but these."""
        settings = {name: value for name, value in self._settings.items()
                    if name not in ("normalize", "causal", "spacing", "rate")}
        call = _Call(array, w, axes, {**settings, "origin": tuple(origin)},
                     None, self._cancel)
        result = call.run(None)
        self.saturated += call.saturated
        return result

    def _make_output(self) -> Any:
        return empty(self._array, self.layout.shape, self.layout.dtype)

    def _take_part(self, memory: View, imaginary: bool) -> View:
        """The real or imaginary parts of complex samples."""
        offset = (8 if memory.type == b"float64" else 4) if imaginary else 0
        return memory._replace(pointer=memory.pointer + offset, complex=False)

    def _prepare_part(self, imaginary: bool, **more: Any) -> Prepared:
        """The filter for one of the parts, which have borders of their own."""
        value = self._border_value
        settings = {**self._settings, **more,
                    "border_value": value.imag if imaginary else value.real}
        return settings_for(self._filter, self._axes,
                            self._take_part(self._memory, imaginary), settings)

    def _run_parts(self, target: View, out: Any) -> None:
        for imaginary in (False, True):
            prepared = self._prepare_part(imaginary)
            source = self._take_part(self._memory, imaginary)
            layout = Layout(prepared, to_array(source, self._axes), self._axes,
                            source.shape)
            self._filter_memory(prepared, source,
                                self._take_part(target, imaginary), layout,
                                (self._array, out))

    def _run_complex(self, out: Any) -> Any:
        """(a + ib) * w = a * w + i (b * w)"""
        results = []
        for imaginary in (False, True):
            prepared = self._prepare_part(
                imaginary, **({"offset": 0} if imaginary else {}))
            result = self._make_output()
            self._filter_memory(
                prepared, self._take_part(self._memory, imaginary),
                view(result, "out"), self.layout, (self._array, result))
            results.append(result)
        results[1] *= 1j
        results[0] += results[1]
        if out is None:
            return results[0]
        out[...] = results[0]
        return out

    def _run_extended(self, out: Any) -> Any:
        if self._memory.device is not None:
            raise lib.SettingsError(
                "Borders that differ between the axes, and border values that "
                "are no finite numbers, need an array in memory of the host")
        array = (self._array if isinstance(self._array, numpy.ndarray)
                 else numpy.asarray(self._array))
        extended, inner = extend(array, self._axes, self._borders,
                                 find_reach(self.prepared),
                                 self._border_value)
        settings = {**self._settings, "border": "nearest",
                    "time_border": "nearest"}
        settings.pop("border_value", None)
        if extended.dtype != array.dtype:
            settings.setdefault("output_type", self.layout.type)
        if extended.dtype == "f8":
            settings["precision"] = "double"
        call = _Call(extended, self._filter, self._axes, settings,
                     self._progress, self._cancel)
        result = call.run(None)
        self.saturated += call.saturated
        if call.layout.bank:
            inner = (slice(None), *inner)
        if out is None:
            out = self._make_output()
        if isinstance(out, numpy.ndarray):
            out[...] = result[inner]
        else:
            numpy.from_dlpack(out)  # refuses memory that is not of the host
            out[...] = type(out)(numpy.ascontiguousarray(result[inner]))
        return out

    def _filter_memory(self, prepared: Prepared, source: View, target: View,
                       layout: Layout, kept: Any) -> None:
        """Filters @source into @target, the items of a batch together as far as
        the library has axes for them."""
        skip = len(source.shape) - len(self._axes)
        batch = _name_batch(self._axes, source.shape) if skip else ""
        outer = batch.count("b")
        named = batch[outer:]
        from_ = to_array(source, named + self._axes)
        to = to_array(target, named + layout.axes, layout.bank,
                      layout.responses)
        if not outer:
            if (prepared is self.prepared and layout is self.layout
                    and _count_work(prepared, from_) < SHORT
                    and source.owner is self._array):
                self.quick = Quick(prepared, from_, to, layout.shape,
                                   layout.dtype)
            self.saturated += _run(prepared, from_, to, self._progress,
                                   self._cancel, kept)
            return
        first = len(target.shape) - len(layout.axes) - skip
        parts = math.prod(source.shape[:outer])
        for number, index in enumerate(numpy.ndindex(source.shape[:outer])):
            from_.data = source.pointer + sum(
                i * stride for i, stride in zip(index, source.strides))
            to.data = target.pointer + sum(
                i * stride for i, stride in zip(index, target.strides[first:]))
            self.saturated += _run(
                prepared, from_, to, _count_all(self._progress, number, parts),
                self._cancel, kept)


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
