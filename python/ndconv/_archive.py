"""Runs over archives: many recordings, or arrays that are larger than memory.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

from . import _library as lib
from ._dask import Dask, load_distributed, start_local, start_slurm, use_client
from ._filters import Filter
from ._ledger import Ledger, Report, check_counts
from ._local import Local, refuse_worker
from ._planning import Options, Path, Paths, check_value, find_pairs
from ._recordings import Raw

RETRIES = 3
RUNNERS = ("local", "dask", "slurm")


def plan(ledger: Ledger, options: Options,
         pairs: Sequence[tuple[str, str]]) -> None:
    """Gives @ledger the tasks of all inputs."""
    errors: dict[str, Exception] = {}
    for path, target in pairs:
        try:
            job = options.make_job(path, target)
            ledger.add(job)
            cut = getattr(job.source, "cut", "")
            if cut:
                ledger.notes.append(cut)
        except (lib.Error, TypeError, OSError) as error:
            # One damaged input does not keep the others from being filtered.
            ledger.refuse(path, error)
            errors[str(error)] = error
    # The settings are wrong, or the only input is.
    if len(ledger.failed) == len(pairs) and len(errors) == 1:
        raise errors.popitem()[1]


def run(inputs: Paths, output: Path, *, filter: Filter,
        axes: str | None = None, block: Sequence[int] | None = None,
        workers: int = 1, exact: bool = False, retries: int = RETRIES,
        runner: str = "local", client: Any = None,
        slurm: dict[str, Any] | None = None, raw: Raw | None = None,
        max_memory: int = 0,
        truncated: str = "refuse",
        output_format: str | None = None, compression: str = "zstd",
        progress: Callable[[int, int], Any] | None = None,
        verify: bool = False, **settings: Any) -> Report:
    """Filters archives: recordings, and OME-Zarr that is larger than memory.

    An input is a recording (any that `Recording` reads), a local Zarr array, or an OME-Zarr group (0.4 or 0.5) of which the
    largest array is filtered. The output is a recording of the same format, or
    an OME-Zarr group. Zarr needs the package zarr, 3.0 or later.

    A run that was interrupted goes on if it is started again with the same
    settings. Until an output is complete, it has another name. Outputs whose
    files have another size than they were written with are done again. Inputs
    that have changed since are named in the report.

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
        chunks of the input and become one shard. By default about 32 million
        samples, or 8 million if a block has to be in memory. A worker needs at
        most two blocks and 32 MiB. Recordings that become recordings have no
        blocks.
    workers : int
        Processes. Each uses its share of the cores, unless `n_threads` is given.
    exact : bool
        The same samples, bit for bit, whatever the blocks are: the method
        ``auto`` becomes ``separable`` for filters that are, otherwise
        ``direct``. For outputs of integers it does so in any case. Other
        outputs may differ by rounding.
    retries : int
        How often a task is tried again if it failed or its worker died.
    runner : {"local", "dask", "slurm"}
        The runner of the tasks: processes of this machine, workers of Dask, or
        workers of Dask as jobs of Slurm.
    client : distributed.Client, optional
        Whose workers run the tasks of ``runner="dask"``; by default `workers`
        processes of this machine. Each worker must see the inputs and outputs
        under the same names.
    slurm : dict, optional
        For ``runner="slurm"``: parameters of ``dask_jobqueue.SLURMCluster``, as
        ``{"queue": "short", "memory": "8GB", "walltime": "1:00:00"}``. A job is
        one worker with `n_threads` cores.
    raw : Raw, optional
        The samples of inputs without a header.
    max_memory : int, optional
        Bytes of memory that reading a recording may take, as for `Recording`.
    truncated : {"refuse", "keep"}
        What is done with truncated recordings, as for `Recording`.
    output_format : {"recording", "ome-zarr", "ome-zarr-0.5", "ome-zarr-0.4"}
        By default that of the input; a recording becomes OME-Zarr if `output`
        ends with ``.zarr``. Version 0.5 uses Zarr 3 with a shard for each
        block, 0.4 uses Zarr 2.
    compression : {"zstd", "blosc", "gzip", "none"}
        Of OME-Zarr. Recordings are compressed if their input is.
    progress : callable, optional
        Called with the number of finished tasks and of all.
    verify : bool
        Read all outputs of earlier runs and compare their check sums, too.
    **settings
        As for `convolve`.

    Returns
    -------
    Report
        ``print(report)`` lists the complete and the failed inputs. If a block of
        an input failed, its output stays OUTPUT.part.

    Raises
    ------
    SettingsError
        If filter and settings are wrong, or the output was made with others.

    Examples
    --------
    Two processes filter recordings. A script needs the usual guard,
    ``if __name__ == "__main__":``, because its workers import it.

    >>> import ndconv, numpy, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name in "ab":
    ...     with ndconv.RecordingWriter(f"{folder}/{name}.nrrd", (4, 16, 16),
    ...                                 "uint8") as writer:
    ...         for n in range(5):
    ...             writer.write(numpy.full((4, 16, 16), n, "uint8"))
    >>> report = ndconv.run(folder + "/*.nrrd", folder + "/smooth",
    ...                     filter="gaussian,sigma=1", workers=2)
    >>> print(report)    # doctest: +ELLIPSIS
    2 outputs, 2 tasks in ... s, 0 were done before, 0 tried again, 0 failed
    ...
    """
    refuse_worker()
    check_value("runner", runner, RUNNERS)
    check_counts(workers, retries)
    if client is not None and runner != "dask":
        raise lib.SettingsError("client needs runner='dask'")
    if slurm is not None and runner != "slurm":
        raise lib.SettingsError("slurm needs runner='slurm'")
    if runner != "local":
        load_distributed()      # its absence is told before the work begins
    if runner == "slurm":
        settings.setdefault("n_threads", 1)
    options = Options(filter, settings, axes, block, raw, output_format,
                      compression, exact, max_memory, verify, truncated)
    options.check()
    ledger = Ledger(retries, progress)
    plan(ledger, options, find_pairs(inputs, output, output_format))
    if runner == "local":
        Local(ledger, workers).run()
    elif ledger.tasks:
        with (use_client(client) if client is not None else
              start_local(workers) if runner == "dask" else
              start_slurm(workers, settings["n_threads"],
                          slurm or {})) as own:
            Dask(ledger, own).run()
    return ledger.report()
