#!/bin/bash
# Another project that uses Meson has this one as a subproject: it finds the
# library by dependency('ndconv') and builds what it links.
#
#   test-subproject.sh SOURCE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/subprojects"
ln -s "$source" "$folder/subprojects/ndconv"
cp "$source/pipelines/library.c" "$folder"
cat >"$folder/meson.build" <<'EOF'
project('application', 'c')
ndconv = dependency('ndconv', fallback: 'ndconv',
  default_options: ['cuda=disabled', 'tests=false', 'python=disabled', 'web=disabled'])
executable('application', 'library.c',
  dependencies: [ndconv, meson.get_compiler('c').find_library('m')])
EOF

unset PKG_CONFIG_PATH
# Only the subproject counts, also where ndconv is installed.
meson setup --force-fallback-for=ndconv "$folder/build" "$folder" \
  >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
# The application's own file compiles; to build the library takes too long here.
ninja -C "$folder/build" application.p/library.c.o >"$folder/log" 2>&1 \
  || { cat "$folder/log"; exit 1; }
commands=$(ninja -C "$folder/build" -t commands application)
for part in subprojects/ndconv/lib/libndconv.so subprojects/ndconv/cpu/; do
  [[ $commands == *"$part"* ]] || { echo "$part is not built"; exit 1; }
done
