"""What a run does: an input, its output, and the tasks between them.

While a run goes on, OUTPUT.part has the store, a description of the run, and a
marker for each finished task; the store gets its final name last.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import shutil
import time
from typing import Any, NamedTuple, Sequence

import numpy

from . import _library as lib
from ._arrays import COMPLEX, TYPES, View
from ._blocks import Block, plan_blocks
from ._convolve import Layout, convolve, settings_for, to_array
from ._filters import Filter
from ._sources import Source, load_zarr, open_array

# Outputs of a block, unless the caller says how many.
BLOCK_SAMPLES = 1 << 23


class Done(NamedTuple):
    """What a task did."""
    samples: int    # outputs
    read: int       # bytes of samples
    written: int
    seconds: float


class Task(NamedTuple):
    """One block of a job; processes exchange it."""
    job: Job
    index: int
    block: Block

    def do(self, n_threads: int | None = None) -> Done:
        """Computes it, on @n_threads unless the settings say how many."""
        job = self.job
        if n_threads and not job.settings.get("n_threads"):
            job = job._replace(settings={**job.settings,
                                         "n_threads": n_threads})
        begin = time.perf_counter()
        done = job.do(self.index, self.block)
        return done._replace(seconds=time.perf_counter() - begin)


class Job(NamedTuple):
    """One input and its output."""
    source: Source
    output: str
    filter: Any
    settings: dict[str, Any]
    dtype: str
    shard: tuple[int, ...]

    @property
    def part(self) -> pathlib.Path:
        """The output until it is complete."""
        return pathlib.Path(self.output + ".part")

    @property
    def volume(self) -> int:
        """The samples of a volume."""
        return math.prod(n for n, axis in zip(self.source.shape,
                                              self.source.axes) if axis != "t")

    def marker(self, index: int) -> pathlib.Path:
        """A file that is there when a task is done."""
        return self.part / "done" / str(index)

    def plan(self) -> list[Block]:
        """The blocks of all tasks."""
        axes = self.source.axes
        own = [i for i, axis in enumerate(axes) if axis != "c"]
        blocks = plan_blocks(self.filter,
                             [self.source.shape[i] for i in own],
                             [self.shard[i] for i in own],
                             axes=axes.replace("c", ""), **self.settings)
        if "c" not in axes:
            return blocks
        at = axes.index("c")
        return [Block(*(part[:at] + (slice(None),) + part[at:]
                        for part in block)) for block in blocks]

    def tasks(self) -> list[Task]:
        """All tasks, done or not."""
        return [Task(self, i, block) for i, block in enumerate(self.plan())]

    def missing(self, tasks: list[Task]) -> list[Task]:
        """Those of @tasks that no earlier run did."""
        try:
            done = {int(name) for name in os.listdir(self.part / "done")}
        except FileNotFoundError:
            done = set()
        return [task for task in tasks if task.index not in done]

    def describe(self) -> dict[str, Any]:
        """The settings that identify a run."""
        source = self.source
        return json.loads(json.dumps({
            "input": os.path.abspath(source.path), "array": source.inside,
            "axes": source.axes, "shape": source.shape,
            "type": str(source.dtype), "filter": describe_filter(self.filter),
            "output_type": self.dtype, "shard": self.shard,
            "settings": {name: value for name, value in self.settings.items()
                         if name != "n_threads"}}, default=str))

    def begin(self) -> bool:
        """Makes OUTPUT.part, or continues it. False if the output is
        complete."""
        zarr = load_zarr()
        if os.path.exists(self.output):
            try:
                found = zarr.open_group(self.output,
                                        mode="r").attrs.get("ndconv")
            except Exception:  # any other thing of that name
                found = None
            self._refuse_other(found, self.output)
            return False
        description = self.part / "run.json"
        if description.exists():
            self._refuse_other(json.loads(description.read_text("utf-8")),
                               str(self.part))
            return True
        if self.part.exists():
            shutil.rmtree(self.part)     # was killed before the description
        (self.part / "done").mkdir(parents=True)
        self._create(zarr)
        write_whole(description, json.dumps(self.describe()))
        return True

    def _refuse_other(self, found: Any, where: str) -> None:
        if found != self.describe():
            raise lib.SettingsError(
                f"{where} was made with other settings, or not by this "
                "function: remove it, or choose another output")

    def _create(self, zarr: Any) -> None:
        source = self.source
        old = source.multiscale or {
            "axes": [{"name": axis, "type": {"t": "time", "c": "channel"}.get(
                axis, "space")} for axis in source.axes],
            "datasets": [{"coordinateTransformations": [
                {"type": "scale", "scale": [1.0] * len(source.axes)}]}]}
        transformations = old["datasets"][0].get("coordinateTransformations",
                                                 [])
        scales = [{"axes": old["axes"], "datasets": [
            {"path": "0", "coordinateTransformations": transformations}]}]
        group = zarr.create_group(str(self.part / "store"), zarr_format=3)
        group.attrs.update({"ndconv": self.describe(),
                            "ome": {"version": "0.5", "multiscales": scales}})
        group.create_array("0", shape=source.shape, dtype=self.dtype,
                           chunks=source.chunks, shards=self.shard,
                           dimension_names=list(source.axes))

    def do(self, index: int, block: Block) -> Done:
        """One task, in a worker. The marker comes last."""
        target = open_array(str(self.part / "store"), "0", "r+")
        samples = self.source.read(block.source)
        result = convolve(samples, self.filter, axes=self.source.axes,
                          **self.settings)[block.inner]
        target[block.target] = result
        self.marker(index).touch()
        return Done(result.size, samples.nbytes, result.nbytes, 0.0)

    def finish(self) -> None:
        """Gives the complete output its name."""
        if not self.part.exists():
            return      # an earlier run did
        os.rename(self.part / "store", self.output)
        shutil.rmtree(self.part)


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a file that is complete as soon as it has its name."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)


def describe_filter(filter_: Filter) -> Any:
    """A text, or size, type and check sum of coefficients."""
    if isinstance(filter_, str):
        return filter_
    w = numpy.ascontiguousarray(filter_)
    return [list(w.shape), w.dtype.str, hashlib.sha256(w.tobytes()).hexdigest()]


def find_type(source: Source, filter_: Filter,
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


def find_shard(source: Source,
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
