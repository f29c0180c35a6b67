# Pictures of filters. Needs matplotlib for all but what is refused.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import doctest
import io
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import ndconv
from ndconv import _plot

try:
    import matplotlib.figure
except ImportError:
    matplotlib = None


class Plots(unittest.TestCase):
    def test_refused(self):
        for sentence, arguments, settings in (
                ("kind is 'picture'", ("box,size=3", "picture"), {}),
                ("there are 2 filters", ("box,size=3; box,size=5",),
                 {"number": 2, "axes": "yx"}),
                ("bx", ("bx,size=3",), {})):
            with self.assertRaisesRegex(ndconv.SettingsError, sentence):
                ndconv.plot(*arguments, **settings)

    @unittest.skipIf(matplotlib, "with matplotlib")
    def test_without_matplotlib(self):
        with self.assertRaisesRegex(ImportError, "needs matplotlib"):
            ndconv.plot("box,size=3")

    @unittest.skipUnless(matplotlib, "without matplotlib")
    def test_kinds(self):
        for axes, planes in (("yx", 1), ("zyx", 3), ("tzyx", 6)):
            figure = ndconv.plot("gaussian,sigma=1", axes=axes)
            self.assertEqual(len(figure.axes), planes + 1)
            figure.savefig(io.BytesIO(), format="png")
        w = np.zeros((3, 5))
        w[1, 4] = 2
        image = ndconv.plot(w, axes="yx").axes[0].images[0]
        np.testing.assert_array_equal(image.get_array(), w)
        # The gain of a sum of weights 2 is 2 at all frequencies.
        image = ndconv.plot(w, "spectrum", axes="yx").axes[0].images[0]
        np.testing.assert_allclose(image.get_array(), 2)
        own = matplotlib.figure.Figure()
        self.assertIs(ndconv.plot("box,size=3", "impulse", figure=own), own)

    @unittest.skipUnless(matplotlib, "without matplotlib")
    def test_impulse(self):
        """The lag of a causal filter."""
        figure = ndconv.plot(np.array([[[1.0]], [[2.0]], [[3.0]]]), "impulse",
                             axes="tyx", causal=True)
        x, y = figure.axes[0].lines[0].get_data()
        self.assertEqual(y[x < 0].any(), False)
        self.assertEqual(sorted(y[x >= 0]), [0, 1, 2, 3])
        figure = ndconv.plot("gabor,center-frequency=1.0,size=7", "impulse",
                             axes="yx")
        self.assertEqual(len(figure.axes[0].lines), 4)
        figure.savefig(io.BytesIO(), format="png")


def load_tests(_loader, tests, _pattern):
    if matplotlib:
        tests.addTests(doctest.DocTestSuite(_plot))
    return tests


if __name__ == "__main__":
    unittest.main()
