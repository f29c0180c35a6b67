"""Runs over archives: OME-Zarr to OME-Zarr, block by block, in several processes.

A task is one block of outputs. It reads its part of the input with the halo that
the filter needs, and writes one whole shard, so that no two tasks write into one
file.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import glob
import os
from typing import Any, Callable, Sequence, Union

from . import _library as lib
from ._dask import Dask, load_distributed, use_client
from ._filters import Filter
from ._jobs import Job, find_shard, find_type
from ._ledger import Ledger, Report, check_counts
from ._local import Local
from ._sources import open_source

RETRIES = 3
RUNNERS = ("local", "dask")
Paths = Union[str, os.PathLike, Sequence[Any]]


def _find_pairs(inputs: Paths,
                output: Union[str, os.PathLike]) -> list[tuple[str, str]]:
    """Inputs and their outputs: several go into the folder @output."""
    output = os.fspath(output)
    if isinstance(inputs, (str, os.PathLike)):
        inputs = os.fspath(inputs)
        if not glob.has_magic(inputs) or os.path.exists(inputs):
            return [(inputs, output)]
        pattern, inputs = inputs, sorted(glob.glob(inputs))
        if not inputs:
            raise lib.FileError(f"No file matches {pattern!r}")
    paths = [os.fspath(path).rstrip("/") for path in inputs]
    names = [os.path.basename(path) for path in paths]
    if not paths or len(set(names)) < len(names):
        raise lib.SettingsError(
            "inputs is empty: give names or a pattern" if not paths else
            "Two inputs have the same name: filter them into different folders")
    return [(path, os.path.join(output, name))
            for path, name in zip(paths, names)]


def _plan(ledger: Ledger, inputs: Paths, output: Union[str, os.PathLike],
          filter_: Filter, axes: str | None, block: Sequence[int] | None,
          settings: dict[str, Any]) -> None:
    """Gives @ledger the tasks of all inputs."""
    pairs = _find_pairs(inputs, output)
    for path, target in pairs:
        try:
            source = open_source(path, axes)
            ledger.add(Job(source, target, filter_, settings,
                           find_type(source, filter_, settings),
                           find_shard(source, block)))
        except (lib.Error, TypeError, OSError) as error:
            # One damaged input does not keep the others from being filtered.
            if len(pairs) == 1:
                raise
            ledger.refuse(path, error)


def run(inputs: Union[str, os.PathLike, Sequence[Any]],
        output: Union[str, os.PathLike], *, filter: Filter,
        axes: str | None = None, block: Sequence[int] | None = None,
        workers: int = 1, exact: bool = False, retries: int = RETRIES,
        runner: str = "local", client: Any = None,
        progress: Callable[[int, int], Any] | None = None,
        **settings: Any) -> Report:
    """Filters archives that are larger than memory: OME-Zarr to OME-Zarr.

    The input is a local Zarr array, or an OME-Zarr group (0.4 or 0.5) of which
    the largest array is filtered; the output is an OME-Zarr group (0.5). Needs
    the package zarr, 3.0 or later.

    A run that was interrupted goes on if it is started again with the same
    settings. Until it is complete, the output has the name OUTPUT.part.

    Parameters
    ----------
    inputs : path, pattern, or sequence of paths
        One input, or several, whose outputs have their names in the folder
        `output`.
    output : path
        Of the output, or the folder of the outputs.
    filter : str or array
        As for `convolve`, with one response.
    axes : str, optional
        The names of all axes, by default those of the metadata: ``"tzyx"``,
        ``"tczyx"``, …
    block : sequence of int, optional
        The outputs of one task along each axis, which are rounded up to whole
        chunks of the input and become one shard. By default about 8 million
        samples.
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
    if runner not in RUNNERS:
        raise lib.SettingsError(
            f"runner is {runner!r}; it must be one of {', '.join(RUNNERS)}")
    check_counts(workers, retries)
    if runner == "dask":
        load_distributed()      # its absence is told before the work begins
    elif client is not None:
        raise lib.SettingsError("client needs runner='dask'")
    if exact and settings.get("method", "auto") == "auto":
        settings["method"] = "direct"
    ledger = Ledger(retries, progress)
    _plan(ledger, inputs, output, filter, axes, block, settings)
    if runner == "local":
        Local(ledger, workers).run()
    elif ledger.tasks:
        with use_client(client, workers) as own:
            Dask(ledger, own).run()
    return ledger.report()
