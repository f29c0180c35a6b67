#!/bin/bash
# pipelines/movie.sh makes a movie with every volume and even sizes, alone and
# side by side; pipelines/batch.sh filters what it can and counts the rest.
#   test-pipelines.sh SOURCE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -uo pipefail
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# expect WHAT EXPECTED FOUND
expect() {
  if [ "$2" != "$3" ]; then
    printf '%s\nexpected: %s\nfound:    %s\n' "$1" "$2" "$3"
    failed=1
  fi
}

gst-launch-1.0 -q ndtestsrc num-buffers=6 volume-size=33:31:29 \
  ! ndfilesink location="$folder/in.nii.gz" || exit 1

if gst-inspect-1.0 --exists vp8enc && gst-inspect-1.0 --exists webmmux; then
  for name in one two; do
    after=
    [ $name = one ] || after=$folder/in.nii.gz
    "$source/pipelines/movie.sh" "$folder/in.nii.gz" ${after:+"$after"} \
      "$folder/$name.webm" orthogonal 10 || failed=1
    caps=$(gst-launch-1.0 -v filesrc location="$folder/$name.webm" ! matroskademux \
      ! fakesink silent=false 2>&1)
    expect "frames of $name" 6 "$(grep -c 'chain.*last-message\|last-message.*chain' \
      <<<"$caps")"
    expect "odd sizes of $name" '' "$(grep -oE \
      '(width|height)=\(int\)[0-9]*[13579],' <<<"$caps" | head -1)"
  done
else
  echo 'vp8enc or webmmux is missing: no movies'
fi
if gst-inspect-1.0 --exists y4menc; then
  "$source/pipelines/movie.sh" "$folder/in.nii.gz" "$folder/x.gif" || failed=1
  expect 'frames of a GIF' 6 "$(LC_ALL=C grep -aoP '!\xf9\x04' "$folder/x.gif" | wc -l)"
fi
"$source/pipelines/movie.sh" "$folder/in.nii.gz" "$folder/x.avi" 2>/dev/null
expect 'unknown movie' 2 $?
"$source/pipelines/movie.sh" "$folder/none.nii" "$folder/x.webm" 2>/dev/null
expect 'no recording' 1 $?

echo text >"$folder/bad.nrrd"
cp "$folder/in.nii.gz" "$folder/second.nii.gz"
printed=$(JOBS=2 "$source/pipelines/batch.sh" box,size=3 \
  "$folder"/{in.nii.gz,bad.nrrd,second.nii.gz} "$folder/out" 2>&1)
expect 'status of batch.sh' 1 $?
expect 'last line of batch.sh' '2 filtered, 1 skipped' "$(tail -1 <<<"$printed")"
expect 'results' 'in.nii.gz second.nii.gz' \
  "$(cd "$folder/out" && echo *)"
grep -q 'bad.nrrd skipped: ..*' <<<"$printed" || expect 'reason' skipped "$printed"
# Frames in raw samples; a file that is read and not written gets another ending.
head -c 600 /dev/zero >"$folder/frames.raw"
printf '%128sDICM' '' >"$folder/bad.dcm"
printed=$(READ='volume-size=10:10:1' "$source/pipelines/batch.sh" box,size=3 \
  "$folder/frames.raw" "$folder/out" 2>&1)
expect 'frames of READ' '1 filtered, 0 skipped' "$(tail -1 <<<"$printed")"
expect 'bytes of READ' 600 "$(stat -c %s "$folder/out/frames.raw")"
printed=$("$source/pipelines/batch.sh" box,size=3 "$folder/bad.dcm" \
  "$folder/out" 2>&1)
grep -q 'bad.dcm skipped: .*is DICOM' <<<"$printed" \
  || expect 'reason of DICOM' 'is DICOM' "$printed"
"$source/pipelines/batch.sh" box,size=3 "$folder/in.nii.gz" "$folder" \
  >/dev/null 2>&1
expect 'status if the result would replace the recording' 1 $?
exit $failed
