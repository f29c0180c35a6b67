#!/bin/bash
# Runs scripts/demo in an existing build and checks the files it writes.
#
#   tests/readme/test-demo.sh SOURCE BUILD
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

output=$(ND_BUILD=$2 "$1/scripts/demo" "$folder/out" </dev/null 2>&1) || {
  printf '%s\n' "$output"
  exit 1
}
printf '%s\n' "$output"
for words in '^volumes .* 100 in, 100 out' '^back end, method ' \
    '^latency reported ' '^memory of the ring '; do
  grep -q "$words" <<<"$output" || { echo "missing in the output: $words"; exit 1; }
done
for name in before.nii.gz after.nii.gz; do
  gzip -t "$folder/out/$name"
done
for name in before.png after.png before-after.png; do
  [ "$(head -c 8 "$folder/out/$name" | tail -c 7 | head -c 3)" = PNG ]
  # An empty picture would be smaller.
  [ "$(stat -c %s "$folder/out/$name")" -gt 4000 ]
done
cmp -s "$folder/out/before.png" "$folder/out/after.png" && exit 1
exit 0
