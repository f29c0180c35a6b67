"""The tasks of a run: which are done, tried again, or failed.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import collections
import os
import time
from typing import Any, Callable, NamedTuple, Sequence

from . import _library as lib
from ._blocks import Block
from ._jobs import Done, Task
from ._printable import printable
from ._types import Saturation


class Failure(NamedTuple):
    """A block, or a whole input (`block` is None), that could not be done."""
    input: str
    block: Block | None
    message: str


class Report(NamedTuple):
    """The report of `run`."""
    outputs: list[str]       # that are complete
    finished: int            # tasks of this run
    skipped: int             # tasks of earlier runs
    retried: int             # tasks whose worker died or that failed at first
    failed: list[Failure]
    seconds: float
    samples: int             # outputs of this run
    volumes: float           # the same in volumes
    read: int                # bytes of samples, with halos
    written: int
    slowest: tuple[str, float] | None    # input and seconds of one task
    notes: Sequence[str] = ()   # changed inputs, damaged outputs
    saturated: float = 0.0  # share of outputs that do not fit in their type

    def __str__(self) -> str:
        seconds = max(self.seconds, 1e-9)
        lines = [f"{len(self.outputs)} outputs, {self.finished} tasks in "
                 f"{self.seconds:.1f} s, {self.skipped} were done before, "
                 f"{self.retried} tried again, {len(self.failed)} failed"]
        if self.finished:
            lines.append(
                f"{self.volumes / seconds:.4g} volumes/s, "
                f"{self.samples / seconds / 1e6:.4g} million samples/s, "
                f"{self.read / 1e6:.4g} MB read, "
                f"{self.written / 1e6:.4g} MB written")
        if self.slowest:
            lines.append(f"slowest task: {self.slowest[1]:.3g} s of "
                         f"{self.slowest[0]}")
        if self.saturated:
            lines.append(f"{100 * self.saturated:.2g} % of the outputs do not "
                         "fit in their type and are saturated: use "
                         "output_type=float32 or int16, or gain and offset")
        lines += self.notes
        lines += [f"{f.input}{'' if f.block is None else f' {_box(f.block)}'}: "
                  f"{f.message}" for f in self.failed]
        return "\n".join(map(printable, lines))


def _box(block: Block) -> str:
    return "[" + ", ".join("all" if part.stop is None
                           else f"{part.start}:{part.stop}"
                           for part in block.target) + "]"


class Ledger:
    """The state of all tasks, from the messages of the runners."""

    def __init__(self, retries: int,
                 progress: Callable[[int, int], Any] | None,
                 finishes: bool = True):
        # Whether it finishes outputs of which all tasks are done.
        self._finishes = finishes
        self._retries = retries
        self._progress = progress
        self._begin = time.perf_counter()
        self._attempts: collections.Counter = collections.Counter()
        self._left: collections.Counter = collections.Counter()
        self._volumes = 0.0
        self._slowest: tuple[str, float] | None = None
        self.tasks: list[Task] = []
        self.counts: dict[str, int] = {}     # of tasks, by output
        self.outputs: list[str] = []
        self.failed: list[Failure] = []
        self.notes: list[str] = []
        self.finished = self.skipped = self.retried = 0
        self._samples = self._read = self._written = 0
        self._count = Saturation()

    def add(self, job: Any) -> None:
        """Takes the tasks of @job that are not done."""
        tasks = job.tasks()
        existed = os.path.exists(job.output)
        if job.has_changed():
            self.notes.append(
                f"{job.source.path} has changed since {job.output} was begun: "
                "remove the output to filter it again")
        job.reopen()
        job.begin()
        missing = job.missing(tasks)
        if existed and missing:
            self.notes.append(
                f"{job.output} is not as it was written: {len(missing)} of "
                f"{len(tasks)} tasks are done again")
        self.take(job, tasks, missing)

    def take(self, job: Any, tasks: list[Task], missing: list[Task]) -> None:
        """Takes @missing, which are those of @tasks that are not done."""
        self.skipped += len(tasks) - len(missing)
        self.tasks += missing
        self._left[job.output] = len(missing)
        self.counts[job.output] = len(tasks)
        if not missing:
            self._finish(job)

    def refuse(self, path: str, error: Exception) -> None:
        """An input of which nothing can be done."""
        self.failed.append(Failure(path, None, str(error)))

    def refuse_task(self, task: Task, message: str) -> None:
        """A task that cannot be done."""
        self.failed.append(Failure(task.job.source.path, task.block, message))

    def _finish(self, job: Any) -> None:
        if not self._finishes:
            return
        try:
            job.finish()
        except OSError as error:
            self.refuse(job.source.path, error)
        else:
            self.outputs.append(job.output)

    def done(self, task: Task, done: Done) -> None:
        """A worker did @task."""
        self.finished += 1
        self._samples += done.samples
        self._volumes += done.samples / task.job.volume
        self._read += done.read
        self._written += done.written
        self._count.add(done.saturated, done.computed)
        if not self._slowest or done.seconds > self._slowest[1]:
            self._slowest = (task.job.source.path, done.seconds)
        self._left[task.job.output] -= 1
        if not self._left[task.job.output]:
            self._finish(task.job)
        if self._progress:
            self._progress(self.finished, len(self.tasks))

    def fail(self, task: Task, message: str) -> bool:
        """A worker failed or died. Whether to try @task again."""
        key = (task.job.output, task.index)
        self._attempts[key] += 1
        if self._attempts[key] > self._retries:
            self.refuse_task(task, message)
            return False
        self.retried += 1
        return True

    def report(self) -> Report:
        """The report of the work until now."""
        return Report(self.outputs, self.finished, self.skipped, self.retried,
                      self.failed, time.perf_counter() - self._begin,
                      self._samples, self._volumes, self._read, self._written,
                      self._slowest, list(self.notes),
                      self._count.saturated / max(self._count.samples, 1))


def check_counts(workers: int, retries: int) -> None:
    """Refuses numbers that make no run."""
    if workers < 1 or retries < 0:
        raise lib.SettingsError("workers must be 1 or more, retries 0 or more")
