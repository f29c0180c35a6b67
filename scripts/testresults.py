"""What Meson's log of a stage says.

    testresults.py LOG failed           the names of the tests that failed
    testresults.py LOG say STAGE        those tests, and the end of their output
    testresults.py LOG count CHOSEN...  how many passed, failed and were skipped; a
                                        chosen test without a result failed

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import json
import sys


def name(test):
    """The name without those of the suites."""
    return test['name'].split(' / ')[-1]


log, task, *arguments = sys.argv[1:]
try:
    with open(log) as lines:
        tests = [json.loads(line) for line in lines]
except OSError:
    tests = []
good = [t for t in tests if t['result'] in ('OK', 'EXPECTEDFAIL')]
skipped = [t for t in tests if t['result'] == 'SKIP']
bad = [t for t in tests if t not in good and t not in skipped]

if task == 'failed':
    print(*(name(t) for t in bad))
elif task == 'say':
    for t in bad:
        said = (t.get('stdout') or '') + (t.get('stderr') or '')
        print(f"-- {arguments[0]}: {t['name']}: {t['result']} after "
              f"{t['duration']:.0f} s", *said.splitlines()[-40:], sep='\n')
else:
    # Meson itself can fail, too.
    without = set(arguments) - {name(t) for t in tests}
    for missing in sorted(without):
        print(f'-- {missing}: no result', file=sys.stderr)
    print(len(good), len(bad) + len(without), len(skipped))
