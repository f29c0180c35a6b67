#!/bin/sh
# Denoises a recording.
#
#   pipelines/denoise.sh [OPTIONS] RECORDING CLEAN [PROPERTY=VALUE...]
#
#   RECORDING          volumes or frames over time, in any format of ndfilesrc
#   CLEAN              the denoised recording (.nii.gz, .nrrd, .igs.mha, ...)
#   PROPERTY=VALUE     of nddenoise, such as quality=best latency=5,
#                      strength=1.2 or, for ultrasound, noise=speckle
#   --picture FILE     draws a volume before and after (.png)
#   --volume N         which volume is drawn, counted from 1 (4)
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
usage() { sed -n '2,/^#   --volume/p' "$0" | sed 's/^# \{0,1\}//'; }

picture= volume=4
while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --picture|--volume)
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
gst-launch-1.0 -q ndfilesrc location="$in" ! nddenoise "$@" \
  ! ndfilesink location="$out" || exit
[ -z "$picture" ] \
  || exec "$(dirname "$0")/compare.sh" "$in" "$out" "$picture" "$volume"
