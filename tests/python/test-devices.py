# The setting devices of the Python package, on a test double of several
# devices: outputs are those of one CPU.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv


class Devices(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(5)
        self.x = rng.integers(0, 50, (6, 9, 8, 7)).astype("f4")
        self.w = rng.integers(-3, 4, (3, 5, 3, 3)).astype("f8")

    def test_convolve(self):
        for axes, w in (("tzyx", self.w), ("zyx", self.w[0])):
            for border in "nearest", "mirror", "wrap":
                settings = dict(axes=axes, border=border, method="direct")
                want = ndconv.convolve(self.x, w, backend="cpu", **settings)
                for devices in "0,1", [2, 0, 1], (4,), range(5), "all", "auto":
                    got = ndconv.convolve(self.x, w, backend="cuda",
                                          devices=devices, **settings)
                    np.testing.assert_array_equal(got, want)

    def test_in_place(self):
        want = ndconv.convolve(self.x, self.w, backend="cpu", method="direct")
        x = self.x.copy()
        ndconv.convolve(x, self.w, out=x, devices="0,1,2", method="direct")
        np.testing.assert_array_equal(x, want)

    def test_stream(self):
        want = ndconv.convolve(self.x, self.w, backend="cpu", method="direct")
        stream = ndconv.Stream(self.w, self.x.shape[1:], "f4",
                               devices=[1, 3], method="direct")
        got = [out for volume in self.x for out in stream.push(volume)]
        got += stream.end()
        np.testing.assert_array_equal(np.stack(got), want)
        self.assertIn("slabs of", stream.reason)
        self.assertIn("on devices 1, 3", stream.reason)

    def test_errors(self):
        for devices, message in (("0,,1", "has an empty part"),
                                 ([0, 0], "names device 0 twice"),
                                 ("0,99", "device 99 cannot be used"),
                                 ("none", "is not the number of a device")):
            with self.assertRaisesRegex(ndconv.Error, message):
                ndconv.convolve(self.x, self.w, devices=devices)


if __name__ == "__main__":
    unittest.main()
