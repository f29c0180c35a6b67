#!/bin/sh
# Draws one volume of two recordings side by side, each scaled to 400 x 400.
#
#   pipelines/compare.sh LEFT RIGHT PICTURE.png [N]
#
# Draws volume N - 1, counted from 0; N is 40 by default. If a recording is
# shorter, its last volume is drawn.
# The variables WINDOW and LEVEL set the properties of ndview for both pictures;
# otherwise each picture has its own range.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
[ $# -ge 3 ] || { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
# In a folder of its own, so that no link of that name is followed.
folder=$(mktemp -d "$(dirname -- "$3")/.picture.XXXXXX") || exit
trap 'rm -rf "$folder"' EXIT
gst-launch-1.0 -q \
  ndfilesrc location="$1" num-buffers="${4:-40}" \
  ! ndview mode=orthogonal window="${WINDOW:-0}" level="${LEVEL:-0}" ! both. \
  ndfilesrc location="$2" num-buffers="${4:-40}" \
  ! ndview mode=orthogonal window="${WINDOW:-0}" level="${LEVEL:-0}" ! both. \
  compositor name=both sink_0::width=400 sink_0::height=400 \
    sink_1::xpos=400 sink_1::width=400 sink_1::height=400 \
  ! video/x-raw,format=GRAY8 ! pngenc \
  ! multifilesink location="$folder/picture.png" || exit
mv -T -- "$folder/picture.png" "$3"
