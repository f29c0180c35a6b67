#!/usr/bin/env python3
# Measures pipelines from source to sink: volumes per second, latency
# percentiles, and the rate of the bus. See scripts/bench --pipeline.
#
#   pipelines.py FOLDER [--backend cpu|cuda] [--work TEXT] [--list]
#
# FOLDER contains ndpipe and ndbus. Prints one JSON object per case on stdout
# and a table on stderr. Without --backend it measures both back ends, cuda only
# if ndbus finds a device.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import argparse
import collections
import json
import pathlib
import subprocess
import sys

VOLUMES = "other/tensors{},format=static,num_tensors=1,framerate=50/1"
DEVICE = VOLUMES.format("(memory:CUDAMemory)")
HOST = VOLUMES.format("")
NV12 = "video/x-raw,format=NV12,width=1920,height=1080,framerate=50/1"
U8_128 = ",types=uint8,dimensions=1:128:128:128"
U8_256 = ",types=uint8,dimensions=1:256:256:256"

# In elements, BACKEND stands for the back end and @1 for the filter of taps[0].
# Volumes are for the CPU and for CUDA; 0 skips the case. `crossings` is the
# number of times that an input's bytes cross the bus; 0 if none cross it.
Case = collections.namedtuple(
    "Case", "name elements taps caps sink volumes rate crossings")

FILTER = "{} backend=BACKEND filter=@{}"
CHAIN = [("ndconv2d", "9:9"), ("ndconv3d", "7:7:7"),
         ("ndconv4dtemporal", "11:11:11:11")]
CASES = [
    Case("4d-11-128-uint8", FILTER.format("ndconv4dtemporal", 1),
         ["11:11:11:11"], HOST + U8_128, None, (60, 8000), 0, 1),
    Case("4d-11-128-uint8-live", FILTER.format("ndconv4dtemporal", 1),
         ["11:11:11:11"], HOST + U8_128, None, (0, 500), 50, 1),
    Case("4d-3-64-uint8-live", FILTER.format("ndconv4dtemporal", 1),
         ["3:3:3:3"], HOST + ",types=uint8,dimensions=1:64:64:64", None,
         (300, 500), 50, 1),
    Case("3d-3-256-uint8", FILTER.format("ndconv3d", 1), ["3:3:3"],
         HOST + U8_256, None, (60, 4000), 0, 1),
    Case("2d-9-1080p-nv12", FILTER.format("ndconv2d", 1), ["9:9"], NV12, None,
         (200, 4000), 0, 1),
    Case("2d-9-1080p-nv12-cudaupload", "cudaupload ! "
         + FILTER.format("ndconv2d", 1) + " ! cudadownload", ["9:9"], NV12,
         "video/x-raw", (0, 4000), 0, 1),
    *(Case(f"device-{element}", FILTER.format(element, 1), [taps],
           DEVICE + U8_128, DEVICE, (0, 8000), 0, 0)
      for element, taps in CHAIN),
    Case("device-chain-of-three",
         " ! ".join(FILTER.format(e, i + 1)
                    for i, (e, _) in enumerate(CHAIN)),
         [taps for _, taps in CHAIN], DEVICE + U8_128, DEVICE, (0, 8000), 0,
         0),
]


def run_json(command):
    """Returns the JSON object that the command prints, or None."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def run_case(folder, case, backend):
    """Returns ndpipe's result, with the back end."""
    command = [folder / "ndpipe", "--work", case.name, "--caps", case.caps,
               "--elements", case.elements.replace("BACKEND", backend),
               "--volumes", str(case.volumes[backend == "cuda"])]
    for taps in case.taps:
        command += ["--taps", taps]
    if case.sink:
        command += ["--sink-caps", case.sink]
    if case.rate:
        command += ["--rate", str(case.rate)]
    result = run_json(command)
    if result:
        result["backend"] = backend
    return result


def add_bus(folder, case, result):
    """Returns the rate of the bus with both directions at once."""
    if result["backend"] == "cuda" and case.crossings:
        bus = run_json([folder / "ndbus", str(result["bytes"])])
        result["device"] = bus["device"]
        result["bus_volumes_per_s"] = bus["both_per_s"]


def table(results):
    """Formats rows as an aligned table."""
    rows = [("work", "back end", "volumes/s", "of the bus", "ms p50", "p99",
             "upload", "compute", "download", "wait")]
    for r in results:
        bus = r.get("bus_volumes_per_s")
        times = [sum(s[f"{kind}-seconds-mean"] for s in r["stats"]) * 1e3
                 for kind in ("upload", "compute", "download", "wait")]
        rows.append((r["work"], r["backend"], f"{r['volumes_per_s']:.0f}",
                     f"{100 * r['volumes_per_s'] / bus:.0f} %" if bus else "-",
                     f"{r['latency_ms']['p50']:.3f}",
                     f"{r['latency_ms']['p99']:.3f}",
                     *(f"{t:.3f}" for t in times)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(w) if i < 2 else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))),
              file=sys.stderr)


def chain_line(results):
    """Compares the chain of three elements with the sum of their times."""
    seconds = {r["work"]: 1 / r["volumes_per_s"] for r in results}
    alone = [seconds.get(f"device-{element}") for element, _ in CHAIN]
    chain = seconds.get("device-chain-of-three")
    if chain and all(alone):
        print(f"chain of three: {chain * 1e3:.3f} ms a volume, its elements "
              f"alone {sum(alone) * 1e3:.3f} ms: "
              f"{100 * chain / sum(alone):.0f} %", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--backend", choices=["cpu", "cuda"])
    parser.add_argument("--work", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    backends = [options.backend] if options.backend else ["cpu", "cuda"]
    ndbus = options.folder / "ndbus"
    if not options.backend and (not ndbus.exists()
                                or not run_json([ndbus, "4096"])):
        print("no GPU: measuring the CPU only", file=sys.stderr)
        backends = ["cpu"]
    results, failed = [], False
    for case in CASES:
        if options.work not in case.name:
            continue
        if options.list:
            print(case.name)
            continue
        for backend in backends:
            if case.volumes[backend == "cuda"] == 0:
                continue
            result = run_case(options.folder, case, backend)
            failed |= result is None
            if result:
                add_bus(options.folder, case, result)
                print(json.dumps(result), flush=True)
                results.append(result)
    if results:
        table(results)
        chain_line(results)
    return 1 if failed else 0


sys.exit(main())
