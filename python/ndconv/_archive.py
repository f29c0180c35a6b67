"""Archives: OME-Zarr to OME-Zarr, block by block, in several processes.

A task is one block of outputs. It reads its part of the input with the halo that
the filter needs, and writes one whole shard, so that no two tasks write into one
file. While a run goes on, OUTPUT.part has the store, a description of the run, and
a marker for each finished task; the store gets its final name last.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import collections
import functools
import glob
import hashlib
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import shutil
import time
from typing import Any, Callable, NamedTuple, Sequence, Union

import numpy

from . import _library as lib
from ._arrays import COMPLEX, TYPES, View
from ._blocks import Block, plan_blocks
from ._convolve import Layout, convolve, settings_for, to_array
from ._filters import Filter, check_axes

# Outputs of a block, unless the caller says how many.
BLOCK_SAMPLES = 1 << 23
RETRIES = 3
# Processes that may die one after the other before any has started.
MAX_DEATHS = 20
_LETTERS = frozenset("tczyx")


class Failure(NamedTuple):
    """A block, or a whole input (`block` is None), that could not be done."""
    input: str
    block: Block | None
    message: str


class Report(NamedTuple):
    """The report of `run`."""
    outputs: list[str]       # that are complete
    finished: int            # blocks of this run
    skipped: int             # blocks of earlier runs
    retried: int             # blocks whose worker died or that failed at first
    failed: list[Failure]
    seconds: float
    samples: int             # outputs of this run

    def __str__(self) -> str:
        rate = self.samples / max(self.seconds, 1e-9) / 1e6
        lines = [f"{len(self.outputs)} outputs, {self.finished} blocks in "
                 f"{self.seconds:.1f} s ({rate:.1f} million samples/s), "
                 f"{self.skipped} were there, {self.retried} tried again, "
                 f"{len(self.failed)} failed"]
        lines += [f"{f.input}{'' if f.block is None else f' {f.block.target}'}: "
                  f"{f.message}" for f in self.failed]
        return "\n".join(lines)


class _Source(NamedTuple):
    """An array of a store."""
    path: str
    inside: str              # of the group; "": the store is an array
    axes: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: numpy.dtype
    multiscale: dict[str, Any] | None


class _Job(NamedTuple):
    """One input and its output. Processes exchange it."""
    source: _Source
    output: str
    filter: Any
    settings: dict[str, Any]
    dtype: str
    shard: tuple[int, ...]


def _zarr() -> Any:
    try:
        import zarr  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("Archives need the package zarr, 3.0 or later: pip "
                          "install 'ndconv[archives]'") from error
    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(f"Archives need zarr 3.0 or later; this is "
                          f"{zarr.__version__}")
    return zarr


def _open_source(path: str, axes: str | None) -> _Source:
    """The array of @path, or the largest one of an OME-Zarr group (0.4, 0.5)."""
    try:
        node = _zarr().open(path, mode="r")
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
    return _Source(path, inside, axes, node.shape, node.chunks,
                   numpy.dtype(node.dtype), multiscale)


def _output_type(source: _Source, filter_: Filter,
                 settings: dict[str, Any]) -> str:
    """The type of the output, if it has the shape of the input."""
    dtype = source.dtype
    kind = TYPES.get(numpy.dtype("float32") if dtype == COMPLEX else dtype)
    if kind is None:
        raise TypeError(f"{source.path} has samples of the type {dtype}; "
                        "filters take float32 and integers of up to 32 bits")
    like = View(0, source.shape, (0,) * len(source.shape), kind,
                dtype == COMPLEX, None, None)
    prepared = settings_for(filter_, source.axes, like, settings)
    layout = Layout(prepared, to_array(like, source.axes, 0), source.axes,
                    source.shape)
    if layout.shape != source.shape:
        raise lib.SettingsError(
            f"The output has the shape {layout.shape}, the input "
            f"{source.shape}; an archive takes one response: use response=max, "
            "sum or argmax, or one filter")
    return layout.dtype


def _find_shard(source: _Source,
                block: Sequence[int] | None) -> tuple[int, ...]:
    """The wanted block in whole chunks."""
    size = list(source.shape)
    if block is not None:
        if len(block) != len(size) or min(block) < 1:
            raise lib.SettingsError(
                f"block is {tuple(block)}; it must have {len(size)} numbers of "
                "1 or more")
        size = [min(n, b) for n, b in zip(size, block)]
    while block is None and math.prod(size) > BLOCK_SAMPLES:
        # The slowest axis that can still be halved.
        able = [i for i, (n, c) in enumerate(zip(size, source.chunks))
                if n > c and source.axes[i] != "c"]
        if not able:
            break
        size[able[0]] = -(-size[able[0]] // 2)
    # A block has all components.
    return tuple(-(-(n if a != "c" else whole) // c) * c for a, n, whole, c in
                 zip(source.axes, size, source.shape, source.chunks))


def _plan(job: _Job) -> list[Block]:
    axes = job.source.axes
    own = [i for i, axis in enumerate(axes) if axis != "c"]
    blocks = plan_blocks(job.filter, [job.source.shape[i] for i in own],
                         [job.shard[i] for i in own],
                         axes=axes.replace("c", ""), **job.settings)
    if "c" not in axes:
        return blocks
    at = axes.index("c")
    return [Block(*(part[:at] + (slice(None),) + part[at:] for part in block))
            for block in blocks]


def _describe(job: _Job) -> dict[str, Any]:
    """The settings that identify a run."""
    filter_ = job.filter
    if not isinstance(filter_, str):
        w = numpy.ascontiguousarray(filter_)
        filter_ = [list(w.shape), w.dtype.str,
                   hashlib.sha256(w.tobytes()).hexdigest()]
    source = job.source
    return json.loads(json.dumps({
        "input": os.path.abspath(source.path), "array": source.inside,
        "axes": source.axes, "shape": source.shape, "type": str(source.dtype),
        "filter": filter_, "output_type": job.dtype, "shard": job.shard,
        "settings": {name: value for name, value in job.settings.items()
                     if name != "n_threads"}}, default=str))


def _part(job: _Job) -> pathlib.Path:
    return pathlib.Path(job.output + ".part")


def _marker(job: _Job, index: int) -> pathlib.Path:
    return _part(job) / "done" / str(index)


def _refuse_other(job: _Job, found: Any, where: str) -> None:
    if found != _describe(job):
        raise lib.SettingsError(
            f"{where} was made with other settings, or not by this function: "
            "remove it, or choose another output")


def _begin(job: _Job) -> bool:
    """Makes OUTPUT.part, or continues it. FALSE if the output is complete."""
    zarr = _zarr()
    part = _part(job)
    if os.path.exists(job.output):
        try:
            found = zarr.open_group(job.output, mode="r").attrs.get("ndconv")
        except Exception:  # any other thing of that name
            found = None
        _refuse_other(job, found, job.output)
        return False
    description = part / "run.json"
    if description.exists():
        _refuse_other(job, json.loads(description.read_text("utf-8")),
                      str(part))
        return True
    if part.exists():
        shutil.rmtree(part)     # was killed before the description
    (part / "done").mkdir(parents=True)
    old = job.source.multiscale or {
        "axes": [{"name": axis, "type": {"t": "time", "c": "channel"}.get(
            axis, "space")} for axis in job.source.axes],
        "datasets": [{"coordinateTransformations": [
            {"type": "scale", "scale": [1.0] * len(job.source.axes)}]}]}
    transformations = old["datasets"][0].get("coordinateTransformations", [])
    group = zarr.create_group(str(part / "store"), zarr_format=3)
    group.attrs.update({"ndconv": _describe(job), "ome": {
        "version": "0.5", "multiscales": [{"axes": old["axes"], "datasets": [
            {"path": "0", "coordinateTransformations": transformations}]}]}})
    group.create_array("0", shape=job.source.shape, dtype=job.dtype,
                       chunks=job.source.chunks, shards=job.shard,
                       dimension_names=list(job.source.axes))
    temporary = part / "run.json.new"
    temporary.write_text(json.dumps(_describe(job)), "utf-8")
    os.replace(temporary, description)
    return True


def _finish(job: _Job) -> None:
    os.rename(_part(job) / "store", job.output)
    shutil.rmtree(_part(job))


@functools.lru_cache(maxsize=4)
def _open_array(path: str, inside: str, mode: str) -> Any:
    node = _zarr().open(path, mode=mode)
    return node[inside] if inside else node


def _do(job: _Job, index: int, block: Block) -> int:
    """One task, in a worker. The marker comes last."""
    source = _open_array(job.source.path, job.source.inside, "r")
    target = _open_array(str(_part(job) / "store"), "0", "r+")
    result = convolve(source[block.source], job.filter, axes=job.source.axes,
                      **job.settings)[block.inner]
    target[block.target] = result
    _marker(job, index).touch()
    return result.size


def _work(connection: Any) -> None:
    """The loop of a worker. It sends None when it is ready, then receives tasks
    and answers each with the number of samples, or with the text of an error."""
    connection.send(None)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            answer: Any = _do(*task)
        except Exception as error:  # every failure belongs to its task
            answer = str(error) or type(error).__name__
        connection.send(answer)


class _Worker:
    """A process. It is spawned: a fork would share the threads and the GPU
    context of this one."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        self.process.start()
        other.close()       # so that the end of the process ends the pipe
        self.ready = False
        self.task: tuple | None = None

    def stop(self) -> None:
        """An idle worker ends when its connection closes."""
        self.connection.close()
        if self.task or not self.ready:
            self.process.kill()
        self.process.join(10)
        self.process.kill()
        self.process.join()


