"""Volumes that arrive one by one.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import threading
from typing import Any, Callable, Iterable, Iterator

import numpy

from . import _library as lib
from ._arrays import View, empty, find_kind, view
from ._calls import call, call_with_flag
from ._filters import Filter, check_axes
from ._outputs import Layout, settings_for, to_array

SHORT = 0.005     # estimated seconds per volume


class Stream:
    """A filter over volumes, or images, that arrive one by one.

    N volumes give N outputs. A filter that reaches into the future gives an
    output when the volumes that it needs have arrived: `delay` volumes later.

    Parameters
    ----------
    filter : str or array
        As for `convolve`.
    shape : sequence of int
        Of one volume or image.
    dtype : dtype
        Of the samples.
    axes : {"tzyx", "tyx", "zyx", "yx"}, optional
        The axes that the filter extends along, by default t and those of
        `shape`; ``"c"`` among them are components.
    **settings
        As the parameters of `convolve`. ``time_border="wrap"`` is refused,
        because it needs the last volume first.

    Raises
    ------
    SettingsError, BackendError, OutOfMemoryError

    Examples
    --------
    >>> import ndconv, numpy
    >>> stream = ndconv.Stream(numpy.ones((3, 1, 1)) / 3, (4, 6), "float32")
    >>> stream.delay
    1
    >>> for n in range(3):
    ...     for output in stream.push(numpy.full((4, 6), n, "float32")):
    ...         print(round(float(output[0, 0]), 3))
    0.333
    1.0
    >>> [round(float(output[0, 0]), 3) for output in stream.end()]
    [1.667]
    """

    _pointer: int | None = None

    def __init__(self, filter: Filter, shape: Iterable[int], dtype: Any, *,
                 axes: str | None = None, **settings: Any):
        self._free = lib.nd_stream_free
        self._shape = tuple(shape)
        self._dtype = numpy.dtype(dtype)
        if axes is None:
            axes = "tyx" if len(self._shape) == 2 else "tzyx"
        self._axes = check_axes(axes, 5).replace("t", "")
        if len(self._shape) != len(self._axes):
            raise lib.SettingsError(
                f"The shape of a volume is {self._shape}; the axes {axes} need "
                f"{len(self._axes)} numbers")
        kind, is_complex = find_kind(self._dtype)
        if kind is None:
            raise TypeError(f"Samples of the type {self._dtype} are not "
                            "filtered: use float32, an integer type of up to "
                            "32 bits, or float64 with precision='double'")
        like = View(0, self._shape, (0,) * len(self._shape), kind, is_complex,
                    None, None)
        prepared = settings_for(filter, axes, like, settings)
        array = to_array(like, self._axes)
        self._layout = Layout(prepared, array, self._axes, self._shape)
        self._pointer = call_with_flag(lambda flag, _: lib.nd_stream_new(
            prepared.filters, prepared.settings, array, flag))
        self._is_short = self.estimate < SHORT
        self._like: Any = None
        self._lock = threading.RLock()      # one thread at a time

    def __del__(self) -> None:
        if self._pointer:
            self._free(self._pointer)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return lib.refuse_copy(self, "make another one with the same arguments")

    def _call(self, function: Callable[..., Any], volume: Any,
              array: lib.Array) -> None:
        """@volume, which has the samples of @array, lives as long as the
        call."""
        call(lambda _: (function(self._pointer, array), volume), self.cancel,
             is_short=self._is_short)

    def _take_one(self) -> Any:
        layout = self._layout
        output = empty(self._like, layout.shape, layout.dtype)
        target = to_array(view(output, "output"), layout.axes, layout.bank,
                          layout.responses)
        self._call(lib.nd_stream_take, output, target)
        return output

    def _take(self) -> list[Any]:
        outputs = []
        while lib.nd_stream_ready(self._pointer):
            outputs.append(self._take_one())
        return outputs

    def push(self, volume: Any) -> list[Any]:
        """Pushes one volume and returns the outputs that are ready: none, one,
        or several after the start with a mirrored time border.

        Parameters
        ----------
        volume : array
            Of the shape and type of the stream; it may be overwritten after the
            call.

        Returns
        -------
        list of array
            Arrays of the library of `volume`.

        Raises
        ------
        SettingsError
            If the volume does not fit, or the stream has ended.
        """
        with self._lock:
            self._push(volume)
            return self._take()

    def _push(self, volume: Any) -> None:
        memory = view(volume, "volume")
        if memory.shape != self._shape:
            raise lib.SettingsError(
                f"The volume has the shape {memory.shape}; this stream has "
                f"{self._shape}")
        self._like = volume
        self._call(lib.nd_stream_push, volume,
                   to_array(memory, self._axes))

    def end(self) -> list[Any]:
        """Returns the outputs that waited for later volumes, and starts anew."""
        with self._lock:
            lib.nd_stream_end(self._pointer)
            outputs = self._take()
            lib.nd_stream_flush(self._pointer)
        return outputs

    def cancel(self) -> None:
        """Ends `push`, `end` or `filter` from any thread: they raise
        `CancelledError`, and so do the next ones until `flush`. Ctrl-C in one of
        them does the same, and raises `KeyboardInterrupt`."""
        lib.nd_stream_cancel(self._pointer)

    def flush(self) -> None:
        """Forgets all volumes, and that the stream was cancelled: the next one
        begins a new stream."""
        with self._lock:
            lib.nd_stream_flush(self._pointer)

    def filter(self, volumes: Iterable[Any], start: int = 0,
               stop: int | None = None) -> Iterator[Any]:
        """The outputs of all volumes, as they become ready. Volumes that the
        stream still has from other calls are forgotten.

        Parameters
        ----------
        volumes : iterable of array
            A whole stream.
        start, stop : int
            The outputs from number `start` up to, but without, `stop`. The
            others are not computed.

        Examples
        --------
        >>> import ndconv, numpy
        >>> film = numpy.arange(5, dtype="float32")[:, None, None]
        >>> stream = ndconv.Stream(numpy.ones((3, 1, 1)) / 3, (1, 1), "float32")
        >>> outputs = stream.filter(film, 1, 3)
        >>> [round(float(output[0, 0]), 3) for output in outputs]
        [1.0, 2.0]
        """
        number = 0

        def take() -> Iterator[Any]:
            nonlocal number
            while lib.nd_stream_ready(self._pointer):
                with self._lock:
                    output = None
                    wanted = start <= number and (stop is None or number < stop)
                    if wanted:
                        output = self._take_one()
                    else:
                        lib.nd_stream_skip(self._pointer)
                number += 1
                if wanted:
                    yield output
        self.flush()
        for volume in volumes:
            with self._lock:
                self._push(volume)
            yield from take()
        with self._lock:
            lib.nd_stream_end(self._pointer)
        yield from take()
        self.flush()

    @property
    def backend(self) -> str:
        """The back end that filters the stream: ``"cpu"`` or ``"cuda"``."""
        return lib.nd_stream_get_backend(self._pointer).decode()

    @property
    def method(self) -> str:
        """How: ``"direct"``, ``"separable"``, ``"fft"``, ``"tensor"``."""
        return lib.nd_stream_get_method(self._pointer).decode()

    @property
    def reason(self) -> str:
        """Why this method."""
        return lib.nd_stream_get_reason(self._pointer).decode()

    @property
    def estimate(self) -> float:
        """Estimated or measured seconds per volume."""
        return lib.nd_stream_get_estimate(self._pointer)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers of the stream."""
        return lib.nd_stream_get_bytes(self._pointer)

    @property
    def delay(self) -> int:
        """Volumes that follow the first one before its output is ready."""
        return lib.nd_stream_get_delay(self._pointer)

    @property
    def pushed(self) -> int:
        """Volumes pushed since the stream was made."""
        return lib.nd_stream_get_pushed(self._pointer)

    @property
    def taken(self) -> int:
        """Outputs since the stream was made."""
        return lib.nd_stream_get_taken(self._pointer)

    @property
    def saturated(self) -> int:
        """Output samples that did not fit in an integer type."""
        return lib.nd_stream_get_saturated(self._pointer)
