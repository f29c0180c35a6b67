"""Which job each input of a run is.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import glob
import os
from typing import Any, NamedTuple, Sequence, Union

from . import _library as lib
from ._chunks import CODECS
from ._filejobs import EXTENSIONS, FileJob
from ._filters import Filter
from ._jobs import find_type
from ._recordings import Raw
from ._sources import RecordingSource, open_source
from ._storejobs import StoreJob, find_shard

# The values of output_format, and the version of OME-Zarr that each stands for.
FORMATS = {"recording": "", "ome-zarr": "0.5", "ome-zarr-0.5": "0.5",
           "ome-zarr-0.4": "0.4"}
Path = Union[str, os.PathLike]
Paths = Union[Path, Sequence[Any]]


def check_value(name: str, value: Any, values: Any) -> None:
    """Refuses a value that is none of @values."""
    if value not in values:
        raise lib.SettingsError(
            f"{name} is {value!r}; it must be one of "
            f"{', '.join(str(known) for known in values)}")


class Options(NamedTuple):
    """The options of a run, which apply to every input."""
    filter: Filter
    settings: dict[str, Any]
    axes: str | None = None
    block: Sequence[int] | None = None
    raw: Raw | None = None
    output_format: str | None = None
    compression: str = "zstd"

    def check(self) -> None:
        """Refuses unknown names."""
        check_value("output_format", self.output_format, [None, *FORMATS])
        check_value("compression", self.compression, CODECS)

    def make_job(self, path: str, target: str) -> StoreJob | FileJob:
        """The job from @path to @target."""
        source = open_source(path, self.axes, self.raw)
        is_recording = isinstance(source, RecordingSource)
        output_format = self.output_format or (
            "recording" if is_recording and not target.endswith(".zarr")
            else "ome-zarr")
        dtype = find_type(source, self.filter, self.settings)
        version = FORMATS[output_format]
        if version:
            if (is_recording and "t" not in source.axes
                    and source.volumes > 1):
                raise lib.SettingsError(
                    f"{path} has {source.volumes} volumes; OME-Zarr needs axes "
                    "with t")
            return StoreJob(source, target, self.filter, self.settings, dtype,
                            find_shard(source, self.block, self.settings),
                            version, self.compression)
        if not is_recording:
            raise lib.SettingsError(f"{path} is no recording: its output is "
                                    "OME-Zarr")
        if self.block is not None:
            raise lib.SettingsError("block is for OME-Zarr; recordings are "
                                    "filtered volume by volume")
        return FileJob(source, target, self.filter, self.settings, dtype)


def _expand(inputs: Paths) -> tuple[list[str], bool]:
    """The paths that names and patterns stand for; whether there can be
    several."""
    is_one = isinstance(inputs, (str, os.PathLike))
    found, several = [], not is_one
    for name in [inputs] if is_one else inputs:
        name = os.fspath(name)
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
