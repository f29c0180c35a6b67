#!/bin/bash
# With a GPU and nvcc, which are doubles here, scripts/demo sets up a build for
# that GPU alone; without either, one with the defaults.
#
#   tests/readme/test-demo-gpu.sh SOURCE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$1/scripts" "$folder/"
double() {
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
printf '#!/bin/sh\n' >"$folder/scripts/setup"

# setup_with NAME LINES: the options of the build folder
setup_with() {
  rm -rf "$folder/bin"
  mkdir "$folder/bin"
  double meson "echo \"\$@\" >>$folder/meson.log; exit 7"
  "$@"
  : >"$folder/meson.log"
  PATH=$folder/bin:$PATH ND_BUILD=$folder/build "$folder/scripts/demo" \
    "$folder/out" >/dev/null 2>&1 && exit 1
  cat "$folder/meson.log"
}
both() { double nvcc ''; double nvidia-smi 'printf "9.0\n7.0\n8.6\n9.0\n"'; }
old() { double nvcc ''; double nvidia-smi 'echo 6.1'; }
broken() { double nvcc ''; double nvidia-smi 'echo "no devices were found"; exit 9'; }
plain="setup $folder/build -Dkernels=host -Doptimization=1 -Dtests=false"

check() {
  [ "$1" = "$2" ] || { echo "have: $1"; echo "want: $2"; exit 1; }
}
check "$(setup_with both)" "$plain -Dcuda=enabled -Dcuda-architectures=86,90"
check "$(setup_with old)" "$plain"
check "$(setup_with broken)" "$plain"
