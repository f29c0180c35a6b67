"""Inputs of a run: arrays of Zarr stores, and recordings.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import math
import os
from typing import Any, Iterator, NamedTuple, Union

import numpy

from . import _library as lib
from ._filters import check_axes
from ._recordings import Raw, Recording

_LETTERS = frozenset("tczyx")
# Of chunks that are decompressed at the same time; one chunk may have more.
CHUNK_BYTES = 16 << 20


class ZarrSource(NamedTuple):
    """An array of a store."""
    path: str
    inside: str              # of the group; "": the store is an array
    axes: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: numpy.dtype
    multiscale: dict[str, Any] | None

    def _open(self) -> Any:
        """The array, in a worker. It is not kept: another run of the same
        worker may find another array of this name."""
        node = load_zarr().open(self.path, mode="r")
        array = node[self.inside] if self.inside else node
        if array.shape != self.shape or array.dtype != self.dtype:
            raise lib.FileError(f"{self.path} has changed since the run began")
        return array

    def _few_chunks(self) -> Any:
        """Limits the memory of chunks that are decompressed at the same time."""
        # Each is in memory with and without compression.
        most = CHUNK_BYTES // (2 * math.prod(self.chunks) * self.dtype.itemsize)
        config = load_zarr().config
        known = config.get("async.concurrency")
        return config.set({"async.concurrency": max(1, min(most, known or most))})

    @property
    def volumes_read(self) -> int:
        """The volumes that `read_volumes` has at once."""
        return self.chunks[0]

    def read(self, box: tuple[slice, ...]) -> numpy.ndarray:
        """The samples of @box."""
        with self._few_chunks():
            return self._open()[box]

    def read_volumes(self, box: tuple[slice, ...]) -> Iterator[numpy.ndarray]:
        """The volumes of @box, of which "t" is the first axis. Each chunk is
        decompressed once."""
        array = self._open()
        begin, end, _ = box[0].indices(self.shape[0])
        while begin < end:
            stop = min(end, (begin // self.chunks[0] + 1) * self.chunks[0])
            with self._few_chunks():
                volumes = array[(slice(begin, stop), *box[1:])]
            yield from volumes
            begin = stop


class RecordingSource(NamedTuple):
    """A recording in a file."""
    path: str
    raw: Raw | None
    axes: str                # "t" is missing if volumes are filtered one by one
    shape: tuple[int, ...]   # along `axes`
    volumes: int
    dtype: numpy.dtype
    chunks: tuple[int, ...]  # of an output in a store
    multiscale: dict[str, Any]
    compressed: bool
    max_memory: int
    truncated: str = "refuse"
    cut: str = ""            # a sentence about volumes that are missing
    inside: str = ""

    def open(self) -> Recording:
        """Opens it again, in a worker."""
        recording = Recording(self.path, self.raw, self.max_memory,
                              self.truncated)
        if recording.shape[0] != self.volumes or recording.dtype != self.dtype:
            raise lib.FileError(f"{self.path} has changed since the run began")
        return recording

    @property
    def volumes_read(self) -> int:
        """The volumes that `read_volumes` has at once."""
        return 1

    def read(self, box: tuple[slice, ...]) -> numpy.ndarray:
        """The samples of @box, of which "t" is the first axis."""
        sizes = [len(range(*part.indices(n)))
                 for part, n in zip(box, self.shape)]
        if "t" not in self.axes:
            with self.open() as recording:
                volume = recording.read(0).reshape(self.shape)
            # A small part does not keep the volume.
            part = volume[box]
            return part.copy() if 2 * part.size < volume.size else part
        found = numpy.empty(sizes, self.dtype)
        for i, volume in enumerate(self.read_volumes(box)):
            found[i] = volume
        return found

    def read_volumes(self, box: tuple[slice, ...]) -> Iterator[numpy.ndarray]:
        """The volumes of @box, of which "t" is the first axis."""
        with self.open() as recording:
            for t in range(*box[0].indices(self.volumes)):
                yield recording.read(t).reshape(self.shape[1:])[box[1:]]


Source = Union[ZarrSource, RecordingSource]


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


def _open_zarr(path: str, axes: str | None) -> ZarrSource:
    """The array of @path, or the largest one of an OME-Zarr group (0.1 to 0.5)."""
    try:
        node = load_zarr().open(path, mode="r")
    except ImportError:
        raise
    except Exception as error:
        raise lib.FileError(
            f"{path} is a folder and cannot be opened as Zarr: {error}; "
            f"recordings in it are named by a pattern, such as "
            f"'{path}/*.nii.gz'") from error
    multiscale, inside = None, ""
    if hasattr(node, "keys"):
        attributes = dict(node.attrs)
        scales = attributes.get("ome", attributes).get("multiscales")
        try:
            multiscale = scales[0]
            inside = multiscale["datasets"][0]["path"]
            node = node[inside]
            # Version 0.3 has names alone, older ones have always all axes.
            found = multiscale.get("axes", list("tczyx"))
            found = [{"name": axis, "type": axis_type(axis)}
                     if isinstance(axis, str) else axis for axis in found]
            multiscale = {**multiscale, "axes": found}
            names = "".join(axis["name"] for axis in found)
        except (TypeError, KeyError, IndexError) as error:
            raise lib.FormatError(
                f"{path} is a group without the metadata of OME-Zarr 0.1 to "
                "0.5: name the array in it") from error
        axes = axes or names
    axes = check_axes(axes, node.ndim)
    if len(axes) != node.ndim or not set(axes) <= _LETTERS:
        raise lib.SettingsError(f"{path} has {node.ndim} axes and axes is "
                                f"{axes!r}; name all of them")
    return ZarrSource(path, inside, axes, node.shape, node.chunks,
                      numpy.dtype(node.dtype), multiscale)


# Samples of a chunk of a recording that becomes OME-Zarr, along an axis.
_CHUNK = 64


def _open_recording(path: str, axes: str | None,
                    raw: Raw | None, max_memory: int,
                    truncated: str) -> RecordingSource:
    with Recording(path, raw, max_memory, truncated) as recording:
        if recording.responses > 1:
            raise lib.FormatError(f"{path} has {recording.responses} "
                                  "responses; an archive takes one")
        sizes = dict(zip("tzyxc", recording.shape))
        if axes is None:
            axes = "".join(axis for axis, n in sizes.items()
                           if axis in "yx" or n > 1)
        axes = check_axes(axes, len(axes))
        # Volumes are filtered one by one if t is not named.
        missing = [axis for axis in sizes if axis not in axes
                   and axis != "t" and sizes[axis] > 1]
        if missing or "c" in axes.replace("c", "", 1) or not (
                axes.replace("c", "") + "c" * ("c" in axes) == axes):
            raise lib.SettingsError(
                f"{path} has the axes tzyx and components last, as tzyxc; axes "
                f"is {axes!r}" + (f" without {missing[0]}" if missing else "")
                + ". Save other arrays as Zarr, with these axes")
        shape = tuple(sizes.get(axis, 1) for axis in axes)
        spacing = dict(zip("zyx", recording.spacing or (1.0, 1.0, 1.0)))
        rate = recording.rate
        scales = {**spacing, "t": float(1 / rate) if rate else 1.0, "c": 1.0}
        units = {**({axis: "millimeter" for axis in "zyx"}
                    if recording.spacing else {}),
                 **({"t": "second"} if rate else {})}
        multiscale = {
            "axes": [{"name": axis, "type": axis_type(axis),
                      **({"unit": units[axis]} if axis in units else {})}
                     for axis in axes],
            "datasets": [{"coordinateTransformations": [
                {"type": "scale", "scale": [scales[a] for a in axes]}]}]}
        chunks = tuple(n if axis == "c" else min(n, 1 if axis == "t" else
                                                 _CHUNK)
                       for axis, n in zip(axes, shape))
        return RecordingSource(path, raw, axes, shape, recording.shape[0],
                               recording.dtype, chunks, multiscale,
                               "compressed" in recording.format, max_memory,
                               truncated, "".join(
                                   text for text in recording.warnings
                                   if "is truncated" in text))


# Units of OME-Zarr in mm and s.
_UNITS = {"meter": 1e3, "centimeter": 10.0, "millimeter": 1.0,
          "micrometer": 1e-3, "nanometer": 1e-6, "second": 1.0,
          "millisecond": 1e-3, "microsecond": 1e-6, "nanosecond": 1e-9,
          "minute": 60.0}


def find_steps(source: Source) -> dict[str, str]:
    """The settings `spacing` and `rate` by the metadata of @source, as far as
    they are known."""
    multiscale = source.multiscale or {}
    steps: dict[str, float] = {}
    try:
        for axis in multiscale["axes"]:
            steps[axis["name"]] = _UNITS.get(axis.get("unit"), 0.0)
        for holder in (multiscale, multiscale["datasets"][0]):
            for change in holder.get("coordinateTransformations", ()):
                if change["type"] == "scale":
                    for axis, scale in zip(list(steps), change["scale"]):
                        steps[axis] *= float(scale)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return {}
    known = {axis for axis, step in steps.items()
             if step > 0 and math.isfinite(step)}
    found = {}
    if {"x", "y"} <= known and ("z" in known or "z" not in steps):
        found["spacing"] = ":".join(repr(steps[axis]) for axis in "xyz"
                                    if axis in steps)
    if "t" in known:
        found["rate"] = repr(1 / steps["t"])
    return found


def axis_type(axis: str) -> str:
    """The kind of an axis in OME-Zarr."""
    return {"t": "time", "c": "channel"}.get(axis, "space")


def open_source(path: str, axes: str | None, raw: Raw | None,
                max_memory: int = 0, truncated: str = "refuse") -> Source:
    """The array of a Zarr store, which is a folder, or a recording."""
    if any(os.path.exists(os.path.join(path, name))
           for name in ("zarr.json", ".zarray", ".zgroup", ".zattrs")):
        return _open_zarr(path, axes)
    return _open_recording(path, axes, raw, max_memory, truncated)
