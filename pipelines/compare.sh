#!/bin/sh
# One volume of two recordings side by side, each enlarged to 400 x 400.
#
#   pipelines/compare.sh LEFT RIGHT PICTURE.png [VOLUME]
#
# WINDOW and LEVEL in the environment are those of ndview, for both alike;
# without them each has its own.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
[ $# -ge 3 ] || { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
exec gst-launch-1.0 -q \
  ndfilesrc location="$1" num-buffers="${4:-40}" \
  ! ndview mode=orthogonal window="${WINDOW:-0}" level="${LEVEL:-0}" ! both. \
  ndfilesrc location="$2" num-buffers="${4:-40}" \
  ! ndview mode=orthogonal window="${WINDOW:-0}" level="${LEVEL:-0}" ! both. \
  compositor name=both sink_0::width=400 sink_0::height=400 \
    sink_1::xpos=400 sink_1::width=400 sink_1::height=400 \
  ! video/x-raw,format=GRAY8 ! pngenc ! multifilesink location="$3"
