#!/bin/sh
# The velocity in a recording of volumes, in samples a volume along x, y and z,
# and its certainty: four components per sample.
#
#   pipelines/motion.sh RECORDING VELOCITY.nrrd [PROPERTY=VALUE...]
#
# Properties are those of ndstructure, for example sigma=3.0 model=affine. The
# filters have 9 samples along each axis; the variable SIZE sets another size.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
[ $# -ge 2 ] || { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
in=$1 out=$2
shift 2
exec gst-launch-1.0 -q ndfilesrc location="$in" \
  ! ndconv4dtemporal response=tensor \
    filter="monomial-bank,size=${SIZE:-9},order=2.0" \
  ! ndstructure "$@" ! ndfilesink location="$out"
