#!/bin/sh
# backend=auto says once why it means the CPU, here that there is no module;
# backend=cpu says nothing.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
export NDCONV_CUDA_MODULE=none

# said BACKEND: how often
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
