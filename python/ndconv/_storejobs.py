"""Jobs of which the output is OME-Zarr. A task is one block and writes one shard
of whole chunks, so that no two tasks write into one file.

While a run goes on, OUTPUT.part has the store, a description of the run, a
marker for each finished task, and files that are being written; the store gets
its final name last.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import json
import math
import os
import pathlib
import shutil
import tempfile
from typing import Any, Iterable, NamedTuple, Sequence

import numpy

from . import _library as lib
from ._blocks import Block, plan_blocks
from ._chunks import CODECS, BlockWriter, Layout
from ._convolve import convolve
from ._jobs import (Done, Task, count_cores, count_volume, describe,
                    refuse_other, write_whole, writing)
from ._sources import Source, axis_type, load_zarr
from ._stream import Stream

# Outputs of a block, unless the caller says how many: of those that are computed
# and written volume by volume, and of those that are in memory.
STREAMED_SAMPLES = 1 << 25
BLOCK_SAMPLES = 1 << 23


class StoreJob(NamedTuple):
    """One input and its output."""
    source: Source
    output: str
    filter: Any
    settings: dict[str, Any]
    dtype: str
    shard: tuple[int, ...]
    version: str        # of OME-Zarr: 0.4, 0.5
    compression: str

    @property
    def volume(self) -> int:
        """The samples of a volume."""
        return count_volume(self.source)

    @property
    def _part(self) -> pathlib.Path:
        """The output until it is complete."""
        return pathlib.Path(self.output + ".part")

    def tasks(self) -> list[Task]:
        """All tasks, done or not."""
        axes = self.source.axes
        own = [i for i, axis in enumerate(axes) if axis != "c"]
        blocks = plan_blocks(self.filter,
                             [self.source.shape[i] for i in own],
                             [self.shard[i] for i in own],
                             axes=axes.replace("c", ""), **self.settings)
        if "c" in axes:
            at = axes.index("c")
            blocks = [Block(*(part[:at] + (slice(None),) + part[at:]
                              for part in block)) for block in blocks]
        return [Task(self, i, block) for i, block in enumerate(blocks)]

    def missing(self, tasks: list[Task]) -> list[Task]:
        """Those of @tasks that no earlier run did."""
        if os.path.exists(self.output):
            return []
        try:
            done = {int(name) for name in os.listdir(self._part / "done")}
        except FileNotFoundError:
            done = set()
        return [task for task in tasks if task.index not in done]

    def _describe(self) -> dict[str, Any]:
        return describe(self.source, self.filter, self.dtype, self.settings,
                        shard=self.shard, version=self.version,
                        compression=self.compression)

    def begin(self) -> None:
        """Makes OUTPUT.part, or continues it."""
        zarr = load_zarr()
        if os.path.exists(self.output):
            try:
                found = zarr.open_group(self.output,
                                        mode="r").attrs.get("ndconv")
            except Exception:  # any other thing of that name
                found = None
            refuse_other(found, self._describe(), self.output)
            return
        description = self._part / "run.json"
        if description.exists():
            refuse_other(json.loads(description.read_text("utf-8")),
                         self._describe(), self._part)
            return
        with writing(self.output):
            self._make_part(zarr, description)

    def _make_part(self, zarr: Any, description: pathlib.Path) -> None:
        if self._part.exists():     # was killed before the description
            if any(name not in ("done", "store") and not name.endswith(".new")
                   for name in os.listdir(self._part)):
                refuse_other(None, self._describe(), self._part)
            shutil.rmtree(self._part)
        (self._part / "done").mkdir(parents=True)
        self._create(zarr)
        write_whole(description, json.dumps(self._describe()))

    def _create(self, zarr: Any) -> None:
        source = self.source
        old = source.multiscale or {
            "axes": [{"name": axis, "type": axis_type(axis)}
                     for axis in source.axes],
            "datasets": [{"coordinateTransformations": [
                {"type": "scale", "scale": [1.0] * len(source.axes)}]}]}
        transformations = old["datasets"][0].get("coordinateTransformations",
                                                 [])
        scale = {"axes": old["axes"], "datasets": [
            {"path": "0", "coordinateTransformations": transformations}]}
        codec = CODECS[self.compression][self.version == "0.4"]
        path = str(self._part / "store")
        if self.version == "0.4":
            group = zarr.create_group(path, zarr_format=2)
            attributes = {"multiscales": [{"version": "0.4", **scale}]}
            # Without shards a block is several files.
            more = {"chunk_key_encoding": {"name": "v2", "separator": "/"}}
        else:
            group = zarr.create_group(path, zarr_format=3)
            attributes = {"ome": {"version": "0.5", "multiscales": [scale]}}
            more = {"shards": self.shard, "dimension_names": list(source.axes)}
        group.attrs.update({"ndconv": self._describe(), **attributes})
        group.create_array("0", shape=source.shape, dtype=self.dtype,
                           chunks=source.chunks, compressors=codec, **more)

    def do(self, index: int, block: Block) -> Done:
        """One task, in a worker. The marker comes last."""
        # Not with parents: a worker that was taken for dead may come here when
        # the output is complete.
        unfinished = self._part / "unfinished"
        with writing(self.output):
            unfinished.mkdir(exist_ok=True)
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{index}.",
                                                   dir=unfinished))
        n_threads = self.settings.get("n_threads") or count_cores()
        try:
            with BlockWriter(self._layout, block.target, folder,
                             n_threads) as writer:
                for outputs in self._filter(block):
                    with writing(self.output):
                        writer.write(outputs)
                with writing(self.output):
                    writer.publish(self._part / "store" / "0")
                    (self._part / "done" / str(index)).touch()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        read = math.prod(part.stop - part.start if part.stop is not None else n
                         for part, n in zip(block.source, self.source.shape))
        return Done(writer.samples, read * self.source.dtype.itemsize,
                    writer.samples * numpy.dtype(self.dtype).itemsize, 0.0)

    @property
    def _layout(self) -> Layout:
        return Layout(self.source.shape, self.source.chunks, self.shard,
                      numpy.dtype(self.dtype), self.compression,
                      2 if self.version == "0.4" else 3)

    def _filter(self, block: Block) -> Iterable[numpy.ndarray]:
        """The outputs of @block, one after the other along the first axis."""
        source, settings = self.source, self.settings
        if not is_streamed(source.axes, settings):
            return convolve(source.read(block.source), self.filter,
                            axes=source.axes, **settings)[block.inner]
        # Volume by volume, without the outputs of the halo in time.
        sizes = [len(range(*part.indices(n)))
                 for part, n in zip(block.source, source.shape)]
        stream = Stream(self.filter, sizes[1:], source.dtype, axes=source.axes,
                        **settings)
        inner = block.inner[0]
        found = stream.filter(source.read_volumes(block.source), inner.start,
                              inner.stop)
        return (output[block.inner[1:]] for output in found)

    def finish(self) -> None:
        """Gives the complete output its name."""
        if not self._part.exists():
            return
        # It is there if an earlier run was killed below.
        if not os.path.exists(self.output):
            os.rename(self._part / "store", self.output)
        shutil.rmtree(self._part)


def is_streamed(axes: str, settings: dict[str, Any]) -> bool:
    """Whether blocks are filtered volume by volume. With the time border "wrap"
    the first output needs the last volume."""
    return axes.startswith("t") and settings.get("time_border") != "wrap"


def find_shard(source: Source, block: Sequence[int] | None,
               settings: dict[str, Any]) -> tuple[int, ...]:
    """The wanted block in whole chunks."""
    most = (STREAMED_SAMPLES if is_streamed(source.axes, settings) else
            BLOCK_SAMPLES)
    size = list(source.shape)
    if block is not None:
        if len(block) != len(size) or min(block) < 1:
            raise lib.SettingsError(
                f"block is {tuple(block)}; it must have {len(size)} numbers of "
                "1 or more")
        size = [min(n, b) for n, b in zip(size, block)]
    while block is None and math.prod(size) > most:
        # The slowest axis that can still be halved.
        able = [i for i, (n, c) in enumerate(zip(size, source.chunks))
                if n > c and source.axes[i] != "c"]
        if not able:
            break
        size[able[0]] = -(-size[able[0]] // 2)
    # A block has all components.
    return tuple(-(-(n if a != "c" else whole) // c) * c for a, n, whole, c in
                 zip(source.axes, size, source.shape, source.chunks))
