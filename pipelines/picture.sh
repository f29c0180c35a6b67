#!/bin/sh
# A picture of one volume of a recording, as three planes through its middle.
#
#   pipelines/picture.sh RECORDING PICTURE.png [VOLUME]
#
# Volumes are counted from 1. All up to the one asked for are read and drawn
# over each other: compressed recordings can be read in no other way. Where there
# are fewer it is the last. WINDOW and LEVEL in the environment are those of
# ndview, for pictures that compare; without them they are found in the samples.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
[ $# -ge 2 ] || { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
exec gst-launch-1.0 -q ndfilesrc location="$1" num-buffers="${3:-40}" \
  ! ndview mode=orthogonal window="${WINDOW:-0}" level="${LEVEL:-0}" ! pngenc \
  ! multifilesink location="$2"
