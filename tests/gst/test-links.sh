#!/bin/bash
# Lists the libraries that the plugin loads, and fails if one belongs to a
# window system or to a GPU: a container with a filter needs none of them.
#
#   test-links.sh PLUGIN
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
loaded=$(ldd "$1")
echo "$loaded"
if ! grep -q libgstreamer-1.0 <<<"$loaded"; then
  echo "ldd does not say which libraries $1 loads"
  exit 1
fi
! grep -E 'libgstcuda|libcuda|libX11|libxcb|libGL|libEGL|libwayland' \
  <<<"$loaded"
