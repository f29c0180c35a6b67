#!/bin/bash
# test-debugging.sh SOURCES: docs/debugging.md names the categories of the log
# that the plugin registers, and no others; and each of them has messages.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -eu
cd "$1"

documented=$(grep '^| `nd' docs/debugging.md | cut -d'|' -f2 \
  | grep -o 'nd[a-z]*' | sort)
rooms=$(grep -o '{ "nd[a-z]*"' gst/base/gstndlog.c | grep -o 'nd[a-z]*')
registered=$({ echo "$rooms"
  cat gst/*.c gst/*/*.c | tr '\n' ' ' \
    | grep -o 'CATEGORY_INIT ([a-z_]*, *"nd[a-z]*"' | grep -o 'nd[a-z]*"' \
    | tr -d '"'; } | sort)
diff <(echo "$documented") <(echo "$registered")
for room in $rooms; do
  folder=${room#nd}
  if ! grep -rqE 'ND_(WARNING|INFO|DEBUG|LOG) \(' "$folder" \
      || ! grep -q "ND_LOG_CATEGORY=\"$room\"" "$folder/meson.build"; then
    echo "$room has no messages"
    exit 1
  fi
done
