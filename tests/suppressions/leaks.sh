#!/bin/sh
# Runs a test with AddressSanitizer under GStreamer's leaks tracer. Objects that
# are alive when GStreamer ends make it fail.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
log=$(mktemp)
said=$(mktemp)
trap 'rm -f "$log" "$said"' EXIT
options=$ASAN_OPTIONS

# The stack of each allocation by the compiler's tables takes ten times as long
# as by frame pointers, which GLib does not have. lsan.supp needs it.
export GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_FILE="$log"
export GST_DEBUG_NO_COLOR=1 ASAN_OPTIONS="$options:fast_unwind_on_malloc=1"
export LSAN_OPTIONS="$LSAN_OPTIONS:exitcode=23"
"$@" 2>"$said"
status=$?
if [ $status = 23 ]; then
  # Memory leaked: is all of it known?
  export ASAN_OPTIONS="$options:fast_unwind_on_malloc=0"
  export LSAN_OPTIONS="$LSAN_OPTIONS:print_suppressions=1"
  cat "$said" >&2
  # The run that makes GStreamer's registry may have so many more quarks that
  # GLib leaks its first table of them, and this one may not.
  grep -q ' 16384 byte(s) leaked in 1 allocation' "$said" && quarks=true
  "$@" 2>"$said"
  status=$?
  if [ $status = 0 ] && [ -z "${quarks:-}" ] &&
      ! grep -q '^Suppressions used' "$said"; then
    echo "the memory above leaked in one of two runs" >&2
    status=1
  fi
fi
cat "$said" >&2
# The tracer also logs the format of its records, with %s for values.
if grep -a 'object-alive, ' "$log" | grep -v '(string)%s' >&2; then
  echo "the objects above leaked" >&2
  exit 1
fi
exit $status
