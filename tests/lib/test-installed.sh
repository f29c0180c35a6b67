#!/bin/bash
# A program is built against the library as it is installed: the header, found
# by pkg-config, in C and in C++, and the soname.
#
#   test-installed.sh SOURCE LIBRARY     in the build folder
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
source=$1 library=$2
build=$(dirname "$(dirname "$library")")
if nm -D "$library" | grep -q '__[at]san_\|__ubsan_'; then
  echo 'skipped: a program without the sanitizer cannot use this library'
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder"/{lib,include}
cp -r "$source/lib/ndconv" "$folder/include/"
cp -P "$(dirname "$library")"/libndconv.so* "$folder/lib/" 2>/dev/null ||
  cp "$library" "$folder/lib/"
sed "s|^prefix=.*|prefix=$folder|; s|^libdir=.*|libdir=$folder/lib|
  s|^includedir=.*|includedir=$folder/include|" \
  "$build/meson-private/ndconv.pc" >"$folder/ndconv.pc"
export PKG_CONFIG_PATH=$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
flags() {
  pkg-config "$@" ndconv
}
[ "$(flags --modversion)" = "$(sed -n "s/.*version: '\([0-9.]*\)',/\1/p" \
  "$source/meson.build" | head -1)" ]
flags --print-requires | grep -q glib
cc=${CC:-cc}
# shellcheck disable=SC2046,SC2086
$cc -Wall -Werror -o "$folder/program" "$source/pipelines/library.c" \
  $(flags --cflags --libs) -lm
LD_LIBRARY_PATH=$folder/lib NDCONV_CUDA_MODULE=none "$folder/program"
readelf -d "$folder/program" | grep -q 'libndconv\.so\.0'
if command -v c++ >/dev/null; then
  # shellcheck disable=SC2046
  printf '#include <ndconv/ndconv.h>\nint main () { return nd_version () == 0; }\n' |
    c++ -x c++ -Wall -Werror -o "$folder/program" - $(flags --cflags --libs)
fi
