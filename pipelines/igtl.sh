#!/bin/sh
# Live volumes of an OpenIGTLink server, filtered, in a window, in a recording
# and back to OpenIGTLink clients such as 3D Slicer, all at once.
#
#   pipelines/igtl.sh [OPTIONS] HOST
#
#   HOST               the server: PLUS, SUPRA, 3D Slicer, openigtlinksink
#   --port N           port of the server (18944)
#   --device NAME      which images (the first that comes)
#   --filter TEXT      filter of ndconv4dtemporal (gaussian,sigma=1)
#   --serve N          port for clients (18945)
#   --name NAME        name of the images that clients get (ndconv)
#   --any-client       clients of other computers may connect, too
#   --record FILE      records the filtered volumes (.igs.mha, .nrrd, .nii.gz)
#   --no-window        without a window
#   --volumes N        ends after N volumes
#
# Ctrl-C ends it, and completes the recording.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
usage() { sed -n '2,/^# Ctrl-C/p' "$0" | sed 's/^# \{0,1\}//'; }

port=18944 device= filter=gaussian,sigma=1 serve=18945 name=ndconv
bind=localhost record= window=yes volumes=-1 host=
# Each option with a value takes it from the next word.
while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --any-client) bind=0.0.0.0 ;;
    --no-window) window= ;;
    --port|--device|--filter|--serve|--name|--record|--volumes)
      [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; }
      eval "${1#--}=\$2"
      shift ;;
    -*) echo "There is no option $1; see --help" >&2; exit 2 ;;
    *) host=$1 ;;
  esac
  shift
done
[ -n "$host" ] || { usage >&2; exit 2; }

# A branch that is slow drops volumes of its own and delays no other; only the
# recording gets every volume.
set -- openigtlinksrc host="$host" port="$port" num-buffers="$volumes"
[ -z "$device" ] || set -- "$@" device-name="$device"
set -- "$@" ! ndconv4dtemporal filter="$filter" ! tee name=t \
  t. ! queue leaky=downstream max-size-buffers=2 max-size-bytes=0 \
    max-size-time=0 \
  ! openigtlinksink sync=false host="$bind" port="$serve" device-name="$name"
[ -z "$window" ] || set -- "$@" \
  t. ! queue leaky=downstream max-size-buffers=2 max-size-bytes=0 \
    max-size-time=0 \
  ! ndview mode=orthogonal ! videoconvert ! autovideosink sync=false
[ -z "$record" ] || set -- "$@" \
  t. ! queue max-size-buffers=100 max-size-bytes=0 max-size-time=0 \
  ! ndfilesink location="$record"
exec gst-launch-1.0 -e "$@"
