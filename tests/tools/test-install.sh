#!/bin/bash
# The lines that an installation prints make GStreamer, the shell and man find
# the installed files.
#
#   test-install.sh SOURCE FILES_OF_PLUGINS...
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
source=$1
folder=$(mktemp -d)/'a path'
trap 'rm -rf "${folder%/*}"' EXIT
mkdir "$folder"
unset GST_PLUGIN_PATH GST_PLUGIN_PATH_1_0 MANPATH PKG_CONFIG_PATH PYTHONPATH
unset LD_LIBRARY_PATH
export GST_REGISTRY=$folder/registry

mkdir -p "$folder"/{lib/pkgconfig,python,bin,presets,man/man1}
cp "${@:2}" "$folder/lib/"
cp "$source"/presets/*.prs "$folder/presets/"
printf '#!/bin/sh\necho found\n' >"$folder/bin/nd-found"
chmod +x "$folder/bin/nd-found"
printf 'Name: nd-found\nDescription: test\nVersion: 1\n' \
  >"$folder/lib/pkgconfig/nd-found.pc"
echo 'found = True' >"$folder/python/nd_found.py"

say() {
  "$source/scripts/after-install" "$@"
}

said=$(say "$folder"/{lib,bin,man,presets,lib,python})
echo "$said"
! gst-inspect-1.0 ndconv3d >"$folder/log" 2>&1 ||
  { echo "found before"; exit 1; }
eval "$(grep '^ *export' <<<"$said")"
gst-inspect-1.0 ndconv3d >"$folder/log"
[ "$(nd-found)" = found ]
[ "$GST_PRESET_PATH" = "$folder/presets" ]
[ "$MANPATH" = "$folder/man:" ]
[ "$LD_LIBRARY_PATH" = "$folder/lib" ]
[ "$(pkg-config --modversion nd-found)" = 1 ]
python3 -c 'import nd_found'

# A second installation stands before the first one in the same variable.
eval "$(say "$folder"/{other,bin,man,presets,lib} | grep export)"
[ "$GST_PLUGIN_PATH" = "$folder/other:$folder/lib" ]

# In a pipe they come after what Meson prints when it ends.
said=$(MESON_INSTALL_PREFIX=$folder bash -c '"$@" >/dev/null; sleep 0.3
  echo last of Meson' - "$source/scripts/after-install" \
  "$folder"/{lib,bin,man,presets,lib} | cat)
echo "$said"
[ "$(grep -n 'last of Meson' <<<"$said")" = '1:last of Meson' ]
[[ ${said##*$'\n'} == *export* ]]

# Prints nothing if GStreamer and the shell search these folders already.
gstreamer=$(pkg-config --variable=pluginsdir gstreamer-1.0)
libraries=${gstreamer%/gstreamer-1.0}
[ -z "$(say "$gstreamer" "$folder"/{bin,man,presets} "$libraries")" ]
