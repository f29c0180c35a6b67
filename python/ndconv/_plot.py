"""Pictures of filters by matplotlib, which the package does not require.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import itertools
from typing import Any

import numpy

from . import _library as lib
from ._convolve import convolve
from ._filters import Filter, check_axes, prepare

_KINDS = ("slices", "spectrum", "impulse")
# Frequencies from -0.5 to 0.5 cycles per sample, at least.
_FREQUENCIES = 64


def _load_matplotlib() -> Any:
    try:
        import matplotlib.figure  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'ndconv[plot]'"
                          ) from error
    return matplotlib.figure.Figure


def _draw_planes(figure: Any, values: numpy.ndarray, axes: str,
                 is_spectrum: bool) -> None:
    """A picture of the plane through the middle for each pair of axes."""
    pairs = list(itertools.combinations(range(len(axes)), 2))
    most = float(numpy.abs(values).max()) or 1.0
    places = numpy.atleast_1d(figure.subplots(1, len(pairs), squeeze=False)[0])
    for place, (row, column) in zip(places, pairs):
        at: list[Any] = [n // 2 for n in values.shape]
        at[row] = at[column] = slice(None)
        rows, columns = values.shape[row], values.shape[column]
        extent = ((-0.5, 0.5, 0.5, -0.5) if is_spectrum else
                  (-columns / 2, columns / 2, rows / 2, -rows / 2))
        image = place.imshow(values[tuple(at)], extent=extent,
                             cmap="viridis" if is_spectrum else "RdBu_r",
                             vmin=0 if is_spectrum else -most, vmax=most,
                             aspect="equal" if is_spectrum else "auto",
                             interpolation="nearest")
        place.set_xlabel(axes[column])
        place.set_ylabel(axes[row])
    figure.colorbar(image, ax=list(places))


def _find_spectrum(coefficients: numpy.ndarray) -> numpy.ndarray:
    sizes = [max(_FREQUENCIES, n) // 2 * 2 for n in coefficients.shape]
    return numpy.abs(numpy.fft.fftshift(numpy.fft.fftn(
        coefficients, sizes, range(coefficients.ndim))))


def _draw_impulse(figure: Any, filter_: Filter, axes: str, number: int,
                  shape: tuple[int, ...], settings: dict[str, Any]) -> None:
    """The outputs for a single 1, along a line through it for each axis."""
    impulse = numpy.zeros([4 * n + 1 for n in shape], "f4")
    impulse[tuple(2 * n for n in shape)] = 1
    found = convolve(impulse, filter_, axes=axes,
                     **{**settings, "border": "constant",
                        "time_border": "constant"})
    if found.ndim > impulse.ndim:
        found = found[number]
    place = figure.subplots()
    for i, (axis, n) in enumerate(zip(axes, shape)):
        at: list[Any] = [2 * k for k in shape]
        at[i] = slice(n, 3 * n + 1)
        line = found[tuple(at)]
        x = numpy.arange(-n, n + 1)
        place.plot(x, line.real, label=axis)
        if numpy.iscomplexobj(line):
            place.plot(x, line.imag, "--", label=f"{axis}, imaginary")
    place.set_xlabel("samples from the 1")
    place.legend()


def plot(filter: Filter, kind: str = "slices", *, axes: str = "zyx",
         number: int = 0, figure: Any = None, **settings: Any) -> Any:
    """Draws a filter with matplotlib.

    Parameters
    ----------
    filter : str or array
        A text as for `design`, or coefficients in the order of `axes`.
    kind : {"slices", "spectrum", "impulse"}
        "slices": the coefficients in the planes through the middle, of complex
        ones the real part. "spectrum": the gain by frequency in these planes,
        in cycles per sample. "impulse": the outputs for a single 1, along each
        axis, with `causal` and `origin`.
    axes : {"yx", "zyx", "tyx", "tzyx"}
        The axes that the filter extends along.
    number : int
        Which filter of a bank.
    figure : matplotlib.figure.Figure, optional
        Is drawn into, otherwise a new one.
    **settings
        As for `convolve`.

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig("filter.png")`` stores it; a notebook shows it.

    Raises
    ------
    ImportError
        Without matplotlib.
    SettingsError
        If the filter or a parameter is wrong.

    Examples
    --------
    >>> import ndconv
    >>> figure = ndconv.plot("gaussian,sigma=1", axes="yx")
    >>> figure = ndconv.plot("log,sigma=1.5", "spectrum")
    >>> len(figure.axes)    # three planes and a colour bar
    4
    >>> figure = ndconv.plot("box,size=3", "impulse", axes="tyx", causal=True)
    """
    if kind not in _KINDS:
        raise lib.SettingsError(
            f"kind is {kind!r}; it must be one of {', '.join(_KINDS)}")
    axes = check_axes(axes, 4)
    prepared = prepare(filter, axes, settings)
    if not 0 <= number < prepared.count:
        raise lib.SettingsError(
            f"number is {number}; there are {prepared.count} filters")
    coefficients = prepared.coefficients(number)
    figure = figure or _load_matplotlib()(layout="constrained")
    if kind == "slices":
        _draw_planes(figure, coefficients.real, axes, False)
    elif kind == "spectrum":
        _draw_planes(figure, _find_spectrum(coefficients), axes, True)
    else:
        _draw_impulse(figure, filter, axes, number, coefficients.shape,
                      settings)
    return figure
