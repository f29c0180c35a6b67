"""Which job each input of a run is.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import glob
import math
import os
import re
from typing import Any, NamedTuple, Sequence, Union

import numpy

from . import _library as lib
from ._chunks import CODECS
from ._convolve import is_separable
from ._filejobs import EXTENSIONS, FileJob
from ._filters import Filter, prepare
from ._jobs import find_type
from ._recordings import Raw
from ._sources import RecordingSource, Source, find_steps, open_source
from ._storejobs import StoreJob, find_shard

# The values of output_format, and the version of OME-Zarr that each stands for.
FORMATS = {"recording": "", "ome-zarr": "0.5", "ome-zarr-0.5": "0.5",
           "ome-zarr-0.4": "0.4"}
# Methods of which the samples do not depend on the blocks.
EXACT = ("separable", "direct", "reference")
# Responses that a rounding changes by more than itself.
JUMPING = ("argmax", "phase")
# The error of FFTs of such outputs, in double precision, is below 1e-8.
GREATEST_BY_FFT = 2.0 ** 22
# A number with a unit in the text of a filter, which needs the steps of samples.
_UNIT = re.compile(r"[0-9.](?:[cmnu\u00b5\u03bc]?[ms]\b|/|cycles/)")
Path = Union[str, os.PathLike]
Paths = Union[Path, Sequence[Any]]


def check_value(name: str, value: Any, values: Any) -> None:
    """Refuses a value that is none of @values."""
    if value not in values:
        raise lib.SettingsError(
            f"{name} is {value!r}; it must be one of "
            f"{', '.join(str(known) for known in values)}")


def find_greatest(filter_: Filter, source: Source,
                  settings: dict[str, Any]) -> float:
    """The greatest magnitude of an output that the type of the samples
    allows."""
    if source.dtype.kind not in "iu":
        return math.inf
    limits = numpy.iinfo(source.dtype)
    prepared = prepare(filter_, source.axes.replace("c", ""), settings)
    sums = [float(numpy.abs(prepared.coefficients(i)).sum())
            for i in range(prepared.count)]
    most = max(-limits.min, limits.max,
               abs(float(settings.get("border_value", 0)))) * max(sums)
    if settings.get("response") == "energy":
        most *= most
    return (most * len(sums) * abs(float(settings.get("gain", 1)))
            + abs(float(settings.get("offset", 0))))


def has_integer_sums(source: Source, settings: dict[str, Any]) -> bool:
    """Whether the method "tensor" filters the samples: it sums integers, which
    no order changes."""
    value = float(settings.get("border_value", 0))
    return (source.dtype.name == "uint8" and value == round(value)
            and 0 <= value <= 255)


class Options(NamedTuple):
    """The options of a run, which apply to every input."""
    filter: Filter
    settings: dict[str, Any]
    axes: str | None = None
    block: Sequence[int] | None = None
    raw: Raw | None = None
    output_format: str | None = None
    compression: str = "zstd"
    exact: bool = False
    max_memory: int = 0
    verify: bool = False
    truncated: str = "refuse"

    def check(self) -> None:
        """Refuses unknown names."""
        method = self.settings.get("method", "auto")
        if self.exact and method not in ("auto", *EXACT):
            raise lib.SettingsError(f"method is {method!r}; with exact it must "
                                    f"be one of auto, {', '.join(EXACT)}")
        check_value("output_format", self.output_format, [None, *FORMATS])
        check_value("compression", self.compression, CODECS)

    def _find_settings(self, axes: str, dtype: str) -> dict[str, Any]:
        """The settings of all tasks of an input with @axes. Rounding by fft in
        single precision would make integers next to a half depend on the
        blocks, and the index or the phase of responses that are all 0."""
        method = self.settings.get("method", "auto")
        response = self.settings.get("response")
        if method == "fft" and response in JUMPING:
            raise lib.SettingsError(
                f"method is 'fft' and response is {response!r}: rounding, which "
                "depends on the blocks, would decide between equal responses; "
                "use method=auto")
        if method != "auto" or not (
                self.exact or response in JUMPING
                or numpy.dtype(dtype).kind in "iu"):
            return self.settings
        return self._find_exact(axes)

    def _find_exact(self, axes: str) -> dict[str, Any]:
        """The same with a method of EXACT."""
        can = is_separable(self.filter, axes.replace("c", ""), self.settings)
        return {**self.settings, "method": EXACT[0 if can else 1]}

    def _find_block_settings(self, settings: dict[str, Any], source: Source,
                             dtype: str) -> dict[str, Any]:
        """The settings of blocks of outputs of the type @dtype. Integers by fft
        are computed in double precision, and `round_integers` rounds them, if
        the greatest possible output allows it."""
        if (settings.get("method") == "tensor" and not has_integer_sums(
                source, settings) and (numpy.dtype(dtype).kind in "iu" or
                                       settings.get("response") in JUMPING)):
            return self._find_exact(source.axes)
        if (settings.get("method") != "fft"
                or numpy.dtype(dtype).kind not in "iu"):
            return settings
        if find_greatest(self.filter, source, settings) > GREATEST_BY_FFT:
            return self._find_exact(source.axes)
        return {**settings, "precision": "double", "output_type": "float64"}

    def make_job(self, path: str, target: str) -> StoreJob | FileJob:
        """The job from @path to @target."""
        source = open_source(path, self.axes, self.raw, self.max_memory,
                             self.truncated)
        if isinstance(self.filter, str) and _UNIT.search(self.filter):
            steps = find_steps(source)
            if not steps.keys() <= self.settings.keys():
                return self._replace(settings={
                    **steps, **self.settings}).make_job(path, target)
        dtype = find_type(source, self.filter, self.settings)
        settings = self._find_block_settings(
            self._find_settings(source.axes, dtype), source, dtype)
        output_format = self.output_format or (
            "recording" if isinstance(source, RecordingSource)
            and not target.endswith(".zarr") else "ome-zarr")
        version = FORMATS[output_format]
        if version:
            if target.endswith(EXTENSIONS):
                raise lib.SettingsError(
                    f"{target} has the extension of a recording; the output of "
                    f"{path} is OME-Zarr: name it .zarr")
            if (isinstance(source, RecordingSource)
                    and "t" not in source.axes and source.volumes > 1):
                raise lib.SettingsError(
                    f"{path} has {source.volumes} volumes; OME-Zarr needs axes "
                    "with t")
            return StoreJob(source, target, self.filter, settings, dtype,
                            find_shard(source, self.filter, self.block,
                                       settings),
                            version, self.compression, self.verify)
        if not isinstance(source, RecordingSource):
            raise lib.SettingsError(f"{path} is no recording: its output is "
                                    "OME-Zarr")
        if self.block is not None:
            raise lib.SettingsError("block is for OME-Zarr; recordings are "
                                    "filtered volume by volume")
        return FileJob(source, target, self.filter, settings, dtype,
                       self.verify)


def _expand(inputs: Paths) -> tuple[list[str], bool]:
    """The paths that names and patterns stand for; whether there can be
    several."""
    several = not isinstance(inputs, (str, os.PathLike))
    found: list[str] = []
    for path in ([inputs] if isinstance(inputs, (str, os.PathLike)) else
                 inputs):
        name = os.fspath(path)
        if glob.has_magic(name) and not os.path.exists(name):
            several = True
            matches = sorted(glob.glob(name))
            if not matches:
                raise lib.FileError(f"No file matches {name!r}")
            found += matches
        else:
            found.append(name)
    return [path.rstrip("/") for path in found], several


def _name_output(path: str, output_format: str | None) -> str:
    """The name of the output in its folder."""
    name = os.path.basename(path)
    if output_format in (None, "recording"):
        # .npz is read only.
        return name[:-1] + "y" if name.endswith(".npz") else name
    for extension in EXTENSIONS:
        if name.endswith(extension):
            name = name[:-len(extension)]
    return name if name.endswith(".zarr") else name + ".zarr"


def find_pairs(inputs: Paths, output: Path,
                output_format: str | None) -> list[tuple[str, str]]:
    """Inputs and their outputs: several go into the folder @output."""
    output = os.fspath(output)
    paths, several = _expand(inputs)
    if not several:
        return [(paths[0], output)]
    names = [_name_output(path, output_format) for path in paths]
    if not paths or len(set(names)) < len(names):
        raise lib.SettingsError(
            "inputs is empty: give names or a pattern" if not paths else
            "Two inputs have the same name: filter them into different folders")
    return [(path, os.path.join(output, name))
            for path, name in zip(paths, names)]
