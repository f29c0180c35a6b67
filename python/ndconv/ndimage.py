"""The convolutions, rank filters and grey-scale morphology of `scipy.ndimage`,
with its names, arguments and results.

Sums are computed in double precision, unless samples and outputs have at most 32
bits and are not int32 or uint32. Integers are truncated towards 0, as SciPy
does, but saturated, and only once at the end. docs/python.md lists the
differences.

>>> import numpy
>>> from ndconv import ndimage
>>> ndimage.gaussian_filter1d(numpy.array([0.0, 0, 1, 0, 0]), 1, mode="wrap"
...                           ).round(3)
array([0.058, 0.242, 0.399, 0.242, 0.058])

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import math
import operator
import warnings
from typing import Any, Callable, Sequence

import numpy

from ._convolve import convolve_counted
from ._ranks import (black_tophat, grey_closing, grey_dilation, grey_erosion,
                     grey_opening, maximum_filter, median_filter,
                     minimum_filter, morphological_gradient, percentile_filter,
                     rank_filter, white_tophat)

__all__ = ["black_tophat", "convolve", "convolve1d", "correlate", "correlate1d",
           "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude",
           "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace",
           "grey_closing", "grey_dilation", "grey_erosion", "grey_opening",
           "laplace", "maximum_filter", "median_filter", "minimum_filter",
           "morphological_gradient", "percentile_filter", "prewitt",
           "rank_filter", "sobel", "uniform_filter", "uniform_filter1d",
           "white_tophat"]

_MODES = {"constant": "constant", "nearest": "nearest", "reflect": "reflect",
          "mirror": "mirror", "wrap": "wrap", "grid-constant": "constant",
          "grid-wrap": "wrap", "grid-mirror": "reflect"}
_AXES = {1: "x", 2: "yx", 3: "zyx", 4: "tzyx"}
# Types that are filtered in single precision, if outputs are, too.
_SINGLE = ("uint8", "int8", "uint16", "int16", "float32", "complex64")
# Integers below this are exact in float32.
_EXACT = 2 ** 24
# Products of filters with more coefficients are filtered axis by axis.
_LARGE_PRODUCT = 4096

Axes = Any


def _spread(value: Any, n: int) -> list[Any]:
    """One value for each of @n axes."""
    if isinstance(value, str) or not numpy.iterable(value):
        return [value] * n
    found = list(value)
    if len(found) != n:
        raise RuntimeError("sequence argument must have length equal to input "
                           f"rank: it has {len(found)}, not {n}")
    return found


def _find_axes(axes: Axes, ndim: int) -> list[int]:
    """The numbers of @axes, of which each may occur once."""
    if axes is None:
        return list(range(ndim))
    found = [operator.index(axis) for axis in (
        axes if numpy.iterable(axes) else (axes,))]
    for axis in found:
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range")
    found = [axis % ndim for axis in found]
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return found


def _at(values: Sequence[Any], axes: Sequence[int], ndim: int,
        rest: Any) -> list[Any]:
    """@values at @axes, and @rest at the others."""
    found = [rest] * ndim
    for axis, value in zip(axes, values):
        found[axis] = value
    return found


def _make_output(output: Any, array: numpy.ndarray,
                 is_complex: bool) -> tuple[numpy.dtype, Any]:
    """The type of the output, and the array that it is written to, or None."""
    if isinstance(output, numpy.ndarray):
        if output.shape != array.shape:
            raise RuntimeError("output shape not correct")
        if is_complex and output.dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")
        return output.dtype, output
    dtype = numpy.dtype(array.dtype if output is None else output)
    if is_complex and dtype.kind != "c":
        if output is not None:
            warnings.warn("promoting specified output dtype to complex",
                          stacklevel=4)
        dtype = numpy.promote_types(dtype, numpy.complex64)
    return dtype, None


def _cast(result: numpy.ndarray, dtype: numpy.dtype, output: Any,
          is_whole: bool) -> numpy.ndarray:
    """@result in @output or as @dtype: integers truncated towards 0 and
    saturated. @is_whole: all are integers, but for errors of rounding."""
    if dtype.kind in "iub" and result.dtype.kind == "f":
        result = numpy.rint(result) if is_whole else numpy.trunc(result)
        if dtype.kind == "b":
            result = result != 0
        else:
            limits = numpy.iinfo(dtype)
            high = float(limits.max)
            if high > limits.max:
                high = float(numpy.nextafter(high, 0))
            numpy.clip(numpy.nan_to_num(result, copy=False), float(limits.min),
                       high, out=result)
    if output is None:
        return result.astype(dtype, copy=False)
    output[...] = result.astype(output.dtype, copy=False)
    return output


def _compute(array: numpy.ndarray, weights: numpy.ndarray,
             modes: Sequence[str], cval: Any, origins: Sequence[int],
             dtype: numpy.dtype) -> numpy.ndarray:
    """The convolution of @array with @weights, which have as many axes, in
    double or single precision. @origins are those of a convolution."""
    kind = array.dtype.newbyteorder("=").name
    settings: dict[str, Any] = {}
    is_whole = weights.dtype.kind == "f" and bool(
        (weights == numpy.rint(weights)).all())
    if kind in _SINGLE and dtype.name in _SINGLE and (
            dtype.kind in "fc" or (is_whole and array.dtype.kind in "iu"
                                   and abs(weights).sum() * 2.0 ** (
                                       8 * array.dtype.itemsize) < _EXACT)):
        # As integers of more bits, which need no truncation.
        output = "float32"
    else:
        array = array.astype("c16" if array.dtype.kind == "c" else "f8",
                             copy=False)
        settings["precision"] = "double"
        output = "float64"
    if dtype.kind in "iub":
        settings["method"] = "direct"
    names = _AXES.get(array.ndim)
    if names is None:
        return _compute_many(array, weights, modes, cval, origins, dtype)
    origin = tuple(origins)
    return convolve_counted(
        array, weights, names, None, None, None,
        {"border": tuple(modes), "border_value": cval, "origin": origin,
         "output_type": output, **settings}).result


def _compute_many(array: numpy.ndarray, weights: numpy.ndarray,
                  modes: Sequence[str], cval: Any, origins: Sequence[int],
                  dtype: numpy.dtype) -> numpy.ndarray:
    """The same for more than four axes. Those that the filter does not extend
    along are a batch; of the others, all but four are summed here."""
    used = [i for i, k in enumerate(weights.shape) if k > 1]
    batch = [i for i in range(array.ndim) if i not in used]
    if len(used) <= 4:
        used = (used if used else [array.ndim - 1])
        batch = [i for i in range(array.ndim) if i not in used]
        order = batch + used
        result = numpy.empty(array.shape, numpy.result_type(
            array, weights, "f8"))
        moved = array.transpose(order)
        flat = moved.reshape(-1, *moved.shape[len(batch):])
        w = weights.transpose(order).reshape([weights.shape[i] for i in used])
        found = numpy.stack([_compute(item, w, [modes[i] for i in used], cval,
                                      [origins[i] for i in used], dtype)
                             for item in flat])
        result.transpose(order)[...] = found.reshape(moved.shape)
        return result
    axis = used[0]
    total: Any = 0
    k, n = weights.shape[axis], array.shape[axis]
    for m in range(k):
        # One tap along the axis is a shift.
        shift = numpy.zeros([k if i == axis else 1 for i in range(array.ndim)])
        shift[tuple(m if i == axis else 0 for i in range(array.ndim))] = 1
        moved = _compute(array, shift, modes, cval, [
            o if i == axis else 0 for i, o in enumerate(origins)],
            numpy.dtype("f8"))
        rest = numpy.take(weights, [m], axis)
        total = total + _compute(moved, rest, modes, cval, [
            0 if i == axis else o for i, o in enumerate(origins)], dtype)
    assert n == array.shape[axis]
    return total


def _filter(array: Any, weights: numpy.ndarray, axes: Sequence[int],
            modes: Any, cval: Any, origins: Sequence[int],
            output: Any) -> numpy.ndarray:
    """Convolves @axes of @array, to which @weights, @modes and @origins
    belong."""
    array = numpy.asarray(array)
    is_complex = array.dtype.kind == "c" or weights.dtype.kind == "c"
    if array.dtype.kind not in "biufc" or array.dtype in ("f2", "g", "G"):
        raise RuntimeError(f"data type not supported: {array.dtype}")
    dtype, target = _make_output(output, array, is_complex)
    names = []
    for mode in modes:
        if mode not in _MODES:
            raise RuntimeError(f"boundary mode not supported: {mode!r}")
        names.append(_MODES[mode])
    weights = weights.astype("c16" if weights.dtype.kind == "c" else "f8",
                             copy=False)
    shape = _at(weights.shape, axes, array.ndim, 1)
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    whole = weights.dtype.kind == "f" and array.dtype.kind in "biu" and bool(
        (weights == numpy.rint(weights)).all())
    result = _compute(array, weights.transpose(order).reshape(shape),
                      _at(names, axes, array.ndim, "nearest"), cval,
                      _at(origins, axes, array.ndim, 0), dtype)
    return _cast(result, dtype, target, whole)


def _check_origins(origins: Sequence[int], shape: Sequence[int]) -> None:
    for origin, k in zip(origins, shape):
        if not 0 <= k // 2 + origin < max(k, 1):
            raise ValueError(
                f"Invalid origin; origin must satisfy -(weights.shape[k] // 2)"
                f" <= origin[k] <= (weights.shape[k]-1) // 2: it is {origin} "
                f"for {k}")


def _convolve_or_correlate(array: Any, weights: Any, output: Any, mode: Any,
                           cval: Any, origin: Any, axes: Axes,
                           flips: bool) -> numpy.ndarray:
    array = numpy.asarray(array)
    weights = numpy.asarray(weights)
    _check_value(array, cval)
    found = _find_axes(axes, array.ndim)
    if weights.ndim != len(found) or 0 in weights.shape:
        raise RuntimeError(
            f"filter weights array has incorrect shape: weights.ndim "
            f"({weights.ndim}) must match len(axes) ({len(found)}), and no "
            "axis may be empty")
    # As in SciPy, the axes of the filter are in the order of those of the
    # array, but origins and modes in that of @axes.
    origins = [int(o) for o in _spread(origin, len(found))]
    modes = _spread(mode, len(found))
    order = sorted(range(len(found)), key=lambda i: found[i])
    found, origins, modes = ([values[i] for i in order] for values in (
        found, origins, modes))
    if flips:
        # A correlation is a convolution with the flipped, conjugate filter.
        _check_origins(origins, weights.shape)
        weights = weights[(slice(None, None, -1),) * weights.ndim].conj()
        origins = [-o - (k % 2 == 0) for o, k in zip(origins, weights.shape)]
    else:
        _check_origins([-o - (k % 2 == 0)
                        for o, k in zip(origins, weights.shape)],
                       weights.shape)
    return _filter(array, weights, found, modes, cval, origins, output)


def correlate(input: Any, weights: Any, output: Any = None,
              mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
              axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.correlate`."""
    return _convolve_or_correlate(input, weights, output, mode, cval, origin,
                                  axes, True)


