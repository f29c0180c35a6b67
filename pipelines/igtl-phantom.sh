#!/bin/sh
# A beating heart served by OpenIGTLink, for trying clients without a scanner.
#
#   pipelines/igtl-phantom.sh [PORT [X:Y:Z [RATE]]]
#
# The port is 18944, the size 96:96:96 and the rate 20 volumes a second if not
# given. Ctrl-C ends it.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
case ${1:-} in
  -*) sed -n '2,/^# given/p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
esac
exec gst-launch-1.0 ndtestsrc pattern=heart is-live=true \
  volume-size="${2:-96:96:96}" framerate="${3:-20}/1" \
  ! openigtlinksink port="${1:-18944}" device-name=Heart
