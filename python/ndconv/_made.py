"""What the outputs of a run were made of: the sizes and check sums of their files,
and the sizes and times of the inputs. The folder .ndconv beside the outputs has it,
in the description of each output.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import glob
import hashlib
import json
import os
import pathlib
import re
from typing import Any, Iterable

from ._files import read_own

_READ_BYTES = 1 << 20


def check_sum(path: Any) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(_READ_BYTES):
            found.update(data)
    return found.hexdigest()


def describe_files(folder: pathlib.Path, names: Iterable[str]) -> Any:
    """Sizes and check sums of the files @names in @folder."""
    return {name: [os.path.getsize(folder / name), check_sum(folder / name)]
            for name in names}


def find_damaged(folder: pathlib.Path, files: Any, verify: bool) -> list[str]:
    """The names in @files that are missing, have another size or, with @verify,
    another check sum."""
    def is_good(name: str, size: int, wanted: str) -> bool:
        try:
            return (os.path.getsize(folder / name) == size
                    and (not verify or check_sum(folder / name) == wanted))
        except OSError:
            return False
    return [name for name, (size, wanted) in files.items()
            if not is_good(name, size, wanted)]


def describe_input(path: str) -> Any:
    """Size and time of a file; of a folder, those of all its files together."""
    names = [path]
    if os.path.isdir(path):
        names = [os.path.join(folder, name)
                 for folder, _, found in os.walk(path) for name in found]
    elif "%" in path and not os.path.exists(path):      # img_%04d.tif
        names = glob.glob(re.sub(r"%\d*d", "*", path))
    found = [os.stat(name) for name in names]
    return {"files": len(found), "bytes": sum(f.st_size for f in found),
            "time": max((f.st_mtime_ns for f in found), default=0)}


def read_record(path: pathlib.Path) -> tuple[Any, Any]:
    """A description that this user wrote, and what was made; None for what is
    not there. Versions before 0.9 wrote the description alone."""
    try:
        found = json.loads(read_own(path))
    except (OSError, ValueError):
        return None, None
    made = found.pop("made", None) if isinstance(found, dict) else None
    return found, made if is_record(made) else None


def is_record(made: Any) -> bool:
    """Whether @made has the form of what this module writes."""
    return (isinstance(made, dict) and isinstance(made.get("files"), dict)
            and all(isinstance(entry, list) and len(entry) == 2
                    and isinstance(entry[0], int) and isinstance(entry[1], str)
                    and not os.path.isabs(name)
                    and ".." not in name.split("/")
                    for name, entry in made["files"].items()))