def convolve(input: Any, weights: Any, output: Any = None,
             mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
             axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.convolve`."""
    return _convolve_or_correlate(input, weights, output, mode, cval, origin,
                                  axes, False)


def _check_value(array: Any, cval: Any) -> None:
    if numpy.iscomplexobj(cval) and not numpy.iscomplexobj(array):
        raise ValueError("Cannot provide a complex-valued cval when the input "
                         "is real.")


def _check_line(array: Any, weights: Any, cval: Any) -> numpy.ndarray:
    _check_value(array, cval)
    weights = numpy.asarray(weights)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    return weights


def correlate1d(input: Any, weights: Any, axis: int = -1, output: Any = None,
                mode: str = "reflect", cval: Any = 0.0,
                origin: int = 0) -> numpy.ndarray:
    """As `scipy.ndimage.correlate1d`."""
    return _convolve_or_correlate(input, _check_line(input, weights, cval), output, mode,
                                  cval, origin, (axis,), True)


def convolve1d(input: Any, weights: Any, axis: int = -1, output: Any = None,
               mode: str = "reflect", cval: Any = 0.0,
               origin: int = 0) -> numpy.ndarray:
    """As `scipy.ndimage.convolve1d`."""
    return _convolve_or_correlate(input, _check_line(input, weights, cval), output, mode,
                                  cval, origin, (axis,), False)


def _filter_lines(array: numpy.ndarray, lines: Sequence[numpy.ndarray],
                  axes: Sequence[int], modes: Sequence[str], cval: Any,
                  origins: Sequence[int], output: Any,
                  divisor: float = 1.0) -> numpy.ndarray:
    """Correlates each of @axes with one of @lines, and divides by @divisor. The
    border value is that of each pass, as in SciPy."""
    if not axes:
        dtype, target = _make_output(output, array, array.dtype.kind == "c")
        return _cast(array, dtype, target, False)
    dtype, target = _make_output(output, array, array.dtype.kind == "c")
    flipped = [line[::-1] for line in lines]
    moved = [-o - (len(line) % 2 == 0) for o, line in zip(origins, lines)]
    simple = len(set(modes)) == 1 and (
        _MODES.get(modes[0]) != "constant" or cval == 0)
    if simple and math.prod(map(len, lines)) <= _LARGE_PRODUCT and (
            array.ndim <= 4):
        parts = [(_multiply(flipped), list(range(len(axes))))]
    else:
        parts = [(line, [i]) for i, line in enumerate(flipped)]
    wide = dtype
    if dtype.kind in "iub":
        wide = numpy.dtype("f8")
    if array.dtype.kind == "c":
        wide = numpy.promote_types(wide, numpy.complex64)
    for weights, which in parts:
        array = _filter(array, weights, [axes[i] for i in which],
                        [modes[i] for i in which], cval,
                        [moved[i] for i in which], wide)
    if divisor != 1:
        array = array / divisor
    return _cast(array, dtype, target, False)


def _multiply(lines: Sequence[numpy.ndarray]) -> numpy.ndarray:
    """The product of @lines along the axes."""
    product = numpy.ones(())
    for line in lines:
        product = numpy.multiply.outer(product, line)
    return product


def _make_gaussian(sigma: float, order: int, radius: int) -> numpy.ndarray:
    """The line of a Gaussian or of one of its derivatives, for correlation."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = numpy.arange(-radius, radius + 1)
    phi = numpy.exp(-0.5 / (sigma * sigma) * x ** 2)
    phi /= phi.sum()
    # d/dx (q phi) = (q' - q x / sigma^2) phi
    q = numpy.polynomial.Polynomial([1.0])
    for _ in range(order):
        q = q.deriv() - q * numpy.polynomial.Polynomial([0, 1 / sigma ** 2])
    return (q(x) * phi)[::-1]


def _find_radius(sigma: float, truncate: float, radius: Any) -> int:
    if radius is None:
        return int(truncate * sigma + 0.5)
    if not isinstance(radius, (int, numpy.integer)) or radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    return int(radius)


def gaussian_filter1d(input: Any, sigma: float, axis: int = -1, order: int = 0,
                      output: Any = None, mode: str = "reflect",
                      cval: Any = 0.0, truncate: float = 4.0, *,
                      radius: int | None = None) -> numpy.ndarray:
    """As `scipy.ndimage.gaussian_filter1d`."""
    sigma = float(sigma)
    line = _make_gaussian(sigma, order, _find_radius(sigma, truncate, radius))
    return correlate1d(input, line, axis, output, mode, cval, 0)


def gaussian_filter(input: Any, sigma: Any, order: Any = 0, output: Any = None,
                    mode: Any = "reflect", cval: Any = 0.0,
                    truncate: float = 4.0, *, radius: Any = None,
                    axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.gaussian_filter`."""
    array = numpy.asarray(input)
    found = _find_axes(axes, array.ndim)
    n = len(found)
    lines, used = [], []
    for axis, s, o, m, r in zip(found, _spread(sigma, n), _spread(order, n),
                                _spread(mode, n), _spread(radius, n)):
        if s > 1e-15:
            lines.append(_make_gaussian(float(s), int(o),
                                        _find_radius(s, truncate, r)))
            used.append((axis, m))
    return _filter_lines(array, lines, [axis for axis, _ in used],
                         [m for _, m in used], cval, [0] * len(used), output)


def _difference(array: Any, axis: int, output: Any, mode: Any, cval: Any,
                smoothing: Sequence[float]) -> numpy.ndarray:
    array = numpy.asarray(array)
    axis = _find_axes(axis, array.ndim)[0]
    modes = _spread(mode, array.ndim)
    axes = [axis, *(i for i in range(array.ndim) if i != axis)]
    lines = [numpy.array([-1.0, 0, 1])] + [numpy.array(smoothing)] * (
        array.ndim - 1)
    return _filter_lines(array, lines, axes, [modes[i] for i in axes], cval,
                         [0] * array.ndim, output)


def prewitt(input: Any, axis: int = -1, output: Any = None,
            mode: Any = "reflect", cval: Any = 0.0) -> numpy.ndarray:
    """As `scipy.ndimage.prewitt`."""
    return _difference(input, axis, output, mode, cval, [1.0, 1, 1])


def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect",
          cval: Any = 0.0) -> numpy.ndarray:
    """As `scipy.ndimage.sobel`."""
    return _difference(input, axis, output, mode, cval, [1.0, 2, 1])


def _call_each(array: Any, derivative: Callable[..., Any], output: Any,
               mode: Any, cval: Any, extra_arguments: Sequence[Any],
               extra_keywords: dict[str, Any] | None,
               axes: Axes) -> tuple[numpy.ndarray, list[numpy.ndarray],
                                    numpy.dtype, Any]:
    """The results of @derivative along each axis, as SciPy calls it."""
    array = numpy.asarray(array)
    found = _find_axes(axes, array.ndim)
    dtype, target = _make_output(output, array, array.dtype.kind == "c")
    results = []
    for axis, m in zip(found, _spread(mode, len(found))):
        results.append(derivative(array, axis, dtype, m, cval,
                                  *extra_arguments, **(extra_keywords or {})))
    return array, results, dtype, target


def generic_laplace(input: Any, derivative2: Callable[..., Any],
                    output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
                    extra_arguments: Sequence[Any] = (),
                    extra_keywords: dict[str, Any] | None = None, *,
                    axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.generic_laplace`."""
    array, results, dtype, target = _call_each(
        input, derivative2, output, mode, cval, extra_arguments,
        extra_keywords, axes)
    return _cast(sum(results[1:], results[0]) if results else array, dtype,
                 target, False)


def generic_gradient_magnitude(input: Any, derivative: Callable[..., Any],
                               output: Any = None, mode: Any = "reflect",
                               cval: Any = 0.0,
                               extra_arguments: Sequence[Any] = (),
                               extra_keywords: dict[str, Any] | None = None, *,
                               axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.generic_gradient_magnitude`."""
    array, results, dtype, target = _call_each(
        input, derivative, output, mode, cval, extra_arguments, extra_keywords,
        axes)
    if not results:
        return _cast(array, dtype, target, False)
    wide = [result.astype(numpy.result_type(result, "f4"), copy=False)
            for result in results]
    return _cast(numpy.sqrt(sum(part * part for part in wide)), dtype, target,
                 False)


def laplace(input: Any, output: Any = None, mode: Any = "reflect",
            cval: Any = 0.0, *, axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.laplace`."""
    array = numpy.asarray(input)
    found = _find_axes(axes, array.ndim)
    if not found:
        return _filter_lines(array, [], [], [], cval, [], output)
    weights = numpy.zeros((3,) * len(found))
    for i in range(len(found)):
        index = [1] * len(found)
        for index[i], value in ((0, 1.0), (1, -2.0), (2, 1.0)):
            weights[tuple(index)] += value
    return _filter(array, weights, found, _spread(mode, len(found)), cval,
                   [0] * len(found), output)


def _make_derivative(sigma: Any, order: int, axes: Axes,
                     ndim: int) -> tuple[Callable[..., Any], list[int]]:
    """For the generic functions: a Gaussian with a derivative of @order along
    one axis. As in SciPy, the mode of that axis is for all, and the terms have
    the type of the output; but unsigned ones would lose their sign."""
    found = _find_axes(axes, ndim)
    sigmas = _spread(sigma, len(found))

    def derivative(array: Any, axis: int, output: Any, mode: Any, cval: Any,
                   **more: Any) -> numpy.ndarray:
        orders = [order if a == axis else 0 for a in found]
        if numpy.dtype(output).kind in "ub":
            output = numpy.dtype("f8")
        return gaussian_filter(array, sigmas, orders, output, mode, cval,
                               axes=found, **more)
    return derivative, found


def gaussian_laplace(input: Any, sigma: Any, output: Any = None,
                     mode: Any = "reflect", cval: Any = 0.0, *,
                     axes: Axes = None, **kwargs: Any) -> numpy.ndarray:
    """As `scipy.ndimage.gaussian_laplace`."""
    array = numpy.asarray(input)
    derivative, found = _make_derivative(sigma, 2, axes, array.ndim)
    return generic_laplace(array, derivative, output, mode, cval,
                           extra_keywords=kwargs, axes=found)


def gaussian_gradient_magnitude(input: Any, sigma: Any, output: Any = None,
                                mode: Any = "reflect", cval: Any = 0.0, *,
                                axes: Axes = None,
                                **kwargs: Any) -> numpy.ndarray:
    """As `scipy.ndimage.gaussian_gradient_magnitude`."""
    array = numpy.asarray(input)
    derivative, found = _make_derivative(sigma, 1, axes, array.ndim)
    return generic_gradient_magnitude(array, derivative, output, mode, cval,
                                      extra_keywords=kwargs, axes=found)


def uniform_filter1d(input: Any, size: int, axis: int = -1, output: Any = None,
                     mode: str = "reflect", cval: Any = 0.0,
                     origin: int = 0) -> numpy.ndarray:
    """As `scipy.ndimage.uniform_filter1d`; means of integers are exact."""
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return uniform_filter(input, (size,), output, (mode,), cval, (origin,),
                          axes=(axis,))


def uniform_filter(input: Any, size: Any = 3, output: Any = None,
                   mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                   axes: Axes = None) -> numpy.ndarray:
    """As `scipy.ndimage.uniform_filter`; means of integers are exact."""
    array = numpy.asarray(input)
    found = _find_axes(axes, array.ndim)
    n = len(found)
    sizes = [int(s) for s in _spread(size, n)]
    origins = [int(o) for o in _spread(origin, n)]
    used = [i for i, s in enumerate(sizes) if s > 1]
    _check_origins([origins[i] for i in used], [sizes[i] for i in used])
    modes = _spread(mode, n)
    lines = [numpy.ones(sizes[i]) for i in used]
    divisor = float(math.prod(sizes[i] for i in used))
    if array.dtype.kind in "fc" or cval != 0:
        lines = [line / len(line) for line in lines]
        divisor = 1.0
    return _filter_lines(array, lines, [found[i] for i in used],
                         [modes[i] for i in used], cval,
                         [origins[i] for i in used], output, divisor)


