"""Chunks of a Zarr array, written while their samples are computed: a shard of
Zarr 3, or files of Zarr 2. Every file is written in a folder of its own, and is
complete when it gets its name.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import gzip
import itertools
import math
import os
import pathlib
from typing import Any, Callable, NamedTuple

import numpy

from ._files import sync

# Metadata of compressions by version of Zarr: a codec of Zarr 3, one of
# numcodecs.
CODECS: dict[str, tuple[Any, Any]] = {
    "zstd": ({"name": "zstd", "configuration": {"level": 1, "checksum": False}},
             {"id": "zstd", "level": 1}),
    "gzip": ({"name": "gzip", "configuration": {"level": 5}},
             {"id": "gzip", "level": 5}),
    "blosc": ({"name": "blosc", "configuration": {
        "cname": "lz4", "clevel": 5, "shuffle": "shuffle"}},
              {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}),
    "none": (None, None),
}
# In the index of a shard: a chunk that is not stored, because it is 0.
_NONE = (1 << 64) - 1
# Samples that show that most chunks are not 0.
_PROBE = 4096

Encode = Callable[[numpy.ndarray], Any]


class Layout(NamedTuple):
    """How an array is stored."""
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    shard: tuple[int, ...]      # whole chunks
    dtype: numpy.dtype
    compression: str
    zarr_format: int


def _choose_encode(compression: str) -> Encode:
    """Equal samples give equal bytes."""
    if compression == "none":
        return lambda chunk: chunk.data
    if compression == "gzip":   # that of numcodecs stores the time
        return lambda chunk: gzip.compress(chunk.data, 5, mtime=0)
    import numcodecs    # pylint: disable=import-outside-toplevel
    if compression == "blosc":
        numcodecs.blosc.use_threads = False
    codec = numcodecs.get_codec(CODECS[compression][1])
    return codec.encode


def _is_zero(chunk: numpy.ndarray) -> bool:
    """Whether all bits are 0: -0 is stored."""
    found = chunk.reshape(-1).view("u1")
    return not found[:_PROBE].any() and not found.any()


class _Shard:
    """The file of one block in Zarr 3: chunks in the order in which they come,
    and an index."""

    def __init__(self, layout: Layout, first: tuple[int, ...],
                 folder: pathlib.Path):
        self._layout, self._first = layout, first
        self._path = folder / "shard"
        self._counts = [n // c for n, c in zip(layout.shard, layout.chunks)]
        self._index = numpy.full((*self._counts, 2), _NONE, "<u8")
        self._end = 0
        self._file = open(self._path, "xb")

    def add(self, at: tuple[int, ...], data: Any) -> None:
        """Stores the chunk number @at."""
        n = memoryview(data).nbytes
        self._index[tuple(i % count for i, count in zip(at, self._counts))] = (
            self._end, n)
        self._file.write(data)
        self._end += n

    def publish(self, array: pathlib.Path) -> list[pathlib.Path]:
        """Gives the file its name in @array. Returns it, unless it is empty."""
        import google_crc32c    # pylint: disable=import-outside-toplevel
        with self._file:
            index = self._index.tobytes()
            self._file.write(index)
            self._file.write(google_crc32c.value(index).to_bytes(4, "little"))
        if not self._end:
            return []
        return [_move(self._path, array.joinpath("c", *(
            str(i // count) for i, count in zip(self._first, self._counts))))]

    def close(self) -> None:
        """Without a name."""
        with contextlib.suppress(OSError):      # again that of the last write
            self._file.close()


class _Files:
    """The files of one block in Zarr 2, one for each chunk."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        self._chunks: list[tuple[int, ...]] = []

    def add(self, at: tuple[int, ...], data: Any) -> None:
        """Stores the chunk number @at."""
        with open(self._folder / str(len(self._chunks)), "xb") as file:
            file.write(data)
        self._chunks.append(at)

    def publish(self, array: pathlib.Path) -> list[pathlib.Path]:
        """Gives the files their names in @array, and returns them."""
        return [_move(self._folder / str(i), array.joinpath(*map(str, at)))
                for i, at in enumerate(self._chunks)]

    def close(self) -> None:
        """Without names."""


