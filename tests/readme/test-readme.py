#!/usr/bin/env python3
"""Runs every line of code in README.md, or in another page, in order, in an
empty folder.

  tests/readme/test-readme.py SOURCE BUILD [PAGE]
  tests/readme/test-readme.py --script PAGE

The second form prints a script that runs them in a checkout without changes,
with the functions run, python, refused and serve: tests/bare/newcomer.sh.

Only lines that cannot run in a test are changed: fakesink replaces windows,
a test picture replaces the camera and the reader's own echo.dcm, a phantom
echo.nii.gz, endless streams get a number of buffers, and the build folder is
the one under test. `console` blocks show commands that must fail, and an excerpt of their
output.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

ENDLESS = ('videotestsrc', 'ndtestsrc')
LIMIT = 600     # seconds for one command


def blocks(text):
    """Returns pairs of language and lines."""
    for match in re.finditer(r'^```(\w+)\n(.*?)^```$', text, re.M | re.S):
        yield match[1], match[2]


def runnable(line):
    """Returns the command to run for `line`."""
    line = line.replace('autovideosink', 'fakesink sync=true')
    line = line.replace('v4l2src', 'videotestsrc')
    for source in ENDLESS:
        if source in line and 'num-buffers' not in line:
            line = line.replace(source, source + ' num-buffers=20', 1)
    return line


def run(command, environment, folder):
    process = subprocess.run(
        ['bash', '-c', command], env=environment, cwd=folder, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=LIMIT)
    return process.returncode, process.stdout


# What tests/bare runs: these lines install, or build.
OTHERS = ('scripts/', 'sudo apt ', 'python3 -m venv ', '. ndconv-python/',
          'pip install ')


def script(path):
    """Prints the lines of the page for a shell. All of them run, but for the
    whole of the tests."""
    with open(path, encoding='utf-8') as page:
        text = page.read()
    for language, lines in blocks(text):
        if language == 'python':
            print(f"python <<'END OF PYTHON'\n{lines}END OF PYTHON")
        elif language == 'console':
            for part in re.split(r'^\$ ', lines, flags=re.M)[1:]:
                command, expected = part.split('\n', 1)
                print('refused', shlex.quote(command),
                      shlex.quote(expected.strip()))
        else:
            for line in lines.splitlines():
                if line.startswith('scripts/test'):
                    continue
                line = line.replace('apt install', 'apt install --yes')
                print('serve' if line.endswith('--web') else 'run',
                      shlex.quote(runnable(line)))


class Readme:
    def __init__(self, source, build, folder):
        self.folder = folder
        # README says that a sink names what its format does not hold.
        self.bad = r'CRITICAL|\*\*: |WARNING(?!.* does not hold )|^ERROR'
        self.environment = dict(
            os.environ, GST_PLUGIN_PATH=os.path.join(build, 'gst'),
            GST_PRESET_PATH=os.path.join(source, 'presets'),
            GST_REGISTRY=os.path.join(folder, 'registry'),
            PYTHONPATH=os.path.join(source, 'python'),
            NDCONV_LIBRARY=os.path.join(build, 'lib', 'libndconv.so.0'))
        self.ran = 0
        self.failures = []
        for name in ('scripts', 'pipelines', 'docs', 'presets'):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
        os.symlink(build, os.path.join(folder, 'build'))
        run('gst-launch-1.0 -q ndtestsrc pattern=heart num-buffers=7 '
            'volume-size=32:32:32 ! ndfilesink location=echo.nii.gz',
            self.environment, folder)
        run('gst-launch-1.0 -q videotestsrc num-buffers=12 ! '
            'video/x-raw,width=320,height=240 ! jpegenc ! '
            'filesink location=echo.dcm', self.environment, folder)

    def judge(self, what, good, output):
        self.ran += 1
        print('ok' if good else 'FAILED', ' ', what)
        if not good:
            self.failures.append(what)
            print(output)

    def shell(self, lines):
        for line in lines.splitlines():
            if line.startswith(OTHERS):
                continue
            status, output = run(runnable(line), self.environment, self.folder)
            bad = re.search(self.bad, output, re.M)
            # As cmp: 1 if recordings differ.
            good = (0, 1) if 'ndconv-file compare' in line else (0,)
            self.judge(line, status in good and not bad, output)

    def console(self, lines):
        for part in re.split(r'^\$ ', lines, flags=re.M)[1:]:
            command, expected = part.split('\n', 1)
            status, output = run(command, self.environment, self.folder)
            self.judge('refused: ' + command, status != 0 and expected.strip()
                       and expected.strip() in output, output)

    def python(self, text):
        try:
            process = subprocess.run(
                [sys.executable, '-c', text], cwd=self.folder, text=True,
                env=self.environment,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=LIMIT)
            self.judge('python: ' + process.stdout.strip()[-70:],
                       process.returncode == 0, process.stdout)
        except subprocess.TimeoutExpired as error:
            self.judge('python', False, str(error))

    def links(self, text, source):
        for target in re.findall(r'\]\(([^)#:]+)\)', text):
            self.judge('link ' + target,
                       os.path.exists(os.path.join(source, target)), '')


def main(source, build, page=None):
    path = page or os.path.join(source, 'README.md')
    with open(path, encoding='utf-8') as readme:
        text = readme.read()
    with tempfile.TemporaryDirectory(prefix='ndconv-readme-') as folder:
        it = Readme(source, build, folder)
        it.links(text, os.path.dirname(path))
        if page:
            # Warnings are what troubleshooting shows.
            it.bad = r'CRITICAL|\*\*: |^ERROR|erroneous'
        known = {'sh': it.shell, 'console': it.console, 'python': it.python}
        for language, lines in blocks(text):
            known[language](lines)
    print(it.ran, 'checked,', len(it.failures), 'failed')
    return 1 if it.failures or it.ran < 10 else 0


if __name__ == '__main__':
    if sys.argv[1] == '--script':
        sys.exit(script(sys.argv[2]))
    try:
        import nibabel  # noqa: F401, the README uses them
        import scipy    # noqa: F401
    except ImportError as missing:
        print('skipped:', missing)
        sys.exit(77)
    sys.exit(main(*map(os.path.abspath, sys.argv[1:4])))
