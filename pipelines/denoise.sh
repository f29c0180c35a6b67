#!/bin/sh
# Denoises a recording.
#
#   pipelines/denoise.sh RECORDING CLEAN.nii.gz [PROPERTY=VALUE...]
#
# Properties are those of nddenoise, for example latency=5 strength=1.2.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
[ $# -ge 2 ] || { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
in=$1 out=$2
shift 2
exec gst-launch-1.0 -q ndfilesrc location="$in" ! nddenoise "$@" \
  ! ndfilesink location="$out"
