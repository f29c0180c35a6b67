"""Jobs from one recording to another of the same format. A task is a whole
recording, a volume at a time, because its parts cannot be written by several.

The folder .ndconv beside the outputs has unfinished files and, for each output,
a description of the run that made it.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from typing import Any, Iterator, NamedTuple

import numpy

from . import _library as lib
from ._blocks import Block
from ._files import make_own_folder, sync, sync_folder, write_whole
from ._jobs import (Done, Task, count_volume, describe, refuse_other,
                    writing)
from ._made import (describe_files, describe_input, find_damaged,
                    read_record)
from ._pieces import (Work, filter_block, filter_stream, find_piece,
                      fits_as_stream)
from ._recordings import Recording, RecordingWriter
from ._sources import RecordingSource
from ._types import Saturation


# Extensions of formats that are written.
COMPRESSIBLE = (".nrrd", ".nhdr", ".mha", ".mhd")
EXTENSIONS = (".nii.gz", ".nii", ".npy", ".tif", ".tiff") + COMPRESSIBLE


class FileJob(NamedTuple):
    """One input and its output."""
    source: RecordingSource
    output: str
    filter: Any
    settings: dict[str, Any]
    dtype: str
    verify: bool = False    # whether outputs of earlier runs are read

    @property
    def volume(self) -> int:
        """The samples of a volume."""
        return count_volume(self.source)

    @property
    def _folder(self) -> pathlib.Path:
        return pathlib.Path(self.output).parent / ".ndconv"

    @property
    def _description(self) -> pathlib.Path:
        return self._folder / (pathlib.Path(self.output).name + ".json")

    def tasks(self) -> list[Task]:
        """The only one."""
        return [Task(self, 0, None)]

    def missing(self, tasks: list[Task]) -> list[Task]:
        """@tasks, unless an earlier run did them and its files are whole."""
        if not os.path.exists(self.output):
            return tasks
        made = read_record(self._description)[1]
        damaged = made and find_damaged(pathlib.Path(self.output).parent,
                                        made["files"], self.verify)
        return tasks if damaged else []

    def reopen(self) -> None:
        """A damaged output keeps its name until the new one is complete."""

    def has_changed(self) -> bool:
        """Whether the input is not as it was when the output was made."""
        made = read_record(self._description)[1]
        return bool(made and os.path.exists(self.output)
                    and made.get("input") != describe_input(self.source.path))

    def _describe(self) -> dict[str, Any]:
        return describe(self.source, self.filter, self.dtype, self.settings)

    def begin(self) -> None:
        """Refuses an output that was made in another way."""
        if not self.source.raw and not self.output.endswith(EXTENSIONS):
            raise lib.SettingsError(
                f"{self.output} has none of the extensions "
                f"{', '.join(EXTENSIONS)}, which name the format to write")
        if os.path.exists(self.output):
            refuse_other(self._read_description(), self._describe(),
                         self.output)

    def _read_description(self) -> Any:
        return read_record(self._description)[0]

    def _filter(self, recording: Recording,
                count: Saturation) -> Iterator[numpy.ndarray]:
        """The outputs of all volumes, with the shape of the volumes."""
        axes, shape = self.source.axes, recording.shape[1:]
        inner = tuple(n for n, axis in zip(shape, "zyxc") if axis in axes)
        volumes = (volume.reshape(inner) for volume in recording)
        work = Work(self.filter, axes, self.settings, recording.dtype,
                    numpy.dtype(self.dtype))
        sizes = (len(recording), *inner) if "t" in axes else inner
        everything = [slice(0, n) for n in sizes]
        # A volume may be in use while the next one is read.
        held = work.count_bytes((2, *inner), (1, *inner))
        if fits_as_stream(work, sizes, sizes, held):
            stream = work.make_stream(inner)
            outputs: Any = filter_stream(work, stream, stream.filter(volumes),
                                         (), count)
            return (output.reshape(shape) for output in outputs)
        piece = find_piece(work, sizes, sizes)  # before samples are in memory
        if "t" in axes:
            outputs = filter_block(
                work, self.source.read(tuple(everything)), everything, piece,
                count)
        else:
            outputs = (filter_block(work, volume, everything, piece, count)
                       for volume in volumes)
        return (output.reshape(shape) for output in outputs)

    def do(self, _index: int, _block: Block | None) -> Done:
        """The task, in a worker."""
        unfinished = self._folder / "unfinished"
        name = pathlib.Path(self.output).name
        # A file of coefficients may change meanwhile.
        description = self._describe()
        source = describe_input(self.source.path)
        with writing(self.output):
            make_own_folder(self._folder)
            make_own_folder(unfinished)
            folder = pathlib.Path(tempfile.mkdtemp(prefix=name + ".",
                                                   dir=unfinished))
        samples = read = written = 0
        count = Saturation()
        try:
            with self.source.open() as recording, RecordingWriter(
                    folder / name, recording.shape[1:], self.dtype,
                    volumes=self.source.volumes, like=recording,
                    compress=self.source.compressed
                    and name.endswith(COMPRESSIBLE)) as writer:
                for output in self._filter(recording, count):
                    writer.write(output)
                    samples += output.size
                    written += output.nbytes
                    read += output.size * recording.dtype.itemsize
            with writing(self.output):
                self._publish(folder, name, description, source)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return Done(samples, read, written, 0.0, count.saturated,
                    count.samples)

    def _publish(self, folder: pathlib.Path, name: str,
                 description: dict[str, Any], source: Any) -> None:
        """Moves the files to the output, the header last, which is the marker
        that the task is done."""
        target = pathlib.Path(self.output).parent
        names = sorted(os.listdir(folder), key=lambda found: found == name)
        if self._read_description() is None:
            for found in names:
                if (target / found).exists():
                    raise lib.FileError(f"{target / found} exists and was not "
                                        "made by this function: remove it")
        for found in names:
            sync(folder / found)
        made = {"files": describe_files(folder, names), "input": source}
        write_whole(self._description,
                    json.dumps({**description, "made": made}), folder)
        for found in names:
            os.replace(folder / found, target / found)
        sync_folder(target)

    def finish(self) -> None:
        """Removes the unfinished files of killed workers."""
        unfinished = self._folder / "unfinished"
        name = pathlib.Path(self.output).name
        try:
            left = os.listdir(unfinished)
        except FileNotFoundError:
            return
        for found in left:
            # Not those of heart.nii.gz if this is heart.nii.
            if found.rpartition(".")[0] == name:
                shutil.rmtree(unfinished / found, ignore_errors=True)
