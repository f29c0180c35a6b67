#!/bin/sh
# The velocity in a recording, in samples per volume along x, y and z, and its
# certainty: four components per sample (of frames three).
#
#   pipelines/motion.sh [OPTIONS] RECORDING VELOCITY [PROPERTY=VALUE...]
#
#   RECORDING          volumes or frames over time, in any format of ndfilesrc
#   VELOCITY           the velocities, float32 (.nrrd, .npy, .mha, ...)
#   PROPERTY=VALUE     of ndstructure, such as sigma=3.0, model=affine or
#                      units=physical
#   --size N           samples of the filters along each axis (9)
#   --method M         of the filters (auto). With direct, samples around which
#                      all are equal have no velocity, however machines round
#   --picture FILE     draws the velocity along x (.png): grey is 0, white goes
#                      to the right
#   --volume N         which volume is drawn, counted from 1 (4)
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
usage() { sed -n '2,/^#   --volume/p' "$0" | sed 's/^# \{0,1\}//'; }

size=9 method=auto picture= volume=4
while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --size|--method|--picture|--volume)
      [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; }
      eval "${1#--}=\$2"
      shift ;;
    -*) echo "There is no option $1; see --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# -ge 2 ] || { usage >&2; exit 2; }

in=$1 out=$2
shift 2
gst-launch-1.0 -q ndfilesrc location="$in" \
  ! ndconv4dtemporal response=tensor method="$method" \
    filter="monomial-bank,size=$size,order=2.0" \
  ! ndstructure "$@" ! ndfilesink location="$out" || exit
# White and black are half a sample per volume unless WINDOW says otherwise.
[ -z "$picture" ] || WINDOW=${WINDOW:-1} LEVEL=${LEVEL:-0} \
  exec "$(dirname "$0")/picture.sh" "$out" "$picture" "$volume"
