# Processes, signals and copies: children by fork, forkserver and spawn, Ctrl-C
# and cancellation in the midst of a volume, and objects that cannot be copied.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import concurrent.futures
import contextlib
import copy
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv
from ndconv import _library

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None

SETTINGS = {"method": "direct", "n_threads": 2}
HANGS = 60      # seconds after which a child counts as hanging


def make(number):
    return np.random.default_rng(number).random((6, 12, 20), "float32")


def work(number):
    """In a process of its own."""
    return ndconv.convolve(make(number), "gaussian,sigma=1", **SETTINGS)


def count_threads():
    return len(os.listdir("/proc/self/task"))


def run_child(function):
    """The exit status of a child of fork(), 0 if @function returns True."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(HANGS)
            status = 0 if function() else 2
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


class Data:
    """A data set of PyTorch."""

    def __len__(self):
        return 6

    def __getitem__(self, number):
        return torch.from_numpy(work(number))


class Children(unittest.TestCase):
    def setUp(self):
        self.expected = [work(number) for number in range(6)]

    def check(self, results):
        for got, expected in zip(results, self.expected, strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_multiprocessing(self):
        for method in ("fork", "forkserver", "spawn"):
            with self.subTest(method=method), \
                    multiprocessing.get_context(method).Pool(2) as pool:
                self.check(pool.map_async(work, range(6)).get(HANGS))

    def test_futures(self):
        for method in ("fork", "spawn"):
            context = multiprocessing.get_context(method)
            with self.subTest(method=method), \
                    concurrent.futures.ProcessPoolExecutor(
                        2, mp_context=context) as pool:
                self.check(pool.map(work, range(6), timeout=HANGS))

    def test_loader(self):
        if torch is None:
            self.skipTest("PyTorch is not installed")
        for method in ("fork", "forkserver", "spawn"):
            with self.subTest(method=method):
                self.check(torch.utils.data.DataLoader(
                    Data(), None, num_workers=2, timeout=HANGS,
                    multiprocessing_context=method))

    def test_at_work(self):
        """Forked while threads of the parent are at work."""
        stop = threading.Event()

        def loop():
            while not stop.is_set():
                work(0)
        threads = [threading.Thread(target=loop) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(50):
                self.assertEqual(run_child(lambda: np.array_equal(
                    work(1), self.expected[1]) and count_threads() > 1), 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_refused(self):
        """What the parent has open."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = folder.name + "/film.npy"
        np.save(path, np.ones((2, 3, 4, 5), "float32"))
        recording = ndconv.Recording(path)
        stream = ndconv.Stream("box,size=3", (12, 20), "float32")

        def use():
            refused = 0
            for function in (lambda: stream.push(np.zeros((12, 20), "f4")),
                             lambda: recording.read(1)):
                try:
                    function()
                except ndconv.Error as error:
                    refused += "make another one in this process" in str(error)
            return (refused == 2
                    and ndconv.Recording(path).read(1).min() == 1)
        self.assertEqual(run_child(use), 0)
        self.assertEqual(recording.read(0).min(), 1)
        stream.push(np.zeros((12, 20), "f4"))

    def test_progress(self):
        """A child that is forked in a progress function goes on without the
        thread that computes."""
        x = np.ones((3, 40, 40), "f4")
        status = []

        def fork(done, _total):
            if done == 1:
                child = os.fork()
                if child == 0:
                    signal.alarm(HANGS)
                else:
                    status.append(os.waitpid(child, 0)[1])
        parent = os.getpid()
        try:
            ndconv.convolve(x, "box,size=3", axes="tyx", progress=fork)
            if os.getpid() != parent:
                os._exit(1)
        except ndconv.Error:
            os._exit(0 if os.getpid() != parent else 1)
        self.assertEqual(status, [0])


