#!/bin/bash
# Runs pipelines with the elements under gst-validate, which wraps the functions
# of their pads and checks each event, query and buffer. Skipped where
# gst-validate is not installed.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
if ! command -v gst-validate-1.0 >/dev/null; then
  echo "gst-validate-1.0 is not installed: nothing is tested"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/seeks.scenario" <<'END'
description, duration=20.0, handles-states=true
pause
seek, playback-time=0.0, start=0.4, flags=accurate+flush
play
seek, playback-time=0.5, start=0.1, flags=accurate+flush
eos, playback-time=0.8
END
source="ndtestsrc pattern=noise num-buffers=30 framerate=20/1 volume-size=8:8:8"
gst-launch-1.0 -q $source ! ndfilesink location="$folder/r.nrrd"

# check PIPELINE...: without criticals, from the first to the last volume and
# with seeks.
check() {
  local scenario
  for scenario in "" "$folder/seeks.scenario"; do
    echo "$* ($([ -z "$scenario" ] || echo seeks))"
    timeout 60 gst-validate-1.0 ${scenario:+--set-scenario="$scenario"} \
      "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
    if grep -q '^ *critical :' "$folder/log"; then
      cat "$folder/log"
      exit 1
    fi
  done
}
for element in 'ndconv2d filter=box,size=3' 'ndconv3d filter=box,size=3' \
    'ndconv4dtemporal filter=box,size=3' 'nddenoise sigma=4' \
    'ndrank footprint=3:3' ndregister ndbmode 'ndscanconvert geometry=linear' \
    'ndview mode=orthogonal'; do
  check ndfilesrc location="$folder/r.nrrd" ! $element ! fakesink sync=true
done
check filesrc location="$folder/r.nrrd" ! nddemux ! fakesink sync=true
