"""What a run reads: arrays of Zarr stores.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import functools
import os
from typing import Any, NamedTuple

import numpy

from . import _library as lib
from ._filters import check_axes

_LETTERS = frozenset("tczyx")


class Source(NamedTuple):
    """An array of a store."""
    path: str
    inside: str              # of the group; "": the store is an array
    axes: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: numpy.dtype
    multiscale: dict[str, Any] | None

    def read(self, box: tuple[slice, ...]) -> numpy.ndarray:
        """The samples of @box."""
        return open_array(self.path, self.inside, "r")[box]


def load_zarr() -> Any:
    """The package zarr, which only archives need."""
    try:
        import zarr  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("Archives need the package zarr, 3.0 or later: pip "
                          "install 'ndconv[archives]'") from error
    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(f"Archives need zarr 3.0 or later; this is "
                          f"{zarr.__version__}")
    return zarr


@functools.lru_cache(maxsize=4)
def open_array(path: str, inside: str, mode: str) -> Any:
    """An array of a store; it stays open for the next blocks of a worker."""
    node = load_zarr().open(path, mode=mode)
    return node[inside] if inside else node


def open_source(path: str, axes: str | None) -> Source:
    """The array of @path, or the largest one of an OME-Zarr group (0.4, 0.5)."""
    try:
        node = load_zarr().open(path, mode="r")
    except ImportError:
        raise
    except Exception as error:
        raise lib.FileError(f"{path} cannot be opened as Zarr: {error}"
                            ) from error
    multiscale, inside = None, ""
    if hasattr(node, "keys"):
        attributes = dict(node.attrs)
        scales = attributes.get("ome", attributes).get("multiscales")
        try:
            multiscale = scales[0]
            inside = multiscale["datasets"][0]["path"]
            node = node[inside]
            names = "".join(axis["name"] for axis in multiscale["axes"])
        except (TypeError, KeyError, IndexError) as error:
            raise lib.FormatError(
                f"{path} is a group without the metadata of OME-Zarr 0.4 or "
                "0.5: name the array in it") from error
        axes = axes or names
    axes = check_axes(axes, node.ndim)
    if len(axes) != node.ndim or not set(axes) <= _LETTERS:
        raise lib.SettingsError(f"{path} has {node.ndim} axes and axes is "
                                f"{axes!r}; name all of them")
    return Source(os.fspath(path), inside, axes, node.shape, node.chunks,
                  numpy.dtype(node.dtype), multiscale)
