"""The rank filters and the grey-scale morphology of `scipy.ndimage`.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import operator
from typing import Any, Sequence

import numpy

from ._rank import rank

# numpy.pad()'s names of modes.
_PADS = {"constant": "constant", "grid-constant": "constant", "nearest": "edge",
         "reflect": "symmetric", "grid-mirror": "symmetric",
         "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap"}
_BORDERS = {"constant": "constant", "edge": "nearest", "symmetric": "reflect",
            "reflect": "mirror", "wrap": "wrap"}
# Types that are sorted as they are.
_SORTED = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32",
           "float64")
_AXES = "tzyx"


def _spread(value: Any, n: int) -> list[Any]:
    if isinstance(value, str) or not numpy.iterable(value):
        return [value] * n
    found = list(value)
    if len(found) != n:
        raise RuntimeError("sequence argument must have length equal to input "
                           f"rank: it has {len(found)}, not {n}")
    return found


def _find_axes(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    found = [operator.index(axis) for axis in (
        axes if numpy.iterable(axes) else (axes,))]
    for axis in found:
        if not -ndim <= axis < ndim:
            raise ValueError(f"axis {axis} is out of bounds for array of "
                             f"dimension {ndim}")
    found = [axis % ndim for axis in found]
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return found


class _Task:
    """Arguments that all functions have, for all axes of the array."""

    def __init__(self, array: Any, size: Any, footprint: Any, structure: Any,
                 mode: Any, cval: Any, origin: Any, axes: Any):
        self.array = numpy.asarray(array)
        ndim = self.array.ndim
        if numpy.iscomplexobj(self.array):
            raise TypeError("Complex type not supported")
        if self.array.dtype.kind not in "biuf" or self.array.dtype in ("f2",
                                                                       "g"):
            raise RuntimeError(f"data type not supported: {self.array.dtype}")
        found = _find_axes(axes, ndim)
        self.footprint = self._make_footprint(size, footprint, structure, found)
        self.origins, self.modes = [0] * ndim, ["edge"] * ndim
        origins = _spread(origin, len(found))
        for axis, mode_, origin_ in zip(found, _spread(mode, len(found)),
                                        origins):
            if mode_ not in _PADS:
                raise RuntimeError(f"boundary mode not supported: {mode_!r}")
            k = self.footprint.shape[axis]
            if not 0 <= k // 2 + int(origin_) < k:
                raise ValueError("invalid origin")
            self.modes[axis] = _PADS[mode_]
            self.origins[axis] = int(origin_)
        self.cval = cval

    def _make_footprint(self, size: Any, footprint: Any, structure: Any,
                        axes: Sequence[int]) -> numpy.ndarray:
        if structure is not None:
            if numpy.any(structure):
                raise NotImplementedError(
                    "structure must be 0 everywhere: footprints are flat")
            if footprint is None:
                footprint = numpy.ones(numpy.shape(structure), bool)
        if footprint is None:
            if size is None:
                raise RuntimeError("no footprint or filter size provided")
            mask = numpy.ones([operator.index(s)
                               for s in _spread(size, len(axes))], bool)
        else:
            mask = numpy.asarray(footprint, bool)
        if mask.ndim != len(axes):
            raise RuntimeError("footprint array has incorrect shape: it has "
                               f"{mask.ndim} axes, not {len(axes)}")
        if not mask.any():
            raise ValueError("All-zero footprint is not supported.")
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        if footprint is None:
            # Sizes are in the order of the axes, footprints in that of the
            # array.
            mask = mask.transpose(order)
        shape = [1] * self.array.ndim
        for i, k in zip(order, mask.shape):
            shape[axes[i]] = k
        return mask.reshape(shape)

    def _sort(self, array: numpy.ndarray, footprint: numpy.ndarray,
              origins: Sequence[int], operation: str,
              percentile: float) -> numpy.ndarray:
        """For arrays of up to four axes that are padded or have one border."""
        used = [i for i, k in enumerate(footprint.shape) if k > 1]
        if len(used) > 4:
            raise RuntimeError("footprints of more than four axes are not "
                               "supported")
        rest = [i for i in range(array.ndim) if i not in used]
        modes = {self.modes[i] for i in used}
        value: Any = self.cval
        low = [k // 2 + origins[i] for i, k in enumerate(footprint.shape)]
        pads = len(modes) > 1 or (len(used) == 4 and "wrap" in modes)
        order = rest + used
        moved = array.transpose(order)
        crop: list[slice] = [slice(None)] * len(used)
        if pads:
            for at, i in enumerate(used):
                width = [(0, 0)] * moved.ndim
                width[len(rest) + at] = (low[i],
                                         footprint.shape[i] - 1 - low[i])
                more = ({"constant_values": value}
                        if self.modes[i] == "constant" else {})
                moved = numpy.pad(moved, width, self.modes[i],  # type: ignore
                                  **more)
                crop[at] = slice(low[i], low[i] + array.shape[i])
            modes = {"edge"}
        border = _BORDERS[modes.pop()] if modes else "nearest"
        names = _AXES[4 - len(used):] if len(used) > 1 else "yx"
        mask = footprint.transpose(order).reshape(
            [footprint.shape[i] for i in used])
        shifts = [origins[i] for i in used]
        if len(used) < 2:
            mask = mask.reshape(1, -1)
            shifts = [0] * (2 - len(used)) + shifts
        flat = numpy.ascontiguousarray(moved).reshape(
            (-1, *moved.shape[len(rest):]))
        if len(used) < 2:
            flat = flat.reshape(1, len(flat), -1)
        by_name = dict(zip(names, shifts))
        time_border = border if border != "wrap" else "nearest"
        found = numpy.stack([rank(
            numpy.ascontiguousarray(part), axes=names, footprint=mask,
            operation=operation, percentile=percentile, border=border,
            time_border=time_border, border_value=float(value),
            origin=":".join(str(by_name.get(a, 0)) for a in "xyzt"))
            for part in flat]) if flat.size else flat
        found = found.reshape(moved.shape)[(slice(None),) * len(rest)
                                           + tuple(crop)]
        back = numpy.argsort(order)
        return found.transpose(back)

    def run(self, operation: str, output: Any = None, percentile: float = 50,
            array: Any = None, flips: bool = False) -> Any:
        """@operation with the footprint, or with the flipped one."""
        array = self.array if array is None else array
        footprint, origins = self.footprint, self.origins
        if flips:
            footprint = footprint[(slice(None, None, -1),) * footprint.ndim]
            origins = [-o - (k % 2 == 0)
                       for o, k in zip(origins, footprint.shape)]
        dtype = array.dtype.newbyteorder("=")
        fits = (abs(self.cval) <= 3e38 if dtype.kind == "f"
                else self._is_sample(dtype))
        if dtype.name in _SORTED and fits:
            found = self._sort(array.astype(dtype, copy=False), footprint,
                               origins, operation, percentile)
        else:
            found = self._sort_codes(array, footprint, origins, operation,
                                     percentile)
        return _store(found, output, array.dtype)

    def _is_sample(self, dtype: numpy.dtype) -> bool:
        """Whether the border value is an integer of @dtype."""
        return dtype.kind in "iu" and float(self.cval).is_integer() and bool(
            numpy.iinfo(dtype).min <= self.cval <= numpy.iinfo(dtype).max)

    def _sort_codes(self, array: numpy.ndarray, *rest: Any) -> numpy.ndarray:
        """Sorts numbers in place of samples whose type has no order here, or
        that the border value is none of."""
        kept = self.cval
        wide = "constant" in self.modes and not self._is_sample(array.dtype)
        samples = array.astype("f8") if wide else array
        known = numpy.unique(samples)
        if "constant" in self.modes:
            known = numpy.unique(numpy.append(
                known, numpy.asarray(kept).astype(
                    "f8" if wide else known.dtype)))
        codes = numpy.searchsorted(known, samples).astype("u4")
        try:
            self.cval = int(numpy.searchsorted(known, kept)) if (
                "constant" in self.modes) else 0
            return known[self._sort(codes, *rest)]
        finally:
            self.cval = kept


def _store(found: numpy.ndarray, output: Any, dtype: Any) -> numpy.ndarray:
    if isinstance(output, numpy.ndarray):
        if output.shape != found.shape:
            raise RuntimeError("output shape not correct")
        output[...] = found.astype(output.dtype, copy=False)
        return output
    return numpy.ascontiguousarray(
        found.astype(dtype if output is None else output, copy=False))


def _run_rank(task: _Task, place: int, output: Any) -> Any:
    n = int(task.footprint.sum())
    if place < 0:
        place += n
    if not 0 <= place < n:
        raise RuntimeError("rank not within filter footprint size")
    return task.run("percentile", output, min((place + .5) / n * 100, 100))


def rank_filter(input: Any, rank: int, size: Any = None, footprint: Any = None,
                output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
                origin: Any = 0, *, axes: Any = None) -> Any:
    """As `scipy.ndimage.rank_filter`."""
    return _run_rank(_Task(input, size, footprint, None, mode, cval, origin,
                           axes), operator.index(rank), output)


def median_filter(input: Any, size: Any = None, footprint: Any = None,
                  output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
                  origin: Any = 0, *, axes: Any = None) -> Any:
    """As `scipy.ndimage.median_filter`."""
    task = _Task(input, size, footprint, None, mode, cval, origin, axes)
    return task.run("median", output)


def percentile_filter(input: Any, percentile: float, size: Any = None,
                      footprint: Any = None, output: Any = None,
                      mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
                      *, axes: Any = None) -> Any:
    """As `scipy.ndimage.percentile_filter`."""
    task = _Task(input, size, footprint, None, mode, cval, origin, axes)
    n = int(task.footprint.sum())
    if percentile < 0:
        percentile += 100
    if not 0 <= percentile <= 100:
        raise RuntimeError("invalid percentile")
    return _run_rank(task, n - 1 if percentile == 100
                     else int(float(n) * percentile / 100), output)


def minimum_filter(input: Any, size: Any = None, footprint: Any = None,
                   output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
                   origin: Any = 0, *, axes: Any = None) -> Any:
    """As `scipy.ndimage.minimum_filter`."""
    return _Task(input, size, footprint, None, mode, cval, origin,
                 axes).run("minimum", output)


def maximum_filter(input: Any, size: Any = None, footprint: Any = None,
                   output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
                   origin: Any = 0, *, axes: Any = None) -> Any:
    """As `scipy.ndimage.maximum_filter`."""
    return _Task(input, size, footprint, None, mode, cval, origin,
                 axes).run("maximum", output)


def grey_erosion(input: Any, size: Any = None, footprint: Any = None,
                 structure: Any = None, output: Any = None,
                 mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                 axes: Any = None) -> Any:
    """As `scipy.ndimage.grey_erosion`, with a structure of zeros."""
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")
    return _Task(input, size, footprint, structure, mode, cval, origin,
                 axes).run("minimum", output)


def grey_dilation(input: Any, size: Any = None, footprint: Any = None,
                  structure: Any = None, output: Any = None,
                  mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                  axes: Any = None) -> Any:
    """As `scipy.ndimage.grey_dilation`, with a structure of zeros."""
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")
    return _Task(input, size, footprint, structure, mode, cval, origin,
                 axes).run("maximum", output, flips=True)


def grey_opening(input: Any, size: Any = None, footprint: Any = None,
                 structure: Any = None, output: Any = None,
                 mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                 axes: Any = None) -> Any:
    """As `scipy.ndimage.grey_opening`, with a structure of zeros."""
    eroded = grey_erosion(input, size, footprint, structure, None, mode, cval,
                          origin, axes=axes)
    return grey_dilation(eroded, size, footprint, structure, output, mode, cval,
                         origin, axes=axes)


def grey_closing(input: Any, size: Any = None, footprint: Any = None,
                 structure: Any = None, output: Any = None,
                 mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                 axes: Any = None) -> Any:
    """As `scipy.ndimage.grey_closing`, with a structure of zeros."""
    dilated = grey_dilation(input, size, footprint, structure, None, mode, cval,
                            origin, axes=axes)
    return grey_erosion(dilated, size, footprint, structure, output, mode, cval,
                        origin, axes=axes)


def _subtract(a: numpy.ndarray, b: numpy.ndarray,
              out: numpy.ndarray) -> numpy.ndarray:
    """Differences of integers wrap, as in SciPy."""
    if a.dtype == bool and b.dtype == bool:
        return numpy.bitwise_xor(a, b, out=out)
    return numpy.subtract(a, b, out=out)


def white_tophat(input: Any, size: Any = None, footprint: Any = None,
                 structure: Any = None, output: Any = None,
                 mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                 axes: Any = None) -> Any:
    """As `scipy.ndimage.white_tophat`, with a structure of zeros."""
    array = numpy.asarray(input)
    opened = grey_opening(array, size, footprint, structure, output, mode, cval,
                          origin, axes=axes)
    return _subtract(array, opened, opened)


def black_tophat(input: Any, size: Any = None, footprint: Any = None,
                 structure: Any = None, output: Any = None,
                 mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                 axes: Any = None) -> Any:
    """As `scipy.ndimage.black_tophat`, with a structure of zeros."""
    array = numpy.asarray(input)
    closed = grey_closing(array, size, footprint, structure, output, mode, cval,
                          origin, axes=axes)
    return _subtract(closed, array, closed)


def morphological_gradient(input: Any, size: Any = None, footprint: Any = None,
                           structure: Any = None, output: Any = None,
                           mode: Any = "reflect", cval: Any = 0.0,
                           origin: Any = 0, *, axes: Any = None) -> Any:
    """As `scipy.ndimage.morphological_gradient`, with a structure of zeros."""
    dilated = grey_dilation(input, size, footprint, structure, None, mode, cval,
                            origin, axes=axes)
    eroded = grey_erosion(input, size, footprint, structure, output, mode, cval,
                          origin, axes=axes)
    return numpy.subtract(dilated, eroded, out=eroded)
