#!/bin/bash
# Filters recordings, several at a time, into a folder.
#
#   pipelines/batch.sh FILTER RECORDING... FOLDER
#
# FILTER is the filter of ndconv4dtemporal, as "gaussian,sigma=0.6mm". Results
# have the names of the recordings. A recording that cannot be read or filtered
# is skipped; the status is then 1. The variable ELEMENT replaces
# ndconv4dtemporal (it may have properties), READ has properties for ndfilesrc
# (as "volume-size=128:128:1 framerate=20/1"), and JOBS is the number of
# recordings at a time, by default half of the processors.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -uo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,/^$/p' "$0" | grep '^#' >&2
  exit 2
fi
filter=$1 folder=${!#}
recordings=("${@:2:$#-2}")
jobs=${JOBS:-$((($(nproc) + 1) / 2))}
mkdir -p "$folder" || exit 1
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# filter_one NUMBER RECORDING
filter_one() {
  local out=$folder/${2##*/} begin=$SECONDS
  # These are read and not written.
  case $out in *.npz|*.dcm) out=$out.nrrd ;; esac
  if [ "$(realpath -m "$2")" = "$(realpath -m "$out")" ]; then
    echo 'the result would replace the recording' >"$log/$1"
  else
    # ELEMENT and READ may be several words.
    # shellcheck disable=SC2086
    gst-launch-1.0 -q ndfilesrc location="$2" ${READ:-} \
      ! ${ELEMENT:-ndconv4dtemporal} filter="$filter" \
      ! ndfilesink location="$out" >"$log/$1" 2>&1 && touch "$log/$1.done"
  fi
  if [ -f "$log/$1.done" ]; then
    echo "$(($1 + 1)) of ${#recordings[@]}: $out, $((SECONDS - begin)) s"
  else
    echo "$(($1 + 1)) of ${#recordings[@]}: $2 skipped:" \
      "$(grep -m 1 . "$log/$1")" >&2
  fi
}

for i in "${!recordings[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  filter_one "$i" "${recordings[i]}" &
done
wait
done=$(find "$log" -name '*.done' | wc -l)
echo "$done filtered, $((${#recordings[@]} - done)) skipped"
[ "$done" = "${#recordings[@]}" ]
