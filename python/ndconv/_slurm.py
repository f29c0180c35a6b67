"""Plain array jobs of Slurm, without Dask: a script that submits an array of
jobs, each with its share of the tasks, and a last job that checks that all
outputs are there.

    main([PLAN, PART])     the tasks PART, PART + parts, ...
    main([PLAN, "check"])  finish the outputs, name missing ones

A job starts in the folder from which it is submitted, which others may write to:
its Python does not look for modules there.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import json
import os
import pathlib
import shlex
import sys
from typing import Any, Sequence

from . import _library as lib
from ._archive import plan
from ._files import read_own, write_whole
from ._ledger import Ledger, Report, check_counts
from ._local import Local
from ._planning import Options, Path, Paths, find_pairs
from ._printable import printable
from ._recordings import Raw

_SCRIPT = """\
#!/bin/bash
# Submits {tasks} tasks as {parts} jobs, and a last one that finishes the outputs
# and names missing ones. To go on after a failure, run it again:
#
#   bash {name}
set -euo pipefail
export PYTHONSAFEPATH=1
work={work}
array=$(sbatch --parsable --job-name=ndconv --array=0-{last} \\
  --cpus-per-task={cores} {more} \\
  --wrap "$work \\$SLURM_ARRAY_TASK_ID")
last=$(sbatch --parsable --job-name=ndconv-check \\
  --dependency=afterany:"${{array%%;*}}" {more} --wrap "$work check")
echo "jobs $array, and $last, of which the output is the report"
"""


# Not python -m, which puts the current folder first, nor python -I, which does not
# see packages in the user's folder and in PYTHONPATH. Modules that are imported
# before are built in, or loaded when the folder is not searched yet.
_START = ("import sys; here = sys.modules['os'].getcwd(); "
          "sys.path[:] = [p for p in sys.path if p not in ('', '.', here)]; "
          "from ndconv._slurm import main; sys.exit(main(sys.argv[1:]))")


def _check_text(what: str, text: str) -> None:
    """Refuses what would be lines of their own in the script, or of sbatch."""
    if not text.isprintable():
        raise lib.SettingsError(
            f"{what} {text!r} has characters that a script cannot have, such as "
            "line breaks: choose another name")


def _quote_options(text: str) -> str:
    """Options of sbatch as words of the shell, in which nothing is expanded."""
    _check_text("The options of Slurm", text)
    try:
        return shlex.join(shlex.split(text))
    except ValueError as error:
        raise lib.SettingsError(
            f"The options of Slurm {text!r} are not words of the shell: "
            f"{error}") from error


def write_script(path: Path, inputs: Paths, output: Path, options: Options, *,
                 workers: int, retries: int, cores: int = 1,
                 more: str = "") -> tuple[int, Report]:
    """Plans a run and writes its script. Returns the number of tasks, and a
    report of the inputs that cannot be filtered."""
    check_counts(workers, retries)
    options.check()
    script = pathlib.Path(os.path.abspath(path))
    _check_text("The script", str(script))
    more = _quote_options(more)
    pairs = [(os.path.abspath(source), os.path.abspath(target)) for
             source, target in find_pairs(inputs, output,
                                          options.output_format)]
    ledger = Ledger(retries, None)
    plan(ledger, options, pairs)
    if not ledger.tasks:
        return 0, ledger.report()
    parts = min(workers, len(ledger.tasks))
    file = script.with_name(script.name + ".json")
    write_whole(file, json.dumps({
        "options": options._asdict(), "retries": retries, "parts": parts,
        "outputs": [[*pair, ledger.counts[pair[1]]] for pair in pairs
                    if pair[1] in ledger.counts]}))
    command = [sys.executable, "-c", _START, str(file)]
    write_whole(script, _SCRIPT.format(
        tasks=len(ledger.tasks), parts=parts, name=shlex.quote(str(script)),
        last=parts - 1, cores=cores, more=more,
        work=shlex.quote(shlex.join(command))), mode=0o777)
    return len(ledger.tasks), ledger.report()


def _read_plan(path: str) -> tuple[Options, dict[str, Any]]:
    found = json.loads(read_own(path))
    options = Options(**found["options"])
    if options.raw:
        options = options._replace(raw=Raw(*options.raw))
    return options, found


def _take_part(options: Options, found: dict[str, Any],
               part: int) -> Report:
    """Does the tasks of one job."""
    ledger = Ledger(found["retries"], None, finishes=False)
    begin = 0
    for path, target, n in found["outputs"]:
        first = (part - begin) % found["parts"]
        begin += n
        if first >= n:
            continue
        try:
            job = options.make_job(path, target)
            job.begin()
            own = job.tasks()[first::found["parts"]]
            ledger.take(job, own, job.missing(own))
        except (lib.Error, TypeError, OSError) as error:
            ledger.refuse(path, error)
    Local(ledger, 1).run()
    return ledger.report()


def _check(options: Options, found: dict[str, Any]) -> Report:
    """Finishes the outputs of which all tasks are done."""
    ledger = Ledger(found["retries"], None)
    plan(ledger, options, [(path, target)
                           for path, target, _ in found["outputs"]])
    for task in ledger.tasks:
        ledger.refuse_task(task, "is missing; the outputs of the jobs say why")
    return ledger.report()


def main(arguments: Sequence[str]) -> int:
    """A job. Returns its exit status."""
    options, found = _read_plan(arguments[0])
    try:
        report = (_check(options, found) if arguments[1] == "check" else
                  _take_part(options, found, int(arguments[1])))
    except (lib.Error, TypeError, OSError, ImportError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    print(report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
