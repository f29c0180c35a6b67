#!/bin/sh
# Runs a test with the CUDA module if there is a GPU, otherwise exits with 77.
# With a GPU that the elements cannot use the test would run on the CPU, so it
# fails.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers

# /dev may have a node without a driver; it cannot be opened then.
(: < /dev/nvidiactl) 2> /dev/null || exit 77
gst-launch-1.0 -q ndtestsrc num-buffers=1 ! \
  ndconv3d backend=cuda filter=box,size=3 ! fakesink || exit 1
exec "$@"