class _Runner:
    """Processes that do tasks; those that die are replaced."""

    def __init__(self, workers: int, retries: int,
                 progress: Callable[[int, int], Any] | None):
        self.n_workers = workers
        self.retries = retries
        self.progress = progress
        self.waiting: collections.deque = collections.deque()
        self.attempts: collections.Counter = collections.Counter()
        self.failed: list[Failure] = []
        self.finished = self.samples = self.retried = self.total = 0
        self.workers: list[_Worker] = []
        self.never_ready = 0    # deaths without one that got ready

    def _again(self, task: tuple, message: str) -> None:
        key = (task[0].output, task[1])
        self.attempts[key] += 1
        if self.attempts[key] > self.retries:
            self.failed.append(Failure(task[0].source.path, task[2], message))
            return
        self.retried += 1
        self.waiting.append(task)

    def _bury(self, worker: _Worker) -> None:
        worker.stop()
        self.workers.remove(worker)
        if worker.task:
            self._again(worker.task, "its process died, with the exit status "
                        f"{worker.process.exitcode}")
        elif not worker.ready:
            self.never_ready += 1
        if self.never_ready > MAX_DEATHS:
            raise lib.BackendError(
                "Processes die as they start; a script that calls run() needs "
                "the guard if __name__ == '__main__':")

    def _hear(self, worker: _Worker) -> None:
        try:
            answer = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        task, worker.task = worker.task, None
        if not worker.ready:
            worker.ready = True
            self.never_ready = 0
        elif isinstance(answer, str):
            self._again(task, answer)
        else:
            self.finished += 1
            self.samples += answer
            if self.progress:
                self.progress(self.finished, self.total)

    def _give(self, worker: _Worker) -> None:
        worker.task = self.waiting.popleft()
        try:
            worker.connection.send(worker.task)
        except OSError:
            pass        # it died, which its connection tells

    def run(self, tasks: list[tuple]) -> None:
        self.total = len(tasks)
        self.waiting.extend(tasks)
        try:
            while self.waiting or any(worker.task for worker in self.workers):
                while len(self.workers) < min(self.n_workers, self.total):
                    self.workers.append(_Worker())
                for worker in self.workers:
                    if worker.ready and not worker.task and self.waiting:
                        self._give(worker)
                heard = multiprocessing.connection.wait(
                    [worker.connection for worker in self.workers])
                for worker in list(self.workers):
                    if worker.connection in heard:
                        self._hear(worker)
        finally:
            for worker in self.workers:
                worker.stop()