class Interruptions(unittest.TestCase):
    """Of volumes that take minutes. Outputs that stay NaN were not computed."""
    filter = "box,size=41"

    @classmethod
    def setUpClass(cls):
        cls.x = np.ones((160, 160, 160), "f4")
        cls.out = np.empty_like(cls.x)

    def start(self, act):
        """Calls @act when the first output was computed."""
        self.out[:] = np.nan
        corner = self.out[:1, :1, :1]

        def wait():
            while np.isnan(corner).all():
                time.sleep(0.001)
            act()
        thread = threading.Thread(target=wait)
        self.addCleanup(thread.join)
        thread.start()

    @contextlib.contextmanager
    def acting(self, name, act):
        """Calls @act just before the function @name of the library, whose
        errors `ended` gets."""
        function = getattr(_library, name)
        self.ended = []

        def call(*arguments):
            act()
            try:
                return function(*arguments)
            except ndconv.Error as error:
                self.ended.append(error)
                raise
        setattr(_library, name, call)
        try:
            yield
        finally:
            setattr(_library, name, function)

    def convolve(self, **settings):
        ndconv.convolve(self.x, self.filter, out=self.out, **SETTINGS,
                        **settings)

    def interrupt(self):
        os.kill(os.getpid(), signal.SIGINT)

    def check_left_out(self):
        self.assertTrue(np.isnan(self.out).any())
        self.assertFalse(np.isnan(self.out).all())
        before = np.isnan(self.out).sum()
        time.sleep(0.02)
        self.assertEqual(np.isnan(self.out).sum(), before)   # nothing goes on

    def test_interrupt(self):
        threads = []
        for progress in (None, lambda *_: None) * 2:
            self.start(self.interrupt)
            with self.assertRaises(KeyboardInterrupt):
                self.convolve(progress=progress)
            self.check_left_out()
            threads.append(count_threads())
        self.assertEqual(threads[1:], threads[:1] * 3)
        work(0)

    def test_in_progress(self):
        """Ctrl-C while Python computes in the progress function."""
        seen = []

        def progress(done, _total):
            seen.append(done)
            self.interrupt()
            for _ in range(10_000):
                time.sleep(0.001)
        x = np.ones((50, 40, 40), "f4")
        for _ in range(12):
            with self.assertRaises(KeyboardInterrupt):
                ndconv.convolve(x, "box,size=3", axes="tyx", progress=progress)
        self.assertEqual(seen, [1] * 12)

    def test_handler(self):
        """A handler that raises nothing lets the call go on."""
        seen = []
        before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        x = np.ones((4, 60, 60), "f4")
        ndconv.convolve(x, "box,size=3", axes="tyx", progress=lambda *_:
                        os.kill(os.getpid(), signal.SIGUSR1))
        self.assertEqual(len(seen), 4)

    def test_cancel(self):
        cancel = ndconv.Cancel()
        for progress in (None, lambda *_: None):
            self.start(cancel.set)
            with self.assertRaises(ndconv.CancelledError):
                self.convolve(cancel=cancel, progress=progress)
            self.assertTrue(cancel.is_set())
            self.check_left_out()
            with self.assertRaises(ndconv.CancelledError):
                self.convolve(cancel=cancel)    # still set
            cancel.clear()
        x = np.eye(3, dtype="f4")
        ndconv.convolve(x, "box,size=3", cancel=cancel)
        self.assertEqual(cancel._flags, [])

    def test_other_thread(self):
        """A call in another thread is cancelled by the main one."""
        cancel = ndconv.Cancel()
        self.start(cancel.set)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(self.convolve, cancel=cancel)
            self.assertIsInstance(future.exception(), ndconv.CancelledError)
        self.check_left_out()

    def test_stream(self):
        stream = ndconv.Stream(self.filter + ":41:41:1", self.x.shape, "f4",
                               **SETTINGS)
        for act, error in ((stream.cancel, ndconv.CancelledError),
                           (self.interrupt, KeyboardInterrupt)):
            with self.acting("nd_stream_take", act), \
                    self.assertRaises(error):
                stream.push(self.x)
            with self.assertRaises(ndconv.CancelledError):
                stream.push(self.x)
            stream.flush()
        self.assertEqual(stream.taken, 0)
        small = ndconv.Stream("box,size=3", (5, 6), "f4", axes="yx")
        small.cancel()
        with self.assertRaises(ndconv.CancelledError):
            small.push(np.zeros((5, 6), "f4"))
        small.flush()
        self.assertEqual(len(small.push(np.ones((5, 6), "f4"))), 1)

    def test_design(self):
        """Ctrl-C while a filter is designed, which takes longer."""
        with self.acting("nd_filters_new", self.interrupt), \
                self.assertRaises(KeyboardInterrupt):
            ndconv.design("quadrature,size=13:13:13:13", axes="tzyx")
        self.assertIsInstance(self.ended[0], ndconv.CancelledError)


class Copies(unittest.TestCase):
    def setUp(self):
        self.noise = []
        before = sys.unraisablehook
        sys.unraisablehook = self.noise.append
        self.addCleanup(setattr, sys, "unraisablehook", before)

    def tearDown(self):
        gc.collect()
        self.assertEqual(self.noise, [])

    def check(self, thing):
        for function in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                function(thing)

    def test_refused(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = folder.name + "/film.npy"
        np.save(path, np.ones((2, 3, 4, 5), "float32"))
        stream = ndconv.Stream("box,size=3", (5, 6), "f4", axes="yx")
        self.check(stream)
        stream.push(np.ones((5, 6), "f4"))
        with ndconv.Recording(path) as recording:
            self.check(recording)
            self.assertEqual(recording.read(1).min(), 1)
        writer = ndconv.RecordingWriter(folder.name + "/out.npy", (3, 4, 5),
                                        "f4")
        self.check(writer)
        self.check(ndconv.Cancel())

    def test_wrong_arguments(self):
        for kind in (ndconv.Stream, ndconv.Recording, ndconv.RecordingWriter):
            with self.assertRaises(TypeError):
                kind()


if __name__ == "__main__":
    unittest.main()
