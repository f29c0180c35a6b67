"""Compiles sources of Python to OUT/NAME.TAG.pyc. Python compares a hash with the
source, because an installation changes its time.

  compile.py OUT INSTALLED SOURCE...

INSTALLED is the folder that tracebacks show.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import py_compile
import sys

out, installed = sys.argv[1:3]
for source in sys.argv[3:]:
    name, suffix = os.path.splitext(os.path.basename(source))
    if suffix == ".py":
        py_compile.compile(
            source, dfile=os.path.join(installed, name + suffix), doraise=True,
            cfile=os.path.join(
                out, f"{name}.{sys.implementation.cache_tag}.pyc"),
            invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
