"""Blocks of arrays that are too large for memory, and back ends.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Sequence

from . import _library as lib
from ._filters import Filter, check_axes, prepare, spread


class Block(NamedTuple):
    """One task: filter ``array[source]``, and store ``result[inner]`` in
    ``output[target]``."""
    source: tuple[slice, ...]
    inner: tuple[slice, ...]
    target: tuple[slice, ...]


def _slices(starts: Any, sizes: Any, axes: str,
            less: Any = (0, 0, 0, 0)) -> tuple[slice, ...]:
    order = ["xyzt".index(axis) for axis in axes]
    return tuple(slice(starts[i] - less[i], starts[i] - less[i] + sizes[i])
                 for i in order)


def plan_blocks(filter: Filter, shape: Sequence[int], block: Sequence[int], *,
                chunk: Sequence[int] | None = None, axes: str | None = None,
                **settings: Any) -> list[Block]:
    """Cuts an array into blocks, each with the input that its outputs need.

    Parameters
    ----------
    filter : str or array
        As for `convolve`.
    shape : sequence of int
        Of the array, in the order of `axes`.
    block : sequence of int
        The wanted shape of a block of outputs.
    chunk : sequence of int, optional
        The shape of chunks of a store: blocks are rounded up to whole chunks, so
        that no two write into the same one.
    axes : {"yx", "zyx", "tyx", "tzyx"}, optional
        By default as many as `shape` has.
    **settings
        As for `convolve`. Halos depend on `border`, `time_border`, `origin` and
        `causal`.

    Returns
    -------
    list of Block
        Together they cover the array once.

    Examples
    --------
    >>> import ndconv, numpy
    >>> array = numpy.random.default_rng(1).random((40, 50), "float32")
    >>> output = numpy.empty_like(array)
    >>> for task in ndconv.plan_blocks("box,size=5", array.shape, (16, 16)):
    ...     result = ndconv.convolve(array[task.source], "box,size=5")
    ...     output[task.target] = result[task.inner]
    >>> bool(numpy.allclose(output, ndconv.convolve(array, "box,size=5")))
    True
    """
    axes = check_axes(axes, len(shape))
    if "c" in axes or not len(shape) == len(block) == len(axes) or (
            chunk is not None and len(chunk) != len(axes)):
        raise lib.SettingsError(
            f"shape, block and chunk need one number for each of the axes "
            f"{axes}, without components")
    prepared = prepare(filter, axes, settings)
    n = ctypes.c_size_t()
    pointer = lib.nd_plan_blocks(
        prepared.filters, prepared.settings, spread(shape, axes, 1),
        spread(block, axes, 1),
        None if chunk is None else spread(chunk, axes, 1), n)
    blocks = ctypes.cast(pointer, ctypes.POINTER(lib.Block))
    found = [Block(_slices(b.in_start, b.in_size, axes),
                   _slices(b.out_start, b.out_size, axes, b.in_start),
                   _slices(b.out_start, b.out_size, axes))
             for b in blocks[:n.value]]
    lib.free(pointer)
    return found


def backends() -> list[str]:
    """The back ends that work on this machine, the preferred one first.

    Examples
    --------
    >>> import ndconv
    >>> "cpu" in ndconv.backends()
    True
    """
    return lib.take_texts(lib.nd_list_backends())


def devices(backend: str = "cuda") -> list[str]:
    """The names of the devices of a back end, by number.

    Parameters
    ----------
    backend : str
        One of those that the library knows: ``"cpu"`` has no numbered devices.

    Raises
    ------
    BackendError
        If the back end does not work on this machine.

    Examples
    --------
    >>> import ndconv
    >>> ndconv.devices("cpu")
    []
    """
    return lib.take_texts(lib.nd_list_devices(backend.encode()))
