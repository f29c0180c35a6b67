#!/bin/sh
# A picture of one volume of a recording, as three planes through its middle.
#
#   pipelines/picture.sh RECORDING PICTURE.png [VOLUME]
#
# Volumes are counted from 1. All up to the one asked for are read and drawn
# over each other: compressed recordings can be read in no other way.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
exec gst-launch-1.0 -q ndfilesrc location="$1" num-buffers="${3:-40}" \
  ! ndview mode=orthogonal window=255 level=127.5 ! pngenc \
  ! multifilesink location="$2"
