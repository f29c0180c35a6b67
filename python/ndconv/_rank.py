"""Order statistics and morphology of arrays.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

from typing import Any, Callable

import numpy

from . import _library as lib
from ._arrays import empty, view
from ._calls import Cancel
from ._register import _Settings, _call, _find_axes
from ._outputs import to_array
from ._settings import RANK, takes


def _mask_text(mask: numpy.ndarray, axes: str) -> str:
    """The text of a footprint whose samples are those of @mask, with @axes."""
    mask = mask != 0
    shape = dict(zip(axes, mask.shape))
    size = ":".join(str(shape.get(axis, 1)) for axis in "xyzt")
    if mask.all():
        return size
    order = [axes.index(axis) for axis in "tzyx" if axis in axes]
    values = ",".join("01"[int(value)] for value in mask.transpose(order).ravel())
    return f"coefficients,size={size},values=<{values}>"


@takes(RANK)
def rank(array: Any, *, axes: str | None = None, out: Any = None,
         progress: Callable[[int, int], Any] | None = None,
         cancel: Cancel | None = None, **settings: Any) -> Any:
    """The sample at a rank of those under a footprint: medians, percentiles,
    minima, maxima, and morphology.

    Parameters
    ----------
    array : array
        Volumes or frames in memory of the host, of any type that `convolve`
        takes. Integers are exact; NaN counts as larger than other samples.
    axes : str, optional
        The names of all axes, by default ``"yx"``, ``"zyx"`` or ``"tzyx"``;
        ``"tyx"`` are frames, and ``"c"`` components.
    out : array, optional
        Written and returned. It must not overlap `array`.
    progress, cancel : optional
        As those of `convolve`.
    {settings}
        `footprint` may also be an array with the axes of `array` but ``"c"``.
        `origin` is in the order x, y, z, t.

    Returns
    -------
    array
        `out`, or an array of the library of `array`.

    Examples
    --------
    >>> import ndconv, numpy
    >>> ndconv.rank(numpy.array([[1, 1, 9, 1, 2, 2]], "uint8"), footprint="3")
    array([[1, 1, 1, 2, 2, 2]], dtype=uint8)
    """
    memory = view(array, "array")
    axes = _find_axes(axes, len(memory.shape))
    footprint = settings.get("footprint")
    if footprint is not None and not isinstance(footprint, (str, int)):
        mask = numpy.asarray(footprint)
        named = axes.replace("c", "")
        if mask.ndim != len(named) or not mask.size:
            raise lib.SettingsError(
                f"footprint has {mask.ndim} axes; it must have those of the "
                f"array, {named}, and no empty one")
        settings = {**settings, "footprint": _mask_text(mask, named)}
    if memory.complex:
        raise lib.SettingsError("array is complex, and complex numbers have no "
                                "order: use its magnitude")
    if out is None:
        out = empty(array, memory.shape, memory.type.decode())
    own = _Settings(settings, RANK, {})
    try:
        source = to_array(memory, axes)
        target = to_array(view(out, "out", writes=True), axes)
        _call(lambda watch: lib.nd_rank(own.pointer, source, target, watch),
              progress, cancel)
    finally:
        own.close()
    return out
