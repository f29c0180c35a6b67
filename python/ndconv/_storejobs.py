"""Jobs of which the output is OME-Zarr. A task is one block and writes one shard
of whole chunks, so that no two tasks write into one file.

While a run goes on, OUTPUT.part has the store, a description of the run, a
marker for each finished task, and files that are being written; the store gets
its final name last.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import functools
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
from ._files import (is_own_folder, make_own_folder, read_own,
                     sync_folder, write_whole)
from ._filters import is_in_file, prepare
from ._jobs import (Done, Task, count_cores, count_volume, describe,
                    refuse_other, release_memory, writing)
from ._made import (describe_files, describe_input, find_damaged,
                    is_record, read_record)
from ._pieces import (Work, filter_block, filter_stream, find_piece,
                      fits_as_stream, is_streamed)
from ._sources import Source, axis_type, load_zarr
from ._types import Saturation

# Outputs of a block, unless the caller says how many: of those that are computed
# and written volume by volume, and of those that are in memory.
STREAMED_SAMPLES = 1 << 25
BLOCK_SAMPLES = 1 << 23
# Memory that reading a larger block took is given back: it is in pieces that are
# too small for the block's outputs.
TRIMMED_BYTES = 4 << 20


@functools.lru_cache(maxsize=16)
def _make_array(version: str, shape: tuple[int, ...], chunks: tuple[int, ...],
                shard: tuple[int, ...], axes: str, dtype: str,
                compression: str) -> dict[str, bytes]:
    """The files of the metadata of an array. Thousands of equal ones are common,
    and zarr needs a millisecond for each."""
    zarr = load_zarr()
    files: dict[str, Any] = {}
    is_old = version == "0.4"
    # Without shards a block is several files.
    more: dict[str, Any] = (
        {"chunk_key_encoding": {"name": "v2", "separator": "/"}} if is_old else
        {"shards": shard, "dimension_names": list(axes)})
    zarr.create_array(zarr.storage.MemoryStore(files), shape=shape, dtype=dtype,
                      chunks=chunks, compressors=CODECS[compression][is_old],
                      zarr_format=2 if is_old else 3, **more)
    return {name: data.to_bytes() for name, data in files.items()}


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
    verify: bool = False    # whether outputs of earlier runs are read

    @property
    def volume(self) -> int:
        """The samples of a volume."""
        return count_volume(self.source)

    @property
    def _part(self) -> pathlib.Path:
        """The output until it is complete."""
        return pathlib.Path(self.output + ".part")

    @property
    def _record(self) -> pathlib.Path:
        """What the complete output was made of."""
        output = pathlib.Path(self.output)
        return output.parent / ".ndconv" / (output.name + ".json")

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
        done = self._read_done()
        return [task for task in tasks if task.index not in done]

    def _read_done(self) -> dict[int, Any]:
        """The files of each task that is done and whose files are whole."""
        found = {}
        try:
            names = os.listdir(self._part / "done")
        except FileNotFoundError:
            return {}
        for name in names:
            try:
                text = read_own(self._part / "done" / name)
                # Versions before 0.9 made empty markers.
                made = {"files": json.loads(text) if text else {}}
            except (OSError, ValueError):
                continue
            if is_record(made) and not find_damaged(
                    self._part / "store", made["files"], self.verify):
                found[int(name)] = made["files"]
        return found

    def reopen(self) -> None:
        """Makes a complete output whose files are damaged one that is not
        complete."""
        description, made = read_record(self._record)
        if (not made or not os.path.exists(self.output) or self._part.exists()
                or not isinstance(made.get("tasks"), dict)):
            return
        refuse_other(description, self._describe(), self.output)
        damaged = set(find_damaged(pathlib.Path(self.output), made["files"],
                                   self.verify))
        if not damaged:
            return
        with writing(self.output):
            done = self._part / "done"
            make_own_folder(self._part)
            done.mkdir()
            for index, names in made["tasks"].items():
                if not damaged.intersection(names):
                    (done / str(int(index))).write_text(json.dumps(
                        {name: made["files"][name] for name in names}), "utf-8")
            write_whole(self._part / "run.json", json.dumps(
                {**description, "made": {"files": {},
                                         "input": made.get("input")}}))
            os.rename(self.output, self._part / "store")

    def has_changed(self) -> bool:
        """Whether the input is not as it was when the output was begun."""
        made = read_record(self._record if os.path.exists(self.output) else
                           self._part / "run.json")[1]
        return bool(made and made.get("input") is not None and
                    made["input"] != describe_input(self.source.path))

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
        with writing(self.output):
            if not is_own_folder(self._part) or not description.exists():
                self._make_part(description)
                return
        refuse_other(read_record(description)[0], self._describe(), self._part)

    def _make_part(self, description: pathlib.Path) -> None:
        if self._part.exists():     # was killed before the description
            if any(name not in ("done", "store") and not name.endswith(".new")
                   for name in os.listdir(self._part)):
                refuse_other(None, self._describe(), self._part)
            shutil.rmtree(self._part)
        make_own_folder(self._part)
        (self._part / "done").mkdir()
        self._create()
        write_whole(description, json.dumps({**self._describe(), "made": {
            "files": {}, "input": describe_input(self.source.path)}}))

    def _create(self) -> None:
        source = self.source
        old = source.multiscale or {
            "axes": [{"name": axis, "type": axis_type(axis)}
                     for axis in source.axes],
            "datasets": [{}]}
        transformations = old["datasets"][0].get(
            "coordinateTransformations",
            [{"type": "scale", "scale": [1.0] * len(source.axes)}])
        scale = {"axes": old["axes"], "datasets": [
            {"path": "0", "coordinateTransformations": transformations}]}
        # Those of all resolutions.
        if "coordinateTransformations" in old:
            scale["coordinateTransformations"] = (
                old["coordinateTransformations"])
        own: dict[str, Any] = {"ndconv": self._describe()}
        folder = self._part / "store"
        (folder / "0").mkdir(parents=True)
        if self.version == "0.4":
            own["multiscales"] = [{"version": "0.4", **scale}]
            (folder / ".zgroup").write_text('{"zarr_format": 2}', "utf-8")
            (folder / ".zattrs").write_text(json.dumps(own), "utf-8")
        else:
            own["ome"] = {"version": "0.5", "multiscales": [scale]}
            (folder / "zarr.json").write_text(json.dumps(
                {"zarr_format": 3, "node_type": "group", "attributes": own}),
                "utf-8")
        for name, content in _make_array(
                self.version, source.shape, source.chunks, self.shard,
                source.axes, self.dtype, self.compression).items():
            (folder / "0" / name).write_bytes(content)

    def do(self, index: int, block: Block) -> Done:
        """One task, in a worker. The marker comes last."""
        if is_in_file(self.filter):     # which may have changed
            refuse_other(read_record(self._part / "run.json")[0],
                         self._describe(), self._part)
        # Not with parents: a worker that was taken for dead may come here when
        # the output is complete.
        unfinished = self._part / "unfinished"
        with writing(self.output):
            is_own_folder(self._part)
            unfinished.mkdir(exist_ok=True)
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{index}.",
                                                   dir=unfinished))
        n_threads = self.settings.get("n_threads") or count_cores()
        count = Saturation()
        try:
            with BlockWriter(self._layout, block.target, folder,
                             n_threads) as writer:
                for outputs in self._filter(block, count):
                    with writing(self.output):
                        writer.write(outputs)
                with writing(self.output):
                    store = self._part / "store"
                    files = writer.publish(store / "0")
                    write_whole(self._part / "done" / str(index), json.dumps(
                        describe_files(store, [str(file.relative_to(store))
                                               for file in files])), folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        read = math.prod(part.stop - part.start if part.stop is not None else n
                         for part, n in zip(block.source, self.source.shape))
        return Done(writer.samples, read * self.source.dtype.itemsize,
                    writer.samples * numpy.dtype(self.dtype).itemsize, 0.0,
                    count.saturated, count.samples)

    @property
    def _layout(self) -> Layout:
        return Layout(self.source.shape, self.source.chunks, self.shard,
                      numpy.dtype(self.dtype), self.compression,
                      2 if self.version == "0.4" else 3)

    @property
    def _work(self) -> Work:
        return Work(self.filter, self.source.axes, self.settings,
                    self.source.dtype, numpy.dtype(self.dtype))

    def _filter(self, block: Block,
                count: Saturation) -> Iterable[numpy.ndarray]:
        """The outputs of @block, one part after the other along the first
        axis."""
        source, work = self.source, self._work
        sizes, target = (
            [len(range(*part.indices(n))) for part, n in zip(box, source.shape)]
            for box in (block.source, block.target))
        inner = tuple(slice(part.start or 0, (part.start or 0) + n)
                      for part, n in zip(block.inner, target))
        # A volume may be in use while the next chunk is read, or compressed
        # while outputs of the next one are computed.
        held = work.count_bytes((2 * source.volumes_read, *sizes[1:]),
                                (2 * source.chunks[0], *target[1:]))
        if not fits_as_stream(work, sizes, target, held):
            # Before the block is in memory.
            piece = find_piece(work, sizes, target)
            samples = source.read(block.source)
            if samples.nbytes > TRIMMED_BYTES:
                release_memory()
            outputs = filter_block(work, samples, inner, piece, count)
            del samples     # before outputs are compressed
            yield outputs
            return
        # Without the outputs of the halo in time.
        stream = work.make_stream(sizes[1:])
        found = stream.filter(source.read_volumes(block.source),
                              inner[0].start, inner[0].stop)
        for output in filter_stream(work, stream, found, inner[1:], count):
            yield output[None]

    def finish(self) -> None:
        """Gives the complete output its name."""
        if not self._part.exists():
            return
        # It is there if an earlier run was killed below.
        if not os.path.exists(self.output):
            self._keep_record()
            os.rename(self._part / "store", self.output)
            sync_folder(pathlib.Path(self.output).parent)
        shutil.rmtree(self._part)


    def _keep_record(self) -> None:
        done = self._read_done()
        description, made = read_record(self._part / "run.json")
        files = {name: entry for found in done.values()
                 for name, entry in found.items()}
        make_own_folder(self._record.parent)
        write_whole(self._record, json.dumps({**(description or {}), "made": {
            "files": files, "input": made and made.get("input"),
            "tasks": {index: list(found) for index, found in done.items()}}}),
                    self._part)


def _find_reach(source: Source, filter_: Any,
                settings: dict[str, Any]) -> list[int]:
    """The samples that a block reads beyond its outputs, along each axis."""
    prepared = prepare(filter_, source.axes.replace("c", ""), settings)
    shapes = [prepared.coefficients(i).shape for i in range(prepared.count)]
    reach = iter([max(sizes) - 1 for sizes in zip(*shapes)])
    return [0 if axis == "c" else next(reach) for axis in source.axes]


def find_shard(source: Source, filter_: Any, block: Sequence[int] | None,
               settings: dict[str, Any]) -> tuple[int, ...]:
    """The wanted block in whole chunks. Unless the caller names one, axes along
    which a block is much longer than the reach of the filter are cut first."""
    most = (STREAMED_SAMPLES if is_streamed(source.axes, settings) else
            BLOCK_SAMPLES)
    if settings.get("precision") == "double":
        most //= 2
    size = list(source.shape)
    if block is not None:
        if (len(block) != len(size)
                or not all(isinstance(n, (int, numpy.integer)) and n > 0
                           for n in block)):
            raise lib.SettingsError(
                f"block is {block!r}; it must have {len(size)} integers of 1 or "
                "more")
        size = [min(n, b) for n, b in zip(size, block)]
    reach = [0] * len(size) if block is not None else _find_reach(
        source, filter_, settings)
    while block is None and math.prod(size) > most:
        able = [i for i, (n, c) in enumerate(zip(size, source.chunks))
                if n > c and source.axes[i] != "c"]
        if not able:
            break
        # The slowest one that remains long, otherwise the longest.
        long = [i for i in able if size[i] >= 4 * reach[i]]
        at = long[0] if long else max(able,
                                      key=lambda i: size[i] / (reach[i] + 1))
        size[at] = -(-size[at] // 2)
    # A block has all components.
    return tuple(-(-(n if a != "c" else whole) // c) * c for a, n, whole, c in
                 zip(source.axes, size, source.shape, source.chunks))
