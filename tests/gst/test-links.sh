#!/bin/bash
# Lists the libraries that the plugins load, and fails if one belongs to a window
# system or to a GPU: a container with a filter needs none of them. Only ndfile
# may link parsers, only openigtlink sockets, and no function may stand in two
# of these files, because it would have two states.
#
#   test-links.sh SHARED_LIBRARY PLUGIN...
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
parsers='libtiff|libopenjp2|libcharls|libjpeg|libzstd|libblosc|libjson|libisal|libz\.'
base=$1

fail() {
  echo "$1"
  exit 1
}

for file; do
  loaded=$(ldd "$file")
  needed=$(readelf -d "$file" | grep NEEDED)
  printf '%s:\n%s\n' "$file" "$loaded"
  grep -q libgstreamer-1.0 <<<"$loaded" ||
    fail "ldd does not say which libraries $file loads"
  ! grep -E 'libgstcuda|libcuda|libX11|libxcb|libGL|libEGL|libwayland' \
    <<<"$loaded" || fail "$file loads them"
  case $file in
    */libgstndfile.so) ;;
    */libgstopenigtlink.so) ! grep -E "$parsers" <<<"$needed" ;;
    *) ! grep -E "$parsers|libgio|libsoup" <<<"$needed" ;;
  esac || fail "$file needs them"
  ! grep -E ' (socket|connect|getaddrinfo|inflate)(@|$)' \
    <<<"$(nm -D --undefined-only "$file")" ||
    case $file in
      */libgstndfile.so | */libgstopenigtlink.so) ;;
      *) fail "$file calls them" ;;
    esac
done

functions() {
  nm "$1" 2>/dev/null | awk '$2 == "T" || $2 == "t" { print $3 }' |
    grep -E '^(gst_)?nd_.*[a-z]$' | sort -u
}
twice=$(for file; do functions "$file"; done | sort | uniq -d)
# Static functions of one name that different files have.
[ -z "$(comm -12 <(nm -D --defined-only "$base" | awk '{print $3}' | sort) \
  <(sort <<<"$twice"))" ] || fail "in two files: $twice"
