#!/bin/bash
# The lines that an installation prints make GStreamer, the shell and man find
# what was installed.
#
#   test-install.sh SOURCE PLUGIN
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
source=$1 plugin=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset GST_PLUGIN_PATH GST_PLUGIN_PATH_1_0 MANPATH
export GST_REGISTRY=$folder/registry

mkdir -p "$folder"/{lib,bin,presets,man/man1}
cp "$plugin" "$folder/lib/"
cp "$source"/presets/*.prs "$folder/presets/"
printf '#!/bin/sh\necho found\n' >"$folder/bin/nd-found"
chmod +x "$folder/bin/nd-found"

say() {
  "$source/scripts/after-install" "$@"
}

said=$(say "$folder"/{lib,bin,man,presets})
echo "$said"
! gst-inspect-1.0 ndconv3d >"$folder/log" 2>&1 ||
  { echo "found before"; exit 1; }
eval "$(grep '^ *export' <<<"$said")"
gst-inspect-1.0 ndconv3d >"$folder/log"
[ "$(nd-found)" = found ]
[ "$GST_PRESET_PATH" = "$folder/presets" ]
[ "$MANPATH" = "$folder/man:" ]

# The same twice stands before what is there.
eval "$(say "$folder"/{other,bin,man,presets} | grep export)"
[ "$GST_PLUGIN_PATH" = "$folder/other:$folder/lib" ]

# Nothing if GStreamer and the shell look there already.
gstreamer=$(pkg-config --variable=pluginsdir gstreamer-1.0)
[ -z "$(say "$gstreamer" "$folder"/{bin,man,presets})" ]
