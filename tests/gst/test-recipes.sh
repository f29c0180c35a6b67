#!/bin/bash
# pipelines/denoise.sh and pipelines/motion.sh on a phantom and, if it is there,
# on a recorded heart.
#
#   tests/gst/test-recipes.sh SOURCE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }
# The file has this beginning, and more than SIZE bytes.
check() {
  grep -aq "$2" <(head -c 400 "$1") || fail "$1 is not as expected"
  [ "$(stat -c %s "$1")" -gt "$3" ] || fail "$1 is too short"
}

for script in denoise motion; do
  run=pipelines/$script.sh
  "$run" --help | grep -q -- '--picture FILE' || fail "$run: no --help"
  ! "$run" 2>/dev/null || fail "$run runs without a recording"
  ! "$run" --wrong a b 2>/dev/null || fail "$run takes any option"
  ! "$run" --picture 2>/dev/null || fail "$run takes an option without a value"
  ! "$run" "$folder/none.nrrd" "$folder/out.nrrd" 2>/dev/null \
    || fail "$run succeeds without its recording"
  ! "$run" --picture "$folder/none.png" "$folder/none.nrrd" \
    "$folder/out.nrrd" 2>/dev/null || fail "$run hides a failure"
done

gst-launch-1.0 -q ndtestsrc pattern=heart noise=2 num-buffers=6 \
  volume-size=20:18:16 ! ndfilesink location="$folder/heart.nrrd"
pipelines/denoise.sh --picture "$folder/heart.png" "$folder/heart.nrrd" \
  "$folder/clean.nrrd" quality=best latency=2
check "$folder/clean.nrrd" 'sizes: 20 18 16 6' 0
check "$folder/heart.png" PNG 1000
pipelines/motion.sh --size 5 --picture "$folder/motion.png" --volume 6 \
  "$folder/heart.nrrd" "$folder/motion.nrrd" sigma=1
check "$folder/motion.nrrd" 'sizes: 4 20 18 16 6' $((4 * 4 * 20 * 18 * 16 * 6))
check "$folder/motion.png" PNG 500

echo=${ND_SHARED:-}/data/greedy_img4d.nii.gz
if [ ! -e "$echo" ]; then
  echo "no recording of a heart in ND_SHARED: not tested with it"
  exit 0
fi
pipelines/denoise.sh --picture "$folder/echo.png" "$echo" "$folder/echo.nrrd" \
  sigma=5
check "$folder/echo.nrrd" 'sizes: 62 53 67 7' 1000
check "$folder/echo.png" PNG 10000
