#!/bin/bash
# The library exports the functions that lib/symbols lists, which are those that
# its header declares, and nothing else. It is hardened.
#
#   test-symbols.sh LIBRARY SOURCE
#
# A function may be added to lib/symbols. One that is removed or changed breaks
# programs: that needs another soname.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
library=$1 source=$2
export LC_ALL=C

exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
# Sanitizers and coverage add symbols of their own.
exported=$(grep -vE '^(__|_fini$|_init$|llvm_|lprof)' <<<"$exported")
declared=$(tr '\n' ' ' <"$source/lib/ndconv/ndconv.h" |
  grep -oE 'ND_API [^;]*;' | grep -oE 'nd_[a-z_]+ \(' | tr -d ' (' | sort)
diff <(echo "$exported") "$source/lib/symbols" ||
  { echo "exported (<), but lib/symbols lists (>)"; exit 1; }
diff <(echo "$declared") "$source/lib/symbols" ||
  { echo "declared (<), but lib/symbols lists (>)"; exit 1; }
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = libndconv.so.0 ] || { echo "soname $soname"; exit 1; }
! readelf -d "$library" | grep -i 'NEEDED.*gst' ||
  { echo "the library needs GStreamer"; exit 1; }
# Hardening. A sanitizer has checks of its own.
readelf -d "$library" | grep BIND_NOW >/dev/null || { echo "not bound now"; exit 1; }
readelf -lW "$library" | grep GNU_RELRO >/dev/null || { echo "no RELRO"; exit 1; }
undefined=$(nm -D --undefined-only "$library")
[[ $undefined =~ __(a|t|ub)san_ || $undefined == *__stack_chk_fail* ]] \
  || { echo "the stack is not protected"; exit 1; }
echo "$(wc -l <"$source/lib/symbols") functions, $soname"