def _move(path: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    sync(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(path, target)
    return target


class BlockWriter:
    """Writes one block of whole chunks.

    Parameters
    ----------
    layout : Layout
        Of the whole array.
    box : tuple of slice
        The block.
    folder : path
        An empty folder on the file system of the array, for unfinished files.
    n_threads : int
        Threads that compress chunks.
    """

    def __init__(self, layout: Layout, box: tuple[slice, ...],
                 folder: pathlib.Path, n_threads: int):
        bounds = [part.indices(n) for part, n in zip(box, layout.shape)]
        self._layout = layout
        self._shape = [stop - start for start, stop, _ in bounds]
        self._first = tuple(start // c for (start, _, _), c in
                            zip(bounds, layout.chunks))
        self._encode = _choose_encode(layout.compression)
        self._files: Any = (_Shard(layout, self._first, folder)
                            if layout.zarr_format == 3 else _Files(folder))
        self._pool = (concurrent.futures.ThreadPoolExecutor(n_threads)
                      if n_threads > 1 else None)
        self._n_threads = n_threads
        self._waiting: collections.deque[Any] = collections.deque()
        self._slab: numpy.ndarray | None = None
        self._filled = 0    # outputs in it
        self._n_slabs = 0   # that are written

    def _compress(self, chunk: numpy.ndarray) -> Any:
        """The bytes of a chunk, which is smaller at the edges of the array, or
        None."""
        layout = self._layout
        if chunk.shape != layout.chunks or not chunk.flags.c_contiguous:
            whole = numpy.zeros(layout.chunks, layout.dtype)
            whole[tuple(slice(n) for n in chunk.shape)] = chunk
            chunk = whole
        return None if _is_zero(chunk) else self._encode(chunk)

    def _add(self, at: tuple[int, ...], data: Any) -> None:
        if data is not None:
            self._files.add(at, data)

    def _drain(self, left: int) -> None:
        while len(self._waiting) > left:
            at, future = self._waiting.popleft()
            self._add(at, future.result())

    def _write_slab(self, number: int, slab: numpy.ndarray) -> None:
        """Writes the chunks number @number along the first axis."""
        chunks = self._layout.chunks
        for i in itertools.product(*(range(-(-n // c)) for n, c in
                                     zip(slab.shape[1:], chunks[1:]))):
            chunk = slab[(slice(None), *(slice(k * c, (k + 1) * c) for k, c in
                                         zip(i, chunks[1:])))]
            at = tuple(a + b for a, b in zip(self._first, (number, *i)))
            if not self._pool:
                self._add(at, self._compress(chunk))
                continue
            self._waiting.append((at, self._pool.submit(self._compress, chunk)))
            self._drain(2 * self._n_threads)

    def _collect(self, outputs: numpy.ndarray, n: int) -> numpy.ndarray | None:
        """The next @n outputs, if @outputs completes them."""
        if len(outputs) == n:
            return outputs
        if self._slab is None:
            self._slab = numpy.empty((n, *self._shape[1:]), self._layout.dtype)
        self._slab[self._filled:self._filled + len(outputs)] = outputs
        self._filled += len(outputs)
        return self._slab if self._filled == n else None

    def write(self, outputs: numpy.ndarray) -> None:
        """Writes the next outputs along the first axis. If they are whole chunks,
        they are not copied, and must not change until `publish`."""
        depth = self._layout.chunks[0]
        while len(outputs):
            n = min(depth, self._shape[0] - self._n_slabs * depth)
            room = n - self._filled
            slab = self._collect(outputs[:room], n)
            outputs = outputs[room:]
            if slab is not None:
                self._slab, self._filled = None, 0
                self._write_slab(self._n_slabs, slab)
                self._n_slabs += 1

    def publish(self, array: pathlib.Path) -> list[pathlib.Path]:
        """Gives the files of the whole block their names in the folder of the
        array, and returns them."""
        self._drain(0)
        return self._files.publish(array)

    @property
    def samples(self) -> int:
        """Outputs of the block."""
        return math.prod(self._shape)

    def __enter__(self) -> BlockWriter:
        return self

    def __exit__(self, *_error: Any) -> None:
        self._files.close()
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
