# The simulation of runs over archives, against times that are computed by hand.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def simulate(**options):
    """Seconds and lost tasks for each number of workers."""
    known = {"tasks": 60, "read": 0, "write": 0, "compute": 1, "spread": 0,
             "start": 0, "overhead": 0, **options}
    command = [sys.executable, PROGRAM]
    for name, value in known.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True,
                           timeout=300).stdout.splitlines()[1:]
    return [(float(line.split()[1]), int(line.split()[3])) for line in lines]


class Simulation(unittest.TestCase):
    def test_bounds(self):
        # Workers that share nothing.
        self.assertEqual(simulate(workers="1,2,4,100"),
                         [(60, 0), (30, 0), (15, 0), (1, 0)])
        # Four share two cores.
        self.assertEqual(simulate(workers="4", cores=2), [(30, 0)])
        # Read, compute, write, one after the other.
        self.assertEqual(simulate(workers=1, read=50, write=25, bandwidth=100),
                         [(105, 0)])
        # The store gives 100 bytes/s to all together.
        self.assertEqual(simulate(workers=60, read=50, compute=0,
                                  bandwidth=100), [(30, 0)])
        self.assertEqual(simulate(workers=60, read=50, compute=0,
                                  bandwidth=100, worker_bandwidth=1),
                         [(50, 0)])
        # The scheduler gives out a task in a second.
        self.assertEqual(simulate(workers=60, compute=0.5, overhead=1, plan=3),
                         [(63.5, 0)])

    def test_deaths(self):
        for workers in (1, 4):
            (seconds, lost), = simulate(workers=workers, tasks=400, mtbf=20,
                                        restart=5, seed=3)
            self.assertGreater(lost, 0)
            # Each death costs half a task and a start, on average.
            self.assertGreater(seconds, 400 / workers * 1.05)
            self.assertLess(seconds, 400 / workers * 1.6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
