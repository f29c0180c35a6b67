"""The program ndconv-run: ndconv.run() for the shell.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

# The package is imported late, so that --help does not need NumPy.
import argparse
import logging
import shlex
import signal
import sys
import time
from typing import Any

FAILED, WRONG, INTERRUPTED = 1, 2, 130
PURPOSE = "filter archives of recordings"
DESCRIPTION = """\
Inputs are recordings, which docs/formats.md lists, and OME-Zarr.
Several inputs, or a pattern in quotes, give outputs of the same names in the folder
OUTPUT. A run that was interrupted goes on if it is started again with the same options:
finished tasks are not computed again. Until an output is complete, it has another name.
Sizes have the order x:y:z:t.
"""
EXAMPLES = """\
Examples:
  ndconv-run --filter gaussian,sigma=1.5 --workers 4 heart.zarr smooth.zarr
  ndconv-run --filter box,size=3 --workers 100 --slurm job.sh 'scans/*.nrrd' filtered
  ndconv-run --filter box,size=3 --border mirror 'scans/*.nii.gz' filtered

Exit status:
  0  all outputs are complete
  1  an input or a block failed; the report names it
  2  the command line, the filter or a setting is wrong
  130  the run was interrupted
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=28)


def _numbers(text: str) -> tuple[int, ...]:
    """Sizes x:y:z:t in the order of arrays."""
    try:
        return tuple(int(number) for number in reversed(text.split(":")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form X:Y:Z:T") from error


def _add_setting(group: Any, row: Any) -> None:
    """@row: a Setting."""
    text = row.first_sentence.replace("%", "%%")
    if not text[1].isupper():
        text = text[0].lower() + text[1:]
    more: dict[str, Any] = {"default": None}
    if row.kind == "boolean":
        more["action"] = "store_true"
    elif row.name == "origin":
        more.update(type=_numbers, metavar="X:Y:Z:T")
    else:
        types = {"integer": (int, "N"), "number": (float, "NUMBER")}
        more["type"], more["metavar"] = types.get(
            row.kind, (str, row.name.rpartition("-")[2].upper()))
        if row.default not in ("", None):
            text += f" (default {row.default:{row.kind == 'number' and 'g' or ''}})"
    # The library refuses other values.
    if row.values:
        text += ": " + ", ".join(row.values)
    group.add_argument("--" + row.name, help=text, **more)


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    # pylint: disable=import-outside-toplevel
    from ._settings import CONVOLVE
    parser = argparse.ArgumentParser(
        prog="ndconv-run", add_help=False, allow_abbrev=False,
        usage=f"ndconv-run [OPTION…] INPUT… OUTPUT - {PURPOSE}",
        description=DESCRIPTION, epilog=EXAMPLES, formatter_class=_Formatter)
    parser.add_argument("paths", nargs="*", help=argparse.SUPPRESS)
    run = parser.add_argument_group("Options")
    run.add_argument("--filter", metavar="TEXT",
                     help="the filter; ndconv-filter list names designs "
                     "(required)")
    run.add_argument("--axes", help="names of all axes, as tzyx or tczyx "
                     "(default: of the metadata)")
    run.add_argument("--block", metavar="X:Y:Z:T", type=_numbers,
                     help="outputs of one task")
    run.add_argument("--workers", metavar="N", type=int, default=1,
                     help="processes (default 1)")
    run.add_argument("--exact", action="store_true",
                     help="the same samples whatever the blocks are")
    run.add_argument("--retries", metavar="N", type=int, default=3,
                     help="how often a failed task is tried again (default 3)")
    run.add_argument("--runner", metavar="RUNNER", default="local",
                     help="what runs the workers (default local): local, dask, "
                     "slurm")
    run.add_argument("--scheduler", metavar="ADDRESS",
                     help="of a Dask cluster, as tcp://HOST:8786; runner=dask "
                     "without it starts WORKERS processes")
    run.add_argument("--slurm", metavar="SCRIPT",
                     help="run nothing, but write a script that submits the "
                     "run to Slurm as WORKERS jobs and one that checks them")
    run.add_argument("--slurm-options", metavar="TEXT", default="",
                     help="for Slurm, as --slurm-options='--partition=short --mem=8G'")
    run.add_argument("--output-format", metavar="FORMAT",
                     help="of the outputs (default: as the inputs): recording, "
                     "ome-zarr, ome-zarr-0.5, ome-zarr-0.4")
    run.add_argument("--compression", metavar="NAME", default="zstd",
                     help="of OME-Zarr (default zstd): zstd, blosc, gzip, none")
    run.add_argument("--volume-size", metavar="X:Y:Z", type=_numbers,
                     help="of inputs without a header")
    run.add_argument("--type", default="uint8",
                     help="of their samples (default uint8)")
    run.add_argument("--components", metavar="N", type=int, default=1,
                     help="of their samples (default 1)")
    run.add_argument("--offset-bytes", metavar="N", type=int, default=0,
                     help="before their first volume (default 0)")
    run.add_argument("--max-memory", metavar="BYTES", type=int, default=0,
                     help="that reading a recording may take (default: a "
                     "quarter of the memory)")
    run.add_argument("--truncated", metavar="WHAT", default="refuse",
                     help="with recordings that are truncated (default refuse): "
                     "refuse, keep their whole volumes")
    run.add_argument("--verify", action="store_true",
                     help="read all outputs of earlier runs, and do again those "
                     "whose check sums are wrong")
    run.add_argument("--quiet", action="store_true",
                     help="no progress and no summary")
    run.add_argument("--version", action="store_true",
                     help="print the version")
    run.add_argument("--words", metavar="OPTION", help=argparse.SUPPRESS)
    run.add_argument("-h", "--help", action="store_true",
                     help="print this help")
    filtering = parser.add_argument_group("Filter options")
    for row in CONVOLVE.values():
        _add_setting(filtering, row)
    return parser


class Bar:
    """A progress bar on the last line of a terminal; in a file, a line for each
    tenth of the tasks."""
    WIDTH = 30

    def __init__(self, stream: Any):
        self._stream = stream
        self._terminal = stream.isatty()
        self._begin = time.monotonic()
        self._tenths = 0

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self._begin
        text = (f"{done} of {total} tasks, "
                f"{seconds * (total - done) / done:.0f} s left")
        if self._terminal:
            full = self.WIDTH * done // total
            end = "\n" if done == total else ""
            self._stream.write(f"\r[{'#' * full:{self.WIDTH}}] {text}\033[K"
                               + end)
            self._stream.flush()
        elif done * 10 // total > self._tenths:
            self._tenths = done * 10 // total
            print(text, file=self._stream, flush=True)


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    # pylint: disable=import-outside-toplevel
    from ._settings import CONVOLVE
    found = {}
    for name in CONVOLVE:
        value = getattr(options, name)
        if value is not None and value is not False:
            found[name] = value
    return found


def _raw(options: argparse.Namespace, ndconv: Any) -> Any:
    """The description of inputs without a header."""
    if not options.volume_size:
        return None
    if len(options.volume_size) > 3:
        raise ndconv.SettingsError(
            "--volume-size has the form X:Y:Z, without the number of volumes")
    shape = (1,) * (3 - len(options.volume_size)) + options.volume_size
    if options.components > 1:
        shape += (options.components,)
    return ndconv.Raw(shape, options.type, options.offset_bytes)


def _read_slurm(text: str) -> dict[str, Any]:
    """Options of sbatch as those of dask_jobqueue.SLURMCluster."""
    options = shlex.split(text)
    found: dict[str, Any] = {}
    memory = [option.partition("=")[2] for option in options
              if option.startswith("--mem=")]
    if memory:
        # Slurm's units are powers of 1024.
        found["memory"] = memory[0] + ("iB" if memory[0][-1].isalpha()
                                       else "MiB")
    found["job_extra_directives"] = [option for option in options
                                     if not option.startswith("--mem=")]
    return found


def _write_script(options: argparse.Namespace, ndconv: Any, inputs: Any,
                  output: str) -> int:
    # pylint: disable=import-outside-toplevel
    from ndconv._planning import Options
    from ndconv._slurm import write_script
    tasks, report = write_script(
        options.slurm, inputs, output,
        Options(options.filter, _settings(options), options.axes,
                options.block, _raw(options, ndconv), options.output_format,
                options.compression, options.exact, options.max_memory,
                options.verify, options.truncated),
        workers=options.workers, retries=options.retries,
        cores=options.n_threads or 1, more=options.slurm_options)
    if report.failed or report.notes:
        print(report, file=sys.stderr)
    if not options.quiet:
        print(f"bash {options.slurm} submits {tasks} tasks" if tasks else
              "All outputs are there")
    return FAILED if report.failed else 0


def _run(options: argparse.Namespace) -> int:
    # pylint: disable=import-outside-toplevel
    import ndconv
    from ndconv._printable import printable
    *inputs, output = options.paths
    if len(inputs) == 1:
        inputs = inputs[0]
    if not options.quiet:
        log = logging.getLogger("ndconv")
        log.setLevel(logging.INFO)
        log.addHandler(logging.StreamHandler())
    try:
        if options.slurm:
            return _write_script(options, ndconv, inputs, output)
        more: dict[str, Any] = {}
        if options.scheduler:
            from distributed import Client  # pylint: disable=C0415
            more["client"] = Client(options.scheduler)
        if options.runner == "slurm":
            more["slurm"] = _read_slurm(options.slurm_options)
        report = ndconv.run(
            inputs, output, filter=options.filter, axes=options.axes,
            block=options.block, workers=options.workers, exact=options.exact,
            retries=options.retries, runner=options.runner,
            raw=_raw(options, ndconv), max_memory=options.max_memory,
            output_format=options.output_format,
            compression=options.compression,
            progress=None if options.quiet else Bar(sys.stderr),
            verify=options.verify, truncated=options.truncated,
            **more, **_settings(options))
    except (ndconv.SettingsError, TypeError) as error:
        print(f"ndconv-run: {printable(str(error))}", file=sys.stderr)
        return WRONG
    except (ndconv.Error, ImportError, OSError) as error:
        print(f"ndconv-run: {printable(str(error))}", file=sys.stderr)
        return FAILED
    if report.failed or not options.quiet:
        print(report, file=sys.stderr if report.failed else sys.stdout)
    return FAILED if report.failed else 0


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def main(version: str | None = None) -> int:
    """The program; returns its exit status."""
    parser = make_parser()
    options = parser.parse_args()
    if options.help:
        # argparse writes the word in lower case.
        print("U" + parser.format_help()[1:], end="")
        return 0
    if options.words:   # for the completion of the shell
        # pylint: disable=import-outside-toplevel
        from ._settings import CONVOLVE
        name = options.words.lstrip("-").replace("-", "_")
        print(*CONVOLVE[name].values if name in CONVOLVE else ())
        return 0
    if options.version:
        if version is None:
            from ndconv import (  # pylint: disable=import-outside-toplevel
                __version__ as version)
        print(f"ndconv-run {version}")
        return 0
    if len(options.paths) < 2 or not options.filter:
        print("ndconv-run: give --filter, an input and an output; "
              "ndconv-run --help explains them", file=sys.stderr)
        return WRONG
    signal.signal(signal.SIGTERM, _stop)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("\nndconv-run: interrupted; the same command goes on",
              file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
