"""Runs over archives: many recordings, or arrays that are larger than memory.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import glob
import os
from typing import Any, Callable, Sequence, Union

from . import _library as lib
from ._dask import Dask, load_distributed, use_client
from ._filejobs import EXTENSIONS, FileJob
from ._filters import Filter
from ._jobs import find_type
from ._ledger import Ledger, Report, check_counts
from ._local import Local
from ._recordings import Raw
from ._sources import RecordingSource, Source, open_source
from ._storejobs import CODECS, StoreJob, find_shard

RETRIES = 3
RUNNERS = ("local", "dask")
# What outputs are, by the names of output_format: a version of OME-Zarr, or "".
FORMATS = {"recording": "", "ome-zarr": "0.5", "ome-zarr-0.5": "0.5",
           "ome-zarr-0.4": "0.4"}
Path = Union[str, os.PathLike]
Paths = Union[Path, Sequence[Any]]


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


def _find_pairs(inputs: Paths, output: Path,
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


def _make_job(source: Source, target: str, filter_: Filter,
              settings: dict[str, Any], block: Sequence[int] | None,
              output_format: str | None, compression: str) -> Any:
    is_recording = isinstance(source, RecordingSource)
    if output_format is None:
        output_format = ("recording" if is_recording
                         and not target.endswith(".zarr") else "ome-zarr")
    dtype = find_type(source, filter_, settings)
    version = FORMATS[output_format]
    if version:
        if is_recording and "t" not in source.axes and source.volumes > 1:
            raise lib.SettingsError(
                f"{source.path} has {source.volumes} volumes; OME-Zarr needs "
                "axes with t")
        return StoreJob(source, target, filter_, settings, dtype,
                        find_shard(source, block), version, compression)
    if not is_recording:
        raise lib.SettingsError(f"{source.path} is no recording: its output is "
                                "OME-Zarr")
    if block is not None:
        raise lib.SettingsError("block is for OME-Zarr; recordings are filtered "
                                "volume by volume")
    return FileJob(source, target, filter_, settings, dtype)


def _check(runner: str, client: Any, output_format: str | None,
           compression: str) -> None:
    for name, value, values in (
            ("runner", runner, RUNNERS),
            ("output_format", output_format, [None, *FORMATS]),
            ("compression", compression, CODECS)):
        if value not in values:
            raise lib.SettingsError(
                f"{name} is {value!r}; it must be one of "
                f"{', '.join(str(known) for known in values)}")
    if runner == "dask":
        load_distributed()      # its absence is told before the work begins
    elif client is not None:
        raise lib.SettingsError("client needs runner='dask'")


def run(inputs: Union[str, os.PathLike, Sequence[Any]],
        output: Union[str, os.PathLike], *, filter: Filter,
        axes: str | None = None, block: Sequence[int] | None = None,
        workers: int = 1, exact: bool = False, retries: int = RETRIES,
        runner: str = "local", client: Any = None, raw: Raw | None = None,
        output_format: str | None = None, compression: str = "zstd",
        progress: Callable[[int, int], Any] | None = None,
        **settings: Any) -> Report:
    """Filters archives: recordings, and OME-Zarr that is larger than memory.

    An input is a recording in a file (NIfTI, NRRD, MetaImage, NumPy, TIFF, raw
    samples), a local Zarr array, or an OME-Zarr group (0.4 or 0.5) of which the
    largest array is filtered. The output is a recording of the same format, or
    an OME-Zarr group. Zarr needs the package zarr, 3.0 or later.

    A run that was interrupted goes on if it is started again with the same
    settings. Until an output is complete, it has another name.

    Parameters
    ----------
    inputs : path, pattern, or sequence of them
        One input, or several, whose outputs have their names in the folder
        `output`.
    output : path
        Of the output, or the folder of the outputs.
    filter : str or array
        As for `convolve`, with one response.
    axes : str, optional
        The names of all axes, by default those of the metadata: ``"tzyx"``,
        ``"tczyx"``, … Recordings have the axes t, z, y, x and components last.
        Without t their volumes are filtered one by one.
    block : sequence of int, optional
        The outputs of one task along each axis, which are rounded up to whole
        chunks of the input and become one shard. By default about 8 million
        samples. Recordings that become recordings have no blocks.
    workers : int
        Processes. Each uses its share of the cores, unless `n_threads` is given.
    exact : bool
        The same samples, bit for bit, whatever the blocks are: ``auto`` becomes
        ``direct``. Otherwise float32 may differ by rounding.
    retries : int
        How often a task is tried again if it failed or its worker died.
    runner : {"local", "dask"}
        What runs the tasks: processes of this machine, or workers of Dask.
    client : distributed.Client, optional
        Whose workers run the tasks of ``runner="dask"``; by default `workers`
        processes of this machine. Each worker must see the inputs and outputs
        under the same names.
    raw : Raw, optional
        The samples of inputs without a header.
    output_format : {"recording", "ome-zarr", "ome-zarr-0.5", "ome-zarr-0.4"}
        By default that of the input; a recording becomes OME-Zarr if `output`
        ends with ``.zarr``. Version 0.5 uses Zarr 3 with a shard for each
        block, 0.4 uses Zarr 2.
    compression : {"zstd", "blosc", "gzip", "none"}
        Of OME-Zarr. Recordings are compressed if their input is.
    progress : callable, optional
        Called with the number of finished tasks and of all.
    **settings
        As for `convolve`.

    Returns
    -------
    Report
        ``print(report)`` says what was done and what failed. An input of which
        a block failed stays OUTPUT.part.

    Raises
    ------
    SettingsError
        If filter and settings are wrong, or the output was made with others.

    Examples
    --------
    Two processes filter a recording (a script needs the usual guard,
    ``if __name__ == "__main__":``, because its workers import it)::

        report = ndconv.run("heart.zarr", "smooth.zarr",
                            filter="gaussian,sigma=1.5", workers=2)
        print(report)
    """
    _check(runner, client, output_format, compression)
    check_counts(workers, retries)
    if exact and settings.get("method", "auto") == "auto":
        settings["method"] = "direct"
    ledger = Ledger(retries, progress)
    pairs = _find_pairs(inputs, output, output_format)
    for path, target in pairs:
        try:
            ledger.add(_make_job(open_source(path, axes, raw), target, filter,
                                 settings, block, output_format, compression))
        except (lib.Error, TypeError, OSError) as error:
            # One damaged input does not keep the others from being filtered.
            if len(pairs) == 1:
                raise
            ledger.refuse(path, error)
    if runner == "local":
        Local(ledger, workers).run()
    elif ledger.tasks:
        with use_client(client, workers) as own:
            Dask(ledger, own).run()
    return ledger.report()
