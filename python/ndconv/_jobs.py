"""The work of a run: jobs, each an input and its output, and their tasks.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import json
import math
import os
import time
from typing import Any, Iterator, NamedTuple

import numpy

from . import _library as lib
from ._arrays import View, find_kind
from ._blocks import Block
from ._filters import Filter, is_in_file, prepare
from ._outputs import Layout, settings_for, to_array
from ._printable import printable
from ._sources import Source


# <malloc.h>
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
# Arrays up to this size are in the heap, of which so much may be unused.
_HEAP_BYTES = 256 << 20


SAFE_PATH = "PYTHONSAFEPATH"


class Done(NamedTuple):
    """The result of a task."""
    samples: int    # outputs
    read: int       # bytes of samples
    written: int
    seconds: float
    saturated: int = 0  # of the samples that were computed, with halos
    computed: int = 0


class Task(NamedTuple):
    """A part of a job; processes exchange it."""
    job: Any
    index: int  # type: ignore[assignment]  # a method of tuples
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


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Processes of Python that start meanwhile do not look for modules in the
    current folder, which others may write to (Python 3.11 and later)."""
    old = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if old is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = old


def prepare_memory() -> None:
    """For workers. Threads of zarr share one heap: with a heap each, a worker
    keeps about twice the memory that it uses. Freed volumes stay in the heap for
    the next ones: from the system each page costs more than its filtering."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:     # of the GNU library
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, _HEAP_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _HEAP_BYTES)


def release_memory() -> None:
    """Gives memory that nothing uses back to the system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    gc.collect()
    if trim:        # of the GNU library
        trim(ctypes.c_size_t(0))


def count_cores() -> int:
    """The cores that this process may use."""
    cores = lib.nd_count_cores()
    # Slurm does not bind processes in every configuration.
    share = os.environ.get("SLURM_CPUS_PER_TASK", "")
    return min(cores, int(share)) if share.isdigit() else cores


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
        "filter": _describe_filter(filter_, source.axes, settings),
        "output_type": dtype,
        "settings": {name: value for name, value in settings.items()
                     if name != "n_threads"}, **more}, default=str))


def _describe_filter(filter_: Filter, axes: str,
                     settings: dict[str, Any]) -> Any:
    """A text, or size, type and check sum of coefficients; both if they are in a
    file."""
    if is_in_file(filter_):
        prepared = prepare(filter_, axes.replace("c", ""), settings)
        return [filter_] + [_check_sum(prepared.coefficients(i))
                            for i in range(prepared.count)]
    if isinstance(filter_, str):
        return filter_
    return _check_sum(filter_)


def _check_sum(coefficients: Any) -> list[Any]:
    w = numpy.ascontiguousarray(coefficients)
    return [list(w.shape), w.dtype.str, hashlib.sha256(w.tobytes()).hexdigest()]


def refuse_other(found: Any, wanted: Any, where: Any) -> None:
    """SettingsError if an existing output was made with other settings."""
    if found != wanted:
        raise lib.SettingsError(
            f"{where} was made with other settings, or not by this function: "
            "remove it, or choose another output")


@contextlib.contextmanager
def writing(path: Any) -> Iterator[None]:
    """Errors of the system name the output @path: a full disk names nothing."""
    try:
        yield
    except lib.Error:
        raise
    except OSError as error:
        raise lib.FileError(f"{path} cannot be written: "
                            f"{error.strerror or error}") from error


def find_type(source: Source, filter_: Filter,
              settings: dict[str, Any]) -> str:
    """The type of the output, if it has the shape of the input."""
    kind, is_complex = find_kind(source.dtype)
    if kind is None or (kind == b"float64"
                        and settings.get("precision") != "double"):
        raise TypeError(f"{printable(source.path)} has samples of the type "
                        f"{source.dtype}; filters take float32 and integers of up to 32 bits, "
                        "with precision='double' also float64")
    like = View(0, source.shape, (0,) * len(source.shape), kind,
                is_complex, None, None)
    prepared = settings_for(filter_, source.axes, like, settings)
    layout = Layout(prepared, to_array(like, source.axes), source.axes,
                    source.shape)
    if layout.shape != source.shape:
        raise lib.SettingsError(
            f"The output has the shape {layout.shape}, the input "
            f"{source.shape}; an archive takes one response: use response=max, "
            "sum or argmax, or one filter")
    return layout.dtype
