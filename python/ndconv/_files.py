"""Files and folders where others may write, too: a name that somebody planted is
never followed, and what another user wrote is not believed.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import stat
import tempfile

from . import _library as lib


def write_whole(path: pathlib.Path, text: str,
                folder: pathlib.Path | None = None, mode: int = 0o666) -> None:
    """Writes a file that is complete as soon as it has its name; until then it
    is in @folder, by default that of @path."""
    temporary = (folder or path.parent) / f".{secrets.token_hex(8)}.new"
    fd = os.open(temporary,
                 os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with open(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(fd)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _is_owner(folder: pathlib.Path, owner: int) -> bool:
    """Whether @owner owns what this process creates in @folder: servers and
    mounts may have other numbers than this machine."""
    if owner == os.geteuid():
        return True
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.fstat(file.fileno()).st_uid == owner
    except OSError:
        return False


def read_own(path: str | os.PathLike[str]) -> str:
    """The text of a file of this user. OSError if it is a link or anything
    else."""
    # Opening a pipe would wait for a writer.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, encoding="utf-8") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or not (
                found.st_uid == 0
                or _is_owner(pathlib.Path(path).parent, found.st_uid)):
            raise PermissionError(f"{os.fspath(path)!r} is not a file of this "
                                  "user")
        return file.read()


def is_own_folder(path: pathlib.Path) -> bool:
    """Whether @path is there. FileError if it is a link, a file, or a folder of
    another user, who could put links into it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(found.st_mode) or not _is_owner(path.parent,
                                                        found.st_uid):
        raise lib.FileError(f"{path} is a link, a file, or a folder of another "
                            "user: remove it, or choose another output")
    return True


def make_own_folder(path: pathlib.Path) -> None:
    """Makes @path for this user only, unless it is there."""
    if is_own_folder(path):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(0o700)
    except FileExistsError:     # another worker was faster
        is_own_folder(path)


def sync(path: pathlib.Path) -> None:
    """Waits until a file is on the disk: a marker that it is complete may get
    there before its samples do."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(path: pathlib.Path) -> None:
    """Waits until the names in a folder are on the disk, as far as the file
    system can."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
