"""Blocks in memory. The library needs several times the bytes of the samples that
it filters at once; a large block is therefore filtered in pieces.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import itertools
import math
from typing import Any, Iterator, NamedTuple, Sequence, Union

import numpy

from ._blocks import plan_blocks
from ._convolve import convolve_counted
from ._filters import Filter, Prepared, prepare
from ._jobs import release_memory
from ._stream import Stream
from ._types import Saturation

# A worker needs at most two blocks, each the input of a task and its outputs, and
# so many bytes.
MORE_BYTES = 32 << 20
# Of these, for chunks that are decompressed or compressed.
_CHUNK_BYTES = 16 << 20
# Smaller pieces would not need less memory, but more time.
_LEAST_SAMPLES = 1 << 15
_ROUNDED_SAMPLES = 1 << 18
# Types that the library reads and writes without a copy.
_DIRECT = ("uint8", "int16", "uint16", "float32", "complex64")

# Above the error of FFTs in double precision, and no number that exact outputs
# are likely to have as their distance from a half.
NEXT_TO_HALF = 3.7e-7

# The samples along an axis; an array if they continue at the other end.
Range = Union[slice, numpy.ndarray]


class Work(NamedTuple):
    """The filter of blocks of one array."""
    filter: Filter
    axes: str
    settings: dict[str, Any]
    dtype: numpy.dtype      # of the input
    output: numpy.dtype     # of the outputs that are stored

    @property
    def is_streamed(self) -> bool:
        """Whether blocks can be filtered volume by volume. With the time border
        "wrap" the first output needs the last volume."""
        return is_streamed(self.axes, self.settings)

    @property
    def prepared(self) -> Prepared:
        """The filter, which remembers the sizes of pieces."""
        return prepare(self.filter, self.axes.replace("c", ""), self.settings)

    @property
    def computed(self) -> numpy.dtype:
        """The type of the outputs before `round_integers`."""
        is_rounded = (self.output.kind in "iu"
                      and self.settings.get("output_type") == "float64")
        return numpy.dtype("float64") if is_rounded else self.output

    def make_stream(self, volume: Sequence[int]) -> Stream:
        """A stream of parts of the array with the shape @volume."""
        return Stream(self.filter, volume, self.dtype, axes=self.axes,
                      **self.settings)

    def count_bytes(self, source: Sequence[int], target: Sequence[int]) -> int:
        """The bytes of a block: its input and its outputs."""
        return (math.prod(source) * self.dtype.itemsize
                + math.prod(target) * self.output.itemsize)


def is_streamed(axes: str, settings: dict[str, Any]) -> bool:
    """As `Work.is_streamed`."""
    return axes.startswith("t") and settings.get("time_border") != "wrap"


def round_integers(outputs: numpy.ndarray, dtype: Any,
                   count: Saturation) -> numpy.ndarray:
    """@outputs as integers of the type @dtype, half to even, or @outputs if they
    have that type. Numbers next to a half count as halves: those by fft have an
    error that depends on the block."""
    if outputs.dtype == dtype:
        return outputs
    found = numpy.empty(outputs.shape, dtype)
    _round(outputs, found, count)
    return found


def _round(outputs: numpy.ndarray, found: numpy.ndarray,
           count: Saturation) -> None:
    # A block of several arrays of double precision is large.
    if outputs.ndim > 1 and outputs.size > _ROUNDED_SAMPLES:
        for part, rounded in zip(outputs, found):
            _round(part, rounded, count)
        return
    limits = numpy.iinfo(found.dtype)
    half = numpy.floor(outputs) + 0.5
    part = numpy.where(numpy.abs(outputs - half) < NEXT_TO_HALF, half, outputs)
    numpy.rint(part, out=part)
    count.add(int(numpy.count_nonzero((part < limits.min)
                                      | (part > limits.max))), part.size)
    found[...] = numpy.clip(part, limits.min, limits.max, out=part)


class Piece(NamedTuple):
    """A part of the outputs of a block that is computed at once."""
    size: tuple[int, ...]
    method: str     # the same for all pieces; the memory depends on it
    reach: list[tuple[int, int]]    # before and after them, along each axis


def _find_reach(work: Work) -> list[tuple[int, int]]:
    """The samples before and after its outputs that a block reads, along each
    axis."""
    prepared = work.prepared
    shapes = [prepared.coefficients(i).shape for i in range(prepared.count)]
    size = [max(sizes) for sizes in zip(*shapes)]
    # The block in the middle has enough samples around it.
    blocks = plan_blocks(work.filter, [3 * n for n in size], size,
                         axes=work.axes.replace("c", ""),
                         **{**work.settings, "border": "nearest",
                            "time_border": "nearest"})
    middle = blocks[len(blocks) // 2]
    found = iter([(inner.start, source.stop - source.start - inner.stop)
                  for inner, source in zip(middle.inner, middle.source)])
    return [(0, 0) if axis == "c" else next(found) for axis in work.axes]


def _count_needed(work: Work, sizes: Sequence[int]) -> tuple[int, str]:
    """The bytes for filtering an array with @sizes, beside that array and the
    outputs that are stored, and the method that needs them. Memory of a GPU is
    not counted."""
    volume = list(sizes)
    volumes = volume.pop(work.axes.index("t")) if "t" in work.axes else 1
    stream = work._replace(settings={
        **work.settings, "time_border": "nearest"}).make_stream(volume)
    if stream.backend != "cpu":
        return 0, work.settings.get("method", "auto")
    # Copies of a volume in types that the library does not compute with.
    copies = sum(8 if dtype.name in ("int32", "uint32")
                 else max(dtype.itemsize, 4)
                 for dtype in (work.dtype, work.computed)
                 if dtype.name not in _DIRECT)
    outputs = work.computed.itemsize
    if work.computed != work.output:
        outputs += work.output.itemsize
    # Samples that continue at the other end are copied.
    if work.settings.get("border") == "wrap":
        outputs += 2 * work.dtype.itemsize
    copies += outputs * (1 if work.is_streamed else volumes)
    return stream.nbytes + math.prod(volume) * copies, stream.method


def _halve(work: Work, sizes: Sequence[int],
           reach: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """@sizes, and smaller ones, each half of those before. The axis is halved
    that is longest compared with its reach, and x only if it is much longer."""
    piece = list(sizes)
    able = [i for i, axis in enumerate(work.axes) if axis in "zyx"]

    def compare(i: int) -> float:
        return piece[i] / (sum(reach[i]) + 1) / (4 if work.axes[i] == "x" else 1)
    yield tuple(piece)
    while math.prod(piece) > _LEAST_SAMPLES:
        at = max(able, key=compare)
        if piece[at] <= sum(reach[at]) + 1:
            return
        piece[at] = -(-piece[at] // 2)
        yield tuple(piece)


def _count_fitting(work: Work, inputs: Sequence[Sequence[int]],
                   most: int) -> tuple[int, str]:
    """The number of @inputs, the small ones first, that can be filtered with
    @most bytes, and the method of the last of them, or of the first one. To try
    one takes its memory, so that none is tried for which the one before it
    predicts too much."""
    n, method, each = 0, "auto", 0.0
    for sizes in inputs:
        if each * math.prod(sizes) > most:
            break
        needed, found = _count_needed(work, sizes)
        if n == 0:
            method = found
        if needed > most:
            break
        if needed == 0:     # a GPU filters large blocks in slabs
            return len(inputs), found
        n, method, each = n + 1, found, needed / math.prod(sizes)
    release_memory()
    return n, method


def _find_piece(work: Work, source: Sequence[int],
                target: Sequence[int]) -> Piece:
    """The pieces of a block with the input @source and the outputs @target."""
    most = work.count_bytes(source, target) + MORE_BYTES - _CHUNK_BYTES
    reach = _find_reach(work)
    wraps = work.settings.get("border") == "wrap"
    pieces = list(_halve(work, target, reach))
    pieces.reverse()
    inputs = [[whole if n == all_ else
               n + sum(r) if wraps else min(n + sum(r), whole)
               for n, all_, whole, r in zip(piece, target, source, reach)]
              for piece in pieces]
    n, method = _count_fitting(work, inputs, most)
    return Piece(pieces[max(n - 1, 0)], method, reach)


def find_piece(work: Work, source: Sequence[int],
               target: Sequence[int]) -> Piece:
    """The same, remembered for all blocks of one size."""
    known = work.prepared.pieces
    key = (work.axes, work.dtype, work.output, tuple(source), tuple(target))
    if key not in known:
        known[key] = _find_piece(work, source, target)
    return known[key]


def fits_as_stream(work: Work, source: Sequence[int], target: Sequence[int],
                   held: int) -> bool:
    """Whether two blocks are enough for the window of all volumes and @held
    bytes, which are those of volumes that are read or written at once."""
    if not work.is_streamed:
        return False
    known = work.prepared.pieces
    key = (work.axes, work.dtype, work.output, tuple(source), tuple(target),
           held)
    if key not in known:
        most = (2 * work.count_bytes(source, target) + MORE_BYTES - _CHUNK_BYTES
                - held)
        inputs = list(_halve(work, source, _find_reach(work)))
        known[key] = _count_fitting(work, inputs[::-1], most)[0] == len(inputs)
    return known[key]


def _find_range(first: int, last: int, n: int, reach: tuple[int, int],
                border: str) -> tuple[Range, int]:
    """The input of the outputs from @first up to, but without, @last of an axis
    of @n samples, and the number of the first of these outputs in it."""
    begin, end = first - reach[0], last + reach[1]
    if border == "wrap" and (begin < 0 or end > n):
        return numpy.arange(begin, end) % n, reach[0]
    # A border that mirrors reads as far from the edge as the filter beyond it.
    if begin < 0:
        end = max(end, reach[0] + 1)
    if end > n:
        begin = min(begin, n - reach[1] - 1)
    begin = max(begin, 0)
    return slice(begin, min(end, n)), first - begin


def _take(array: numpy.ndarray, ranges: Sequence[Range]) -> numpy.ndarray:
    """The samples of @ranges."""
    array = array[tuple(part if isinstance(part, slice) else slice(None)
                        for part in ranges)]
    for i, part in enumerate(ranges):
        if not isinstance(part, slice):
            array = numpy.take(array, part, axis=i)
    return array


def _count(ranges: Sequence[Range]) -> list[int]:
    return [part.stop - part.start if isinstance(part, slice) else len(part)
            for part in ranges]


class _Step(NamedTuple):
    """A piece: filter ``array[source]``, and store ``result[inner]`` in
    ``outputs[target]``."""
    source: tuple[Range, ...]
    inner: tuple[slice, ...]
    target: tuple[slice, ...]


def _plan_steps(work: Work, sizes: Sequence[int], inner: Sequence[slice],
                piece: Piece) -> Iterator[_Step]:
    """The pieces of a block with the input @sizes, of which @inner are the
    outputs."""
    target = _count(inner)
    border = work.settings.get("border", "nearest")
    for starts in itertools.product(*(range(0, n, p)
                                      for n, p in zip(target, piece.size))):
        found: list[tuple[Range, slice, slice]] = []
        for i, start in enumerate(starts):
            n = min(piece.size[i], target[i] - start)
            source: Range = slice(0, sizes[i])
            first = inner[i].start
            if piece.size[i] < target[i]:
                source, first = _find_range(first + start, first + start + n,
                                            sizes[i], piece.reach[i], border)
            found.append((source, slice(first, first + n),
                          slice(start, start + n)))
        yield _Step(*zip(*found))


def _filter_array(work: Work, array: numpy.ndarray,
                  count: Saturation) -> numpy.ndarray:
    found = convolve_counted(array, work.filter, work.axes, None, None, None,
                             work.settings)
    if work.computed == work.output:
        count.add(found.saturated, found.samples)
    return found.result


def filter_stream(work: Work, stream: Stream, outputs: Iterator[numpy.ndarray],
                  inner: Sequence[slice],
                  count: Saturation) -> Iterator[numpy.ndarray]:
    """The parts @inner of @outputs, which @stream makes."""
    before = stream.saturated
    for output in outputs:
        if work.computed == work.output:
            count.add(stream.saturated - before, output.size)
            before = stream.saturated
        yield round_integers(output[tuple(inner)], work.output, count)


def filter_block(work: Work, array: numpy.ndarray, inner: Sequence[slice],
                 piece: Piece, count: Saturation) -> numpy.ndarray:
    """The outputs @inner of the block @array."""
    work = work._replace(settings={**work.settings, "method": piece.method})
    if not work.is_streamed and list(piece.size) == _count(inner):
        return round_integers(_filter_array(work, array, count)[tuple(inner)],
                              work.output, count)
    outputs = numpy.empty(_count(inner), work.output)
    stream, shape = None, None
    for step in _plan_steps(work, array.shape, inner, piece):
        if not work.is_streamed:
            outputs[step.target] = round_integers(
                _filter_array(work, _take(array, step.source),
                              count)[step.inner], work.output, count)
            continue
        volumes = (_take(volume, step.source[1:]) for volume in array)
        wanted = _count(step.source[1:])
        if wanted != shape:
            stream = None   # before the memory for the next one is taken
            stream, shape = work.make_stream(wanted), wanted
        assert stream is not None
        found = stream.filter(volumes, step.inner[0].start, step.inner[0].stop)
        for output, target in zip(
                filter_stream(work, stream, found, step.inner[1:], count),
                outputs):
            target[step.target[1:]] = output
    return outputs
