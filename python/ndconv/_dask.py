"""Workers of Dask that do the tasks of a run. A task is one block, and the
scheduler sees only numbers: samples go from the store to a worker and back.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import collections
import contextlib
import importlib.util
import logging
import pickle
from typing import Any, Callable, Iterator

from . import _library as lib
from ._jobs import SAFE_PATH, Done, prepare_memory, safe_path
from ._ledger import Ledger

_log = logging.getLogger("ndconv")


def load_distributed() -> Any:
    """The package distributed, which only this runner needs."""
    try:
        import distributed  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("runner='dask' needs the package distributed: pip "
                          "install 'ndconv[dask]'") from error
    return distributed


def _do(task: bytes, per_host: int) -> Done | str:
    """One task, in a worker of which the host computes @per_host at a time, or
    the text of its error."""
    cores = lib.nd_count_cores()
    prepare_memory()
    try:
        return pickle.loads(task).do(max(1, cores // per_host))
    except Exception as error:  # Dask would print it with its traceback
        return str(error) or type(error).__name__


def _find_per_host(client: Any) -> int:
    """The most tasks that a host computes at the same time."""
    threads: collections.Counter = collections.Counter()
    for address, n in client.nthreads().items():
        threads[address.rpartition(":")[0]] += n
    return max(threads.values(), default=1)


class Dask:
    """The workers that @client knows."""

    def __init__(self, ledger: Ledger, client: Any):
        self._ledger = ledger
        self._client = client
        self._running: dict[Any, int] = {}   # numbers of tasks

    def _submit(self, number: int, per_host: int) -> Any:
        # Bytes, so that Dask does not look for tasks of its own in a tuple.
        task = pickle.dumps(self._ledger.tasks[number])
        future = self._client.submit(_do, task, per_host, pure=False)
        self._running[future] = number
        return future

    def run(self) -> None:
        """Returns when all tasks are done or have failed."""
        if not self._ledger.tasks:
            return
        distributed = load_distributed()
        self._client.wait_for_workers(1)
        per_host = _find_per_host(self._client)
        futures = [self._submit(i, per_host)
                   for i in range(len(self._ledger.tasks))]
        waiting = distributed.as_completed(futures)
        del futures     # so that each is released when it is done
        try:
            for future in waiting:
                number = self._running.pop(future)
                task = self._ledger.tasks[number]
                answer = _take(future)
                # A worker that dies now must not make Dask do it again.
                future.release()
                if not isinstance(answer, str):
                    self._ledger.done(task, Done(*answer))
                elif self._ledger.fail(task, answer):
                    waiting.add(self._submit(number,
                                             _find_per_host(self._client)))
        finally:
            self._client.cancel(list(self._running))


def _take(future: Any) -> Any:
    """The result of a task, or the text of its error."""
    try:
        return future.result()
    except Exception as error:  # its workers died, or the cluster ended
        if type(error).__name__ == "KilledWorker":
            return "its workers died"
        return str(error) or type(error).__name__


@contextlib.contextmanager
def use_client(client: Any) -> Iterator[Any]:
    """@client, which stays open."""
    if not hasattr(client, "submit"):
        raise lib.SettingsError(
            "client must be a distributed.Client, for example "
            "distributed.Client('tcp://HOST:8786')")
    yield client


# The dashboard needs Bokeh.
_DASHBOARD = ("127.0.0.1:8787" if importlib.util.find_spec("bokeh") else None)


@contextlib.contextmanager
def _connect(make_cluster: Callable[[], Any]) -> Iterator[Any]:
    # Workers that die are replaced: as long as the cluster is there.
    with safe_path(), make_cluster() as cluster, \
            load_distributed().Client(cluster) as client:
        if _DASHBOARD:
            _log.info("dashboard: %s", client.dashboard_link)
        yield client


def start_local(workers: int) -> Any:
    """Processes of this machine."""
    return _connect(lambda: load_distributed().LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True,
        dashboard_address=_DASHBOARD))


def start_slurm(workers: int, n_threads: int, options: dict[str, Any]) -> Any:
    """Jobs of Slurm; those that die are replaced."""
    try:
        import dask_jobqueue  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("runner='slurm' needs the package dask-jobqueue: pip "
                          "install 'ndconv[slurm]'") from error
    if "memory" not in options:
        raise lib.SettingsError("slurm needs the memory of a worker, as "
                                "{'memory': '8GB'}")
    more = {"dashboard_address": _DASHBOARD, **options.get("scheduler_options",
                                                           {})}
    # One task at a time, which uses all cores of the job.
    # Its jobs run python -m in the folder from which they are submitted.
    prologue = [f"export {SAFE_PATH}=1",
                *options.get("job_script_prologue", [])]

    def make_cluster() -> Any:
        cluster = dask_jobqueue.SLURMCluster(**{
            "cores": 1, "processes": 1, "job_cpu": n_threads, **options,
            "scheduler_options": more, "job_script_prologue": prologue})
        cluster.adapt(minimum_jobs=workers, maximum_jobs=workers)
        return cluster
    return _connect(make_cluster)
