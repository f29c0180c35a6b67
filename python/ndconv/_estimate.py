"""How long volumes take on this machine.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import warnings
from typing import Any, Iterable, NamedTuple

import numpy

from . import _library as lib
from ._arrays import View, find_kind
from ._blocks import backends
from ._calls import call_with_flag
from ._filters import Filter, check_axes
from ._outputs import settings_for, to_array

DENOISER = "nddenoise"


class Estimate(NamedTuple):
    """What a volume takes on one back end."""
    backend: str
    method: str
    seconds: float      # of a volume and its output, in memory of the host
    slowest: float      # the most that was measured
    bytes: int          # of all buffers, the input and the output
    delay: int          # volumes that an output waits for
    measured: bool      # False: seconds are the estimate of the plan
    latency: float | None   # seconds from a volume to its output, at `rate`
    live: bool | None       # whether a stream of `rate` can keep up


def _time(filter: Filter, axes: str, like: View, seconds: float,
          settings: dict[str, Any]) -> lib.Timing:
    timing = lib.Timing()
    array = to_array(like, axes.replace("t", ""))
    if isinstance(filter, str) and filter.split(",")[0] == DENOISER:
        prepared = settings_for("box,size=1", axes, like, settings)
        options = filter[len(DENOISER) + 1:].encode()
        call_with_flag(lambda flag, _: lib.nd_time_denoiser(
            options, prepared.settings, array, seconds, flag, timing))
    else:
        prepared = settings_for(filter, axes, like, settings)
        call_with_flag(lambda flag, _: lib.nd_time_filters(
            prepared.filters, prepared.settings, array, seconds, flag, timing))
    return timing


def estimate(filter: Filter, shape: Iterable[int], dtype: Any, *,
             axes: str | None = None, rate: float | None = None,
             seconds: float = 1.0, **settings: Any) -> list[Estimate]:
    """Measures what volumes take, on each back end of this machine.

    Filters volumes of noise for about `seconds` on each back end. Other work on
    the machine counts.

    Parameters
    ----------
    filter : str or array
        As for `convolve`; or ``"nddenoise"``, also with properties of that
        element: ``"nddenoise,quality=best"``.
    shape : sequence of int
        Of one volume or image.
    dtype : dtype
        Of the samples.
    axes : {"tzyx", "tyx", "zyx", "yx"}, optional
        As for `Stream`.
    rate : float, optional
        Volumes per second of the stream that must keep up.
    seconds : float
        At least three volumes are measured.
    **settings
        As for `convolve`; `backend` names a single back end.

    Raises
    ------
    SettingsError, BackendError, OutOfMemoryError
        If each back end refuses. If some do, a warning has their sentences.

    Examples
    --------
    >>> import ndconv
    >>> found = ndconv.estimate("gaussian,sigma=1", (16, 32, 32), "uint8",
    ...                         backend="cpu", seconds=0.01, rate=1)
    >>> found[0].backend, found[0].delay, found[0].live
    ('cpu', 4, True)
    """
    shape = tuple(shape)
    if axes is None:
        axes = "tyx" if len(shape) == 2 else "tzyx"
    own = check_axes(axes, 5).replace("t", "")
    if len(shape) != len(own):
        raise lib.SettingsError(f"The shape of a volume is {shape}; the axes "
                                f"{axes} need {len(own)} numbers")
    if not seconds > 0 or not (rate is None or rate > 0):
        raise lib.SettingsError("seconds and rate must be above 0")
    kind, is_complex = find_kind(numpy.dtype(dtype))
    if kind is None:
        raise TypeError(f"Samples of the type {numpy.dtype(dtype)} are not "
                        "filtered: use float32, an integer type of up to 32 "
                        "bits, or float64 with precision='double'")
    like = View(0, shape, (0,) * len(shape), kind, is_complex, None, None)
    wanted = settings.pop("backend", "auto")
    found = []
    refusals = []
    for backend in backends() if wanted == "auto" else [wanted]:
        try:
            t = _time(filter, axes, like, seconds,
                      {**settings, "backend": backend})
        except (lib.CancelledError, KeyboardInterrupt):
            raise
        except lib.Error as error:
            refusals.append((backend, error))
            continue
        latency = t.delay / rate + t.seconds if rate else None
        found.append(Estimate(
            t.backend.decode(), t.method.decode(), t.seconds, t.slowest,
            t.bytes, t.delay, bool(t.measured), latency,
            t.seconds * rate <= 1 if rate else None))
    if not found:
        raise refusals[0][1]
    for backend, refusal in refusals:
        warnings.warn(f"{backend}: {refusal}", RuntimeWarning, stacklevel=2)
    return found
