#!/bin/sh
# backend=auto says once why it uses the CPU, in this case because the module is
# missing. backend=cpu prints nothing.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
export NDCONV_CUDA_MODULE=none

# said BACKEND: the number of times the message is printed
said() {
  gst-launch-1.0 ndtestsrc num-buffers=1 ! \
    ndconv3d backend="$1" filter=box,size=3 ! \
    ndconv3d backend="$1" filter=box,size=3 ! fakesink |
    grep -c "^Filtering on the CPU: .*module was not built .* or not installed"
}

for backend in auto:1 cpu:0; do
  times=$(said "${backend%:*}")
  echo "backend=${backend%:*}: $times"
  [ "$times" = "${backend#*:}" ] || exit 1
done
