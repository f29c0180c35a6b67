"""Long calls of the library, which Ctrl-C and other threads end.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import _thread
import ctypes
import os
import threading
from typing import Any, Callable

from . import _library as lib

Report = Callable[[int, int], None]


class Cancel:
    """Ends calls of `convolve` from any thread: they raise `CancelledError`.

    Examples
    --------
    >>> import ndconv, numpy
    >>> cancel = ndconv.Cancel()
    >>> cancel.set()    # from another thread, while convolve() runs
    >>> try:
    ...     ndconv.convolve(numpy.eye(3, dtype="uint8"), "box,size=3",
    ...                     cancel=cancel)
    ... except ndconv.CancelledError as error:
    ...     print(error)
    The computation was cancelled: start it again
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._flags: list[ctypes.c_int] = []    # of the calls that run

    def set(self) -> None:
        """Ends the calls that run, and each that begins before `clear`."""
        with self._lock:
            self._set = True
            for flag in self._flags:
                flag.value = 1

    def clear(self) -> None:
        """Calls that begin from now on are not ended."""
        with self._lock:
            self._set = False

    def is_set(self) -> bool:
        """Whether `set` was called since the last `clear`."""
        return self._set

    def _add(self, flag: ctypes.c_int) -> None:
        with self._lock:
            flag.value = int(self._set)
            self._flags.append(flag)

    def _remove(self, flag: ctypes.c_int) -> None:
        with self._lock:
            self._flags = [other for other in self._flags if other is not flag]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return lib.refuse_copy(self, "pass it to threads, not to processes")


class _Call:
    """A call in a thread of its own, because Python runs the handlers of signals
    in the main thread, and not while that is in the library.

    The caller waits for locks, which signals interrupt. An interruption may come
    between any two steps, so that no step counts on the one before it: from then
    on the caller looks at `done` again and again."""

    def __init__(self, function: Callable[[Report], Any],
                 progress: Callable[[int, int], Any] | None):
        self._function, self._progress = function, progress
        self._begun, self._wake, self._answer = (
            _thread.allocate_lock() for _ in range(3))
        self._wake.acquire()
        self._answer.acquire()
        self._asked: tuple[int, int] | None = None
        self._left = False      # the caller does not answer any more
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def _wake_caller(self) -> None:
        try:
            self._wake.release()
        except RuntimeError:    # it is awake
            pass

    def _report(self, done: int, total: int) -> None:
        """Lets the caller call its progress function."""
        if self._progress is None or self._left:
            return
        self._asked = (done, total)
        self._wake_caller()
        while not self._answer.acquire(timeout=0.05):
            if self._left:
                return

    def _run(self) -> None:
        if not self._begun.acquire(blocking=False):
            return      # interrupted before
        try:
            self.result = self._function(self._report)
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
        self.done = True
        self._wake_caller()

    def run(self) -> None:
        """Starts the thread, and answers it until the call is done."""
        process = os.getpid()
        _thread.start_new_thread(self._run, ())
        while not self.done:
            self._wake.acquire()
            if self._asked is not None and self._progress is not None:
                asked, self._asked = self._asked, None
                self._progress(*asked)
                if os.getpid() != process:
                    self._begun.acquire(blocking=False)
                    self.done = True    # the thread is the parent's
                    raise lib.Error(
                        "This process was forked in a progress function: the "
                        "call goes on in its parent only")
                self._answer.release()

    def leave(self) -> None:
        """Waits until the call, which was cancelled, has ended."""
        self._left = True
        if self._begun.acquire(blocking=False):
            return      # it will not begin
        while not self.done:
            try:
                self._wake.acquire(timeout=0.005)
            except BaseException:  # pylint: disable=broad-except
                pass    # Ctrl-C again


def _call_here(function: Callable[[Report], Any], cancel: Callable[[], Any],
               progress: Callable[[int, int], Any] | None) -> Any:
    raised: list[BaseException] = []

    def report(done: int, total: int) -> None:
        if progress is None or raised:
            return
        try:
            progress(done, total)
        except BaseException as error:  # pylint: disable=broad-except
            raised.append(error)
            cancel()
    try:
        return function(report)
    finally:
        if raised:
            raise raised[0]


def call(function: Callable[[Report], Any], cancel: Callable[[], Any],
         progress: Callable[[int, int], Any] | None = None,
         is_short: bool = False) -> Any:
    """The result of @function, which may take long. @function passes the numbers
    of @progress to its argument; @progress is called in the thread of the
    caller. If that is interrupted, or @progress raises an exception, it calls
    @cancel, waits until @function has returned, and raises the exception.

    @is_short: a signal can wait until @function returns, and to start a thread
    would take a part of the time."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or (is_short and progress is None):
        return _call_here(function, cancel, progress)
    running = _Call(function, progress)
    try:
        running.run()
    except BaseException:
        cancel()
        running.leave()
        raise
    if running.error is not None:
        raise running.error
    return running.result


def call_with_flag(function: Callable[[Any, Report], Any],
                   cancel: Cancel | None = None,
                   progress: Callable[[int, int], Any] | None = None,
                   is_short: bool = False) -> Any:
    """The same for a function of the library that gets a flag of
    cancellation."""
    flag = ctypes.c_int(0)

    def stop() -> None:
        flag.value = 1
    if cancel is None:
        return call(lambda report: function(flag, report), stop, progress,
                    is_short)
    cancel._add(flag)
    try:
        return call(lambda report: function(flag, report), stop, progress,
                    is_short)
    finally:
        cancel._remove(flag)
