"""Arrays that are filtered faster with another order of their axes, or in rows.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import math
from typing import Callable

import numpy

# A line of LONG samples or more is filtered in rows of ROW, which stay in the
# cache, or of LONG_ROW if the filter is long.
LONG = 1 << 18
ROW = 4096
LONG_ROW = 15000
# Rows are this many times as long as the filter reaches.
LEAST_ROWS = 8

# Filters an array of the given number of axes, with the true borders.
Filter = Callable[[numpy.ndarray], numpy.ndarray]


def find_order(shape: tuple[int, ...],
               strides: tuple[int, ...]) -> tuple[int, ...] | None:
    """The order of the axes with the one that is innermost in memory last, or
    None if it is last already. The others keep their order by strides."""
    n = len(shape)
    order = sorted(range(n), key=lambda i: (shape[i] > 1, -abs(strides[i])))
    long = [i for i in order if shape[i] > 1]
    if not long or long[-1] == n - 1 or (
            abs(strides[long[-1]]) >= abs(strides[n - 1]) and shape[-1] > 1):
        return None
    return tuple(order)


def is_long_line(array: numpy.ndarray, reach: tuple[int, int],
                 border: str) -> bool:
    """Whether a line is better filtered in rows. At the ends of a border that
    wraps the rows would need samples of each other."""
    return (array.ndim == 1 and array.shape[0] >= LONG
            and LEAST_ROWS * sum(reach) <= LONG_ROW and border != "wrap"
            and array.strides[0] == array.itemsize)


def filter_line(line: numpy.ndarray, reach: tuple[int, int],
                filter_: Filter) -> numpy.ndarray:
    """The output of a long line: of its rows, which are wrong where rows meet,
    and then of windows around these places, and of what is left at the end."""
    before, after = reach
    both, size = before + after, line.itemsize
    row = ROW if LEAST_ROWS * both <= ROW else LONG_ROW
    n = line.shape[0] // row
    rows = filter_(line[:n * row].reshape(n, row))
    out = numpy.empty(line.shape, rows.dtype)
    out[:n * row] = rows.reshape(-1)
    view = numpy.lib.stride_tricks.as_strided
    windows = view(line[row - both:], (n - 1, 2 * both), (row * size, size),
                   writeable=False)
    if both:
        wrong = view(out[row - after:], (n - 1, both),
                     (row * out.itemsize, out.itemsize))
        wrong[...] = filter_(windows)[:, before:before + both]
    if n * row < line.shape[0]:
        first = n * row - both
        out[first + before:] = filter_(line[first:])[before:]
    return out


def count_long(shape: tuple[int, ...]) -> int:
    """The number of axes with several samples."""
    return sum(n > 1 for n in shape) if math.prod(shape) else len(shape)
