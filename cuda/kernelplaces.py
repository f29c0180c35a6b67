#!/usr/bin/env python3
# Writes the kernels of cuda/ and their files, for cuda/launches.cu.
#
#   kernelplaces.py SOURCES OUT DEPFILE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import pathlib
import re
import sys

root, out, depfile = map(pathlib.Path, sys.argv[1:])
files = sorted(root.glob('cuda/**/*.cu*'))
# The name follows attributes such as __launch_bounds__ (n), before the arguments.
kernel = re.compile(r'__global__[^{;]*?\b(\w+_kernel)\s*\(')
places = {name: file.relative_to(root).as_posix() for file in files
          for name in kernel.findall(file.read_text(encoding='utf-8'))}
out.write_text(''.join(f'{{ "{name}", "{places[name]}" }},\n'
                       for name in sorted(places)))
depfile.write_text(f'{out}: ' + ' '.join(map(str, files)) + '\n')
