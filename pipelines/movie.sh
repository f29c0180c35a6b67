#!/bin/sh
# Makes a movie of a recording, or of two recordings side by side.
#
#   pipelines/movie.sh RECORDING [AFTER] MOVIE.{mp4,webm,gif} [MODE] [RATE]
#
# MODE is a mode of ndview, by default orthogonal for volumes; RATE is in volumes
# per second, by default that of the recording. The variables WINDOW and LEVEL
# set the properties of ndview for both pictures; otherwise each has its own
# range. GIF movies are in shades of grey. The variable READ has properties for ndfilesrc, as
# "volume-size=128:128:1" for frames in a file that does not say so.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
usage() { sed -n '2,/^$/p' "$0" | grep '^#' >&2; exit 2; }
is_movie() { case $1 in *.mp4|*.webm|*.gif) ;; *) return 1 ;; esac; }

# first ELEMENTS...: the first that is installed.
first() {
  for element; do
    gst-inspect-1.0 --exists "${element%% *}" && echo "$element" && return
  done
  echo "movie.sh: none of these elements is installed: $*" >&2
  exit 1
}

[ $# -ge 2 ] || usage
before=$1 after=
shift
if ! is_movie "$1"; then after=$1; shift; fi
[ $# -ge 1 ] && is_movie "$1" || usage
movie=$1 mode=${2:-orthogonal} rate=${3:-0}
for file in "$before" ${after:+"$after"}; do
  [ -f "$file" ] || { echo "movie.sh: there is no file $file" >&2; exit 1; }
done
case $movie in
  *.mp4) encode=$(first 'x264enc tune=stillimage' openh264enc) || exit
    encode="$encode ! h264parse ! $(first mp4mux)" || exit ;;
  *.webm) encode=$(first 'vp9enc deadline=1 cpu-used=4' 'vp8enc deadline=1') \
      || exit
    encode="$encode ! $(first webmmux)" || exit ;;
  *.gif)
    # gif.py reads the luma; 1:4:0:0 gives it all 256 levels.
    encode="video/x-raw,format=I420,colorimetry=1:4:0:0 ! $(first y4menc)" \
      || exit ;;
esac
# In a folder of its own, so that no link of that name is followed.
folder=$(mktemp -d "$(dirname -- "$movie")/.movie.XXXXXX") || exit
trap 'rm -rf "$folder"' EXIT
out=$folder/movie

# Encoders need even sizes; the range has only even numbers.
even='videoconvert ! videoscale ! video/x-raw,width=[2,8192,2],height=[2,8192,2],pixel-aspect-ratio=1/1'
view="ndview mode=$mode window=${WINDOW:-0} level=${LEVEL:-0}"
# The words of $view, $even and $encode are elements.
# shellcheck disable=SC2086
if [ -z "$after" ]; then
  gst-launch-1.0 -q ndfilesrc location="$before" framerate="$rate" ${READ:-} \
    ! $view ! $even ! videoconvert ! $encode ! filesink location="$out" || exit
else
  half='videoconvert ! videoscale add-borders=true ! video/x-raw,width=400,height=400,pixel-aspect-ratio=1/1'
  # shellcheck disable=SC2086
  gst-launch-1.0 -q \
    ndfilesrc location="$before" framerate="$rate" ${READ:-} ! $view ! $half ! both. \
    ndfilesrc location="$after" framerate="$rate" ${READ:-} ! $view ! $half ! both. \
    compositor name=both sink_1::xpos=400 ! videoconvert ! $encode \
    ! filesink location="$out" || exit
fi
case $movie in
  *.gif) "${0%/*}/gif.py" "$out" "$folder/gif" && out=$folder/gif || exit ;;
esac
mv -T -- "$out" "$movie"