def _find_pairs(inputs: Union[str, os.PathLike, Sequence[Any]],
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
        raise lib.SettingsError("inputs is empty: give names or a pattern" if not paths else
                                "Two inputs have the same name: filter them "
                                "into different folders")
    return [(path, os.path.join(output, name))
            for path, name in zip(paths, names)]


def run(inputs: Union[str, os.PathLike, Sequence[Any]],
        output: Union[str, os.PathLike], *, filter: Filter,
        axes: str | None = None, block: Sequence[int] | None = None,
        workers: int = 1, exact: bool = False, retries: int = RETRIES,
        runner: str = "local",
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
    runner : {"local"}
        The processes that run tasks: those of this machine.
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
    begin = time.perf_counter()
    if runner != "local":
        raise lib.SettingsError(f"runner is {runner!r}; it must be 'local'")
    if workers < 1 or retries < 0:
        raise lib.SettingsError("workers must be 1 or more, retries 0 or more")
    if exact and settings.get("method", "auto") == "auto":
        settings["method"] = "direct"
    settings.setdefault("n_threads",
                        max(1, len(os.sched_getaffinity(0)) // workers))
    pool = _Runner(workers, retries, progress)
    tasks: list[tuple] = []
    unfinished: list[_Job] = []
    outputs: list[str] = []
    skipped = 0
    pairs = _find_pairs(inputs, output)
    for path, target in pairs:
        try:
            source = _open_source(path, axes)
            job = _Job(source, target, filter, settings,
                       _output_type(source, filter, settings),
                       _find_shard(source, block))
            blocks = _plan(job)
            if not _begin(job):
                outputs.append(target)
                skipped += len(blocks)
                continue
        except (lib.Error, TypeError, OSError) as error:
            # One damaged input does not keep the others from being filtered.
            if len(pairs) == 1:
                raise
            pool.failed.append(Failure(path, None, str(error)))
            continue
        unfinished.append(job)
        for index, one in enumerate(blocks):
            if _marker(job, index).exists():
                skipped += 1
            else:
                tasks.append((job, index, one))
    pool.run(tasks)
    bad = {failure.input for failure in pool.failed}
    for job in unfinished:
        if job.source.path not in bad:
            _finish(job)
            outputs.append(job.output)
    return Report(outputs, pool.finished, skipped, pool.retried, pool.failed,
                  time.perf_counter() - begin, pool.samples)
