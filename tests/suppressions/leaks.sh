#!/bin/sh
# Runs a test under GStreamer's leaks tracer. Objects that are alive when
# GStreamer ends make it fail.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
log=$(mktemp)
trap 'rm -f "$log"' EXIT
GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_FILE=$log \
  GST_DEBUG_NO_COLOR=1 "$@"
status=$?
# The tracer also logs the format of its records, with %s for values.
if grep -a 'object-alive, ' "$log" | grep -v '(string)%s' >&2; then
  echo "the objects above leaked" >&2
  exit 1
fi
exit $status
