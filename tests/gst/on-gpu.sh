#!/bin/sh
# Runs a test with the CUDA module, where there is a GPU; 77 otherwise.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
[ -e /dev/nvidiactl ] || exit 77
exec "$@"
