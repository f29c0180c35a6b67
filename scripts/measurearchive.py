"""Runs over an archive, compared with the prediction of simulate-archive from
the times of single tasks: scripts/simulate-archive --measure.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import contextlib
import hashlib
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

import numpy

import ndconv
from ndconv import _archive, _ledger, _planning

SAMPLED_BLOCKS = 5


def make_archive(path, options):
    import zarr  # pylint: disable=import-outside-toplevel
    shape = (options.volumes,) + (options.size,) * 3
    if path.exists():
        return
    array = zarr.create_array(str(path), shape=shape, dtype="float32",
                              chunks=(1,) + shape[1:])
    source = numpy.random.default_rng(1)
    for t in range(options.volumes):
        array[t] = source.random(shape[1:], "float32")


def find_children():
    """The processes that this one started, and theirs."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            text = (folder / "stat").read_text()
            parents[int(folder.name)] = int(text.rsplit(")", 1)[1].split()[1])
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found}
        if more <= found:
            return found - {os.getpid()}
        found |= more


def read_memory(pid):
    """Bytes of a process that it shares with no other: now, without files."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().split("\n"):
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
    return 0


class Watch(threading.Thread):
    """Samples the memory of the workers, and kills one now and then."""

    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.seconds = seconds      # between kills, on average
        self.memory = {}
        self.killed = 0
        self.ended = threading.Event()

    def run(self):
        source = random.Random(1)
        next_kill = time.monotonic() + self.seconds
        while not self.ended.wait(0.1):
            # Those that compute, not the helpers of multiprocessing or Dask.
            now = {pid: read_memory(pid) for pid in find_children()}
            for pid, n in now.items():
                self.memory.setdefault(pid, []).append(n)
            if now and time.monotonic() >= next_kill:
                with contextlib.suppress(OSError):
                    os.kill(max(now, key=now.get), signal.SIGKILL)
                    self.killed += 1
                next_kill += source.expovariate(1 / self.seconds)

    def above_idle(self, idle):
        return max((max(found) for found in self.memory.values()),
                   default=0) - idle


def measure_idle():
    """Start of a worker: its seconds, and its memory before the first task."""
    code = ("import ndconv, zarr, numcodecs, numpy; "
            "print(open('/proc/self/status').read())")
    begin = time.perf_counter()
    text = subprocess.run([sys.executable, "-c", code], check=True,
                          capture_output=True, text=True).stdout
    seconds = time.perf_counter() - begin
    line = next(l for l in text.split("\n") if l.startswith("RssAnon"))
    return seconds, int(line.split()[1]) * 1024


def read_cpu():
    """User and system CPU seconds of the workers that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def hash_store(path):
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name != "zarr.json":
            total.update(str(file.relative_to(path)).encode())
            total.update(file.read_bytes())
    return total.hexdigest()


def sample_tasks(options, source, target, w, settings):
    """Seconds of planning, and of one task on one thread."""
    begin = time.perf_counter()
    ledger = _ledger.Ledger(0, None)
    _archive.plan(ledger, _planning.Options(w, settings, block=(
        options.block,) + (options.size,) * 3), [(str(source), str(target))])
    planned = time.perf_counter() - begin
    tasks = ledger.tasks[1:-1] or ledger.tasks
    tasks[0].do(1)      # designs and plans
    seconds = [task.do(1).seconds for task in tasks[:SAMPLED_BLOCKS]]
    shutil.rmtree(str(target) + ".part")
    return planned, statistics.median(seconds), len(ledger.tasks)


def measure(options, workers, simulate):
    folder = pathlib.Path(options.measure)
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / "in.zarr", folder / "out.zarr"
    make_archive(source, options)
    w = numpy.random.default_rng(2).random((5,) * 4, "float32")
    settings = {"n_threads": 1, "method": "fft"}
    options.plan, options.compute, options.tasks = sample_tasks(
        options, source, folder / "sample.zarr", w, settings)
    options.start, idle = measure_idle()
    # A store on this machine costs the time of cores.
    options.read = options.write = 0
    options.cores = len(os.sched_getaffinity(0))
    print(f"{options.tasks} tasks of {options.compute:.3f} s, plan "
          f"{options.plan:.2f} s, start {options.start:.2f} s, idle "
          f"{idle / 1e6:.0f} MB, {options.cores} cores")
    print("workers  predicted   measured  ratio  user + sys  above idle  killed  "
          "tried again  equal")
    expected = None
    for n in workers:
        for path in (target, pathlib.Path(f"{target}.part")):
            shutil.rmtree(path, ignore_errors=True)
        watch = Watch(options.mtbf / n if options.mtbf < math.inf
                      else math.inf)
        before = read_cpu()
        watch.start()
        report = ndconv.run(
            source, target, filter=w, workers=n, runner=options.runner,
            block=(options.block,) + (options.size,) * 3, retries=100,
            **settings)
        watch.ended.set()
        watch.join()
        cpu = [now - then for now, then in zip(read_cpu(), before)]
        found = hash_store(target)
        expected = expected or found
        options.restart = options.start
        predicted = simulate(options, n, options.seed)[0]
        print(f"{n:7d} {predicted:10.1f} {report.seconds:10.1f} "
              f"{predicted / report.seconds:6.2f} "
              f"{cpu[0]:6.1f} + {cpu[1]:3.1f} "
              f"{watch.above_idle(idle) / 1e6:8.0f} MB {watch.killed:7d} "
              f"{report.retried:12d}  {found == expected}", flush=True)
        if report.failed:
            print(report)
    return 0
