#!/bin/sh
# Draws one volume of a recording as three planes through its middle.
#
#   pipelines/picture.sh RECORDING PICTURE.png [N]
#
# Reads the first N volumes, by default 40, and draws the last of them: number
# N - 1. If the recording is shorter, it draws the last volume. The volumes before
# it are read, too, because compressed recordings are not seekable. The variables WINDOW and LEVEL set the properties of ndview;
# otherwise the picture has its own range.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
[ $# -ge 2 ] || { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
# In a folder of its own, so that no link of that name is followed.
folder=$(mktemp -d "$(dirname -- "$2")/.picture.XXXXXX") || exit
trap 'rm -rf "$folder"' EXIT
gst-launch-1.0 -q ndfilesrc location="$1" num-buffers="${3:-40}" \
  ! ndview mode=orthogonal window="${WINDOW:-0}" level="${LEVEL:-0}" ! pngenc \
  ! multifilesink location="$folder/picture.png" || exit
mv -T -- "$folder/picture.png" "$2"
