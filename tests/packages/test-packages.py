#!/usr/bin/env python3
"""Each file that `meson install` makes is in exactly one Debian package, and
debian/ has the version of meson.build.

  test-packages.py SOURCE BUILD VERSION

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import fnmatch
import json
import os
import re
import sys

SKIPPED = 77
source, build, version = sys.argv[1:]


def read(*names):
    with open(os.path.join(*names), encoding='utf-8') as file:
        return file.read()


def patterns():
    """Pairs of package and pattern; that of files in no package is None."""
    folder = os.path.join(source, 'debian')
    for name in sorted(os.listdir(folder)):
        if name.endswith('.install') or name == 'not-installed':
            package = (None if name == 'not-installed'
                       else name[:-len('.install')])
            for line in read(folder, name).split('\n'):
                if line:
                    yield package, line


def matches(path, pattern):
    """As the shell: a star is part of one name. A folder has its files."""
    names, parts = path.split('/'), pattern.split('/')
    return len(names) >= len(parts) and all(map(fnmatch.fnmatchcase, names, parts))


def installed(options):
    """The paths that they have in a package."""
    prefix, libraries = options['prefix'], options['libdir']
    for path in json.loads(read(build, 'meson-info/intro-installed.json')).values():
        path = os.path.relpath(path, prefix)
        path = re.sub(r'^(local/)?lib/python3[^/]*/(site|dist)-packages/',
                      'lib/python3/dist-packages/', path)
        if path.startswith(libraries + '/') and '/dist-packages/' not in path:
            path = 'lib/TRIPLET' + path[len(libraries):]
        yield 'usr/' + path


def main():
    failures = []
    changelog = read(source, 'debian/changelog').split('\n', 1)[0]
    if not changelog.startswith(f'ndconv ({version}) '):
        failures.append(f'debian/changelog has not the version {version} of '
                        f'meson.build: {changelog}')
    options = {option['name']: option['value'] for option in json.loads(
        read(build, 'meson-info/intro-buildoptions.json'))}
    packages = list(patterns())
    listed = re.findall(r'^Package: (\S+)', read(source, 'debian/control'), re.M)
    failures += [f'debian/control has no package {name}' for name in
                 sorted({name for name, _ in packages if name} - set(listed))]
    failures += [f'{name} has no files' for name in listed
                 if name not in {package for package, _ in packages}]
    paths = list(installed(options))
    for path in paths:
        places = [package for package, pattern in packages
                  if matches(path, pattern)]
        if len(places) != 1:
            failures.append(f'{path} is in {len(places)} of debian/*.install: '
                            f'{places}')
    programs = {'usr/bin/ndconv-web', 'usr/bin/ndconv-run'}
    complete = programs <= set(paths)
    if complete:
        failures += [f'{package}.install: nothing is {pattern}'
                     for package, pattern in packages
                     if package and not any(matches(path, pattern)
                                            for path in paths)]
    print(*failures, sep='\n')
    if failures:
        return 1
    print(f'{len(paths)} files')
    if not complete:
        print('This build lacks ndconv-web or ndconv-run: whether each line of '
              'debian/*.install has a file was not checked')
        return SKIPPED
    return 0


sys.exit(main())
