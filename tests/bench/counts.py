#!/usr/bin/env python3
"""Compares the instructions of tests/bench/ndcounts.c with those that are stored,
which no load or clock of a machine changes.

    counts.py NDCOUNTS COMPILER STORED [--update]

More than 10 % more instructions are a failure. The exit code is 77, and nothing is
compared, if COMPILER is not that of STORED. --update stores the counts.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Valgrind does not run AVX-512.
SETS = ("sse2", "avx2")
MARGIN = 1.10
# The same memcpy() and others of glibc on every processor.
TUNABLES = ("glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM,"
            "-AVX_Fast_Unaligned_Load,-Prefer_No_VZEROUPPER")


def count(program, simd):
    """The instructions of each row."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-instr=no",
             f"--callgrind-out-file={folder}/out", program],
            env={**os.environ, "NDCONV_SIMD": simd, "GLIBC_TUNABLES": TUNABLES,
                 "NDCONV_CUDA_MODULE": "none"},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if result.returncode:
            sys.exit(result.stderr)
        counts = {}
        for name in glob.glob(f"{folder}/out.*"):
            text = pathlib.Path(name).read_text()
            row = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
            if row and total:
                counts[row[1]] = int(total[1])
    return counts


def main():
    program, compiler, path = sys.argv[1:4]
    stored = pathlib.Path(path)
    lines = stored.read_text().splitlines() if stored.exists() else [""]
    update = "--update" in sys.argv
    if lines[0] != compiler and not update:
        print(f"The counts are those of {lines[0]}, this is {compiler}")
        return 77
    known = {tuple(line.split("\t")[:2]): int(line.split("\t")[2])
             for line in lines[1:]}
    written, failed = [compiler], 0
    for simd in SETS:
        for row, n in sorted(count(program, simd).items()):
            written.append(f"{simd}\t{row}\t{n}")
            want = known.pop((simd, row), 0)
            more = n > MARGIN * want and not update
            failed += more
            print(f"{simd:6}{row:20}{n:12}{n / max(want, 1):8.3f}"
                  + ("  more than stored" if more else ""))
    if update:
        stored.write_text("\n".join(written) + "\n")
        return 0
    for simd, row in known:
        print(f"{simd} {row}: not counted")
    return failed > 0 or len(known) > 0


sys.exit(main())
