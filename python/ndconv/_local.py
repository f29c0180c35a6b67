"""Processes of this machine that do the tasks of a run.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import collections
import glob
import multiprocessing
import multiprocessing.connection
import os
import signal
from typing import Any

from . import _library as lib
from ._jobs import Done, Task, count_cores, prepare_memory, safe_path
from ._ledger import Ledger

# Processes that may die one after the other before any has started.
MAX_DEATHS = 20
_NAME = "ndconv worker"
_UNGUARDED = 120    # exit status of a worker whose script calls run()
_GUARD = ("Processes die as they start: each imports the script. Put its call "
          "of run() under if __name__ == '__main__':")


def refuse_worker() -> None:
    """Ends a worker that calls run() while it imports the script. Its parent
    says why."""
    if multiprocessing.current_process().name.startswith(_NAME):
        raise SystemExit(_UNGUARDED)


def _choose_gpu(number: int) -> None:
    """Worker @number sees the GPUs in an order of its own, so that the first
    one, which it uses, differs from that of its neighbours. Before the first
    call of CUDA."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = (visible.split(",") if visible is not None else
            [str(i) for i in range(len(glob.glob("/dev/nvidia[0-9]*")))])
    if len(gpus) > 1:
        first = number % len(gpus)
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpus[first:]
                                                      + gpus[:first])


def _work(connection: Any, number: int) -> None:
    """The loop of a worker. It sends None when it is ready, then receives tasks
    and answers each with its result, or with the text of an error."""
    # Ctrl-C reaches all processes; the first one stops the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _choose_gpu(number)
    prepare_memory()
    connection.send(None)
    while True:
        try:
            task, n_threads = connection.recv()
        except EOFError:
            return
        try:
            answer: Any = task.do(n_threads)
        except Exception as error:  # every failure belongs to its task
            answer = str(error) or type(error).__name__
        connection.send(answer)


class Worker:
    """A process. It is spawned: a fork would share the threads and the GPU
    context of this one."""

    def __init__(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.number = number
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, number),
                                       name=f"{_NAME} {number}", daemon=True)
        with safe_path():
            self.process.start()
        other.close()       # so that the end of the process ends the pipe
        self.ready = False
        self.task: Task | None = None

    def stop(self) -> None:
        """An idle worker ends when its connection closes."""
        self.connection.close()
        if self.task or not self.ready:
            self.process.kill()
        self.process.join(10)
        self.process.kill()
        self.process.join()


class Local:
    """Processes that do tasks; those that die are replaced."""

    def __init__(self, ledger: Ledger, workers: int):
        self.ledger = ledger
        self.n_workers = min(workers, len(ledger.tasks))
        self.n_threads = max(1, count_cores() // max(1, self.n_workers))
        self.waiting = collections.deque(ledger.tasks)
        self.workers: list[Worker] = []
        self.never_ready = 0    # deaths without one that got ready

    def _again(self, task: Task, message: str) -> None:
        if self.ledger.fail(task, message):
            self.waiting.append(task)

    def _bury(self, worker: Worker) -> None:
        worker.stop()
        self.workers.remove(worker)
        if worker.task:
            self._again(worker.task, "its process died, with the exit status "
                        f"{worker.process.exitcode}")
        elif not worker.ready:
            self.never_ready += 1
        if (self.never_ready > MAX_DEATHS
                or worker.process.exitcode == _UNGUARDED):
            raise lib.BackendError(_GUARD) from None

    def _hear(self, worker: Worker) -> None:
        try:
            answer = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        task, worker.task = worker.task, None
        if task is None:
            worker.ready = True
            self.never_ready = 0
        elif isinstance(answer, str):
            self._again(task, answer)
        else:
            self.ledger.done(task, Done(*answer))

    def _give(self, worker: Worker) -> None:
        worker.task = self.waiting.popleft()
        try:
            worker.connection.send((worker.task, self.n_threads))
        except OSError:
            pass        # it died, which its connection tells

    def _start(self) -> None:
        taken = {worker.number for worker in self.workers}
        for number in range(self.n_workers):
            if number not in taken:
                self.workers.append(Worker(number))

    def run(self) -> None:
        """Returns when all tasks are done or have failed."""
        try:
            while self.waiting or any(worker.task for worker in self.workers):
                self._start()
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
