#!/bin/sh
# Runs a test with the CUDA module, where there is a GPU; 77 otherwise. With a
# GPU that the elements cannot use the test would run on the CPU, and fails.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# A node in /dev may be there without a driver: then it does not open.
(: < /dev/nvidiactl) 2> /dev/null || exit 77
gst-launch-1.0 -q ndtestsrc num-buffers=1 ! \
  ndconv3d backend=cuda filter=box,size=3 ! fakesink || exit 1
exec "$@"
