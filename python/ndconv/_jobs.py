"""The work of a run: jobs, each an input and its output, and their tasks.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import pathlib
import time
from typing import Any, NamedTuple

import numpy

from . import _library as lib
from ._arrays import View, find_kind
from ._blocks import Block
from ._convolve import Layout, settings_for, to_array
from ._filters import Filter
from ._sources import Source


_M_ARENA_MAX = -8       # <malloc.h>


class Done(NamedTuple):
    """The result of a task."""
    samples: int    # outputs
    read: int       # bytes of samples
    written: int
    seconds: float


class Task(NamedTuple):
    """A part of a job; processes exchange it."""
    job: Any
    index: int
    block: Block | None     # None: all

    def do(self, n_threads: int | None = None) -> Done:
        """Computes it, on @n_threads unless the settings say how many."""
        job = self.job
        if n_threads and not job.settings.get("n_threads"):
            job = job._replace(settings={**job.settings,
                                         "n_threads": n_threads})
        begin = time.perf_counter()
        done = job.do(self.index, self.block)
        return done._replace(seconds=time.perf_counter() - begin)


def limit_arenas() -> None:
    """For workers: threads of zarr share one heap. With a heap each, a worker
    keeps about twice the memory that it uses."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:     # of the GNU library
        mallopt(_M_ARENA_MAX, 1)


def count_volume(source: Source) -> int:
    """The samples of a volume."""
    return math.prod(n for n, axis in zip(source.shape, source.axes)
                     if axis != "t")


def describe(source: Source, filter_: Filter, dtype: str,
             settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The settings that identify a run."""
    return json.loads(json.dumps({
        "input": os.path.abspath(source.path), "array": source.inside,
        "axes": source.axes, "shape": source.shape, "type": str(source.dtype),
        "filter": _describe_filter(filter_), "output_type": dtype,
        "settings": {name: value for name, value in settings.items()
                     if name != "n_threads"}, **more}, default=str))


def _describe_filter(filter_: Filter) -> Any:
    """A text, or size, type and check sum of coefficients."""
    if isinstance(filter_, str):
        return filter_
    w = numpy.ascontiguousarray(filter_)
    return [list(w.shape), w.dtype.str, hashlib.sha256(w.tobytes()).hexdigest()]


def refuse_other(found: Any, wanted: Any, where: Any) -> None:
    """SettingsError if an existing output was made with other settings."""
    if found != wanted:
        raise lib.SettingsError(
            f"{where} was made with other settings, or not by this function: "
            "remove it, or choose another output")


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a file that is complete as soon as it has its name."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)


def find_type(source: Source, filter_: Filter,
              settings: dict[str, Any]) -> str:
    """The type of the output, if it has the shape of the input."""
    kind, is_complex = find_kind(source.dtype)
    if kind is None or (kind == b"float64"
                        and settings.get("precision") != "double"):
        raise TypeError(f"{source.path} has samples of the type {source.dtype}; "
                        "filters take float32 and integers of up to 32 bits, "
                        "with precision='double' also float64")
    like = View(0, source.shape, (0,) * len(source.shape), kind,
                is_complex, None, None)
    prepared = settings_for(filter_, source.axes, like, settings)
    layout = Layout(prepared, to_array(like, source.axes, 0), source.axes,
                    source.shape)
    if layout.shape != source.shape:
        raise lib.SettingsError(
            f"The output has the shape {layout.shape}, the input "
            f"{source.shape}; an archive takes one response: use response=max, "
            "sum or argmax, or one filter")
    return layout.dtype
