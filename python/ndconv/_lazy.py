"""Arrays of Dask: the output is lazy, and each of its blocks is computed from
one block of the input and the samples around it.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import importlib
from typing import Any, Callable

import numpy

from . import _library as lib
from ._filters import Prepared


def is_lazy(array: Any) -> bool:
    """Whether @array is one of Dask."""
    return (type(array).__module__.partition(".")[0] == "dask"
            and hasattr(array, "chunks"))


def make_sample(array: Any, axes: str) -> numpy.ndarray:
    """The smallest array with the axes and components of @array."""
    first = array.ndim - len(axes)
    return numpy.zeros([n if axes[i - first:i - first + 1] == "c" and i >= first
                        else 1 for i, n in enumerate(array.shape)], array.dtype)


def find_depth(prepared: Prepared, axes: str, borders: list[str],
               shape: tuple[int, ...]) -> list[int]:
    """The samples that the filter reads on each side, along each of @axes; the
    length of an axis that must be in one block. @borders are those of the axes
    without components."""
    if any(numpy.isnan(n) for n in shape):
        raise lib.SettingsError("The array of Dask has blocks of unknown size: "
                                "call its compute_chunk_sizes() first")
    own = axes.replace("c", "")
    sizes = numpy.max([prepared.coefficients(i).shape
                       for i in range(prepared.count)], axis=0)
    reach, border = dict(zip(own, sizes)), dict(zip(own, borders))
    # A filter with an origin of its own reads up to its whole size.
    depth = []
    for axis, n in zip(axes, shape):
        size = int(reach.get(axis, 1))
        depth.append(n if axis == "c" or (border[axis] == "wrap" and size > 1)
                     else size - 1)
    return depth


def _filter_block(block: Any, function: Callable[[Any], Any], cuts: list[int],
                  first: int, block_info: Any = None) -> Any:
    """The outputs of a block, without those around it. The axes of the input
    are those of the output from @first on."""
    place = block_info[0]
    part: list[slice] = [slice(None)] * first
    for axis, cut in enumerate(cuts):
        at, n = place["chunk-location"][axis], place["num-chunks"][axis]
        part.append(slice(cut if at > 0 else 0,
                          -cut if cut and at < n - 1 else None))
    return function(block)[tuple(part)]


def convolve_lazily(array: Any, depth: list[int], outer: tuple[int, ...],
                    inner: tuple[int, ...], dtype: Any,
                    function: Callable[[Any], Any]) -> Any:
    """@function, which filters an array of NumPy, of the blocks of @array.
    @depth is that of `find_depth`; the output has the axes @outer before those
    of the input, and @inner after them."""
    dask = importlib.import_module("dask.array")
    # Neighbours have all samples that a block needs, or there is one block.
    chunks = tuple(
        sizes if cut == 0 or len(sizes) == 1 else
        (n,) if cut >= n else
        dask.overlap.ensure_minimum_chunksize(cut, sizes)
        for sizes, cut, n in zip(array.chunks, depth, array.shape))
    array = array.rechunk(chunks)
    cuts = [cut if len(sizes) > 1 else 0 for sizes, cut in zip(chunks, depth)]
    first, ndim = len(outer), array.ndim
    whole = dask.overlap.overlap(array, dict(enumerate(cuts)), "none")
    new = [*range(first), *range(first + ndim, first + ndim + len(inner))]
    return whole.map_blocks(
        _filter_block, function, cuts, first, dtype=dtype,
        chunks=tuple((n,) for n in outer) + chunks
        + tuple((n,) for n in inner),
        new_axis=new or None,
        meta=numpy.empty((0,) * (ndim + len(new)), dtype))
