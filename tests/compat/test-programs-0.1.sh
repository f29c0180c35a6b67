#!/bin/bash
# The two programs of version 0.1 run with the plugin of today, without a change.
#   test-programs-0.1.sh EMBED LIVE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The output of embed with the plugin of version 0.1. The last column may differ
# by the rounding of another method.
cat > "$folder/expected" <<'END'
seed 1
0:00:00.000000000  noise 11.59 -> 1.58
0:00:00.050000000  noise 11.54 -> 1.19
0:00:00.100000000  noise 11.59 -> 1.16
0:00:00.150000000  noise 11.53 -> 1.12
0:00:00.200000000  noise 11.61 -> 1.10
0:00:00.250000000  noise 11.54 -> 1.08
0:00:00.300000000  noise 11.57 -> 1.06
0:00:00.350000000  noise 11.55 -> 1.11
0:00:00.400000000  noise 11.54 -> 1.14
0:00:00.450000000  noise 11.51 -> 1.10
0:00:00.500000000  noise 11.56 -> 1.15
0:00:00.550000000  noise 11.49 -> 1.45
END
"$1" > "$folder/printed"
paste -d ' ' "$folder/expected" "$folder/printed" | awk '
  NF == 4 && $2 == $4 { next }
  NF == 10 && $1 == $6 && $3 == $8 && ($5 - $10) ^ 2 < 0.015 ^ 2 { next }
  { print "expected and printed:", $0; bad = 1 }
  END { exit bad }'

"$2" "$folder" 6 | tee "$folder/live"
for line in '^volumes  *6 in, 6 out, ' '^computing ' '^back end, method ' \
  '^memory of the ring ' '^age at the output ' '^latency reported '; do
  grep -q "$line" "$folder/live" || { echo "live did not print: $line"; exit 1; }
done
for name in before after; do
  gzip -t "$folder/$name.nii.gz"
done
