#!/bin/bash
# What a newcomer does, in a fresh system that scripts/bare has made. Root runs
# it; the checkout is that of the user `person`, who may use sudo. The user
# `guest` may not.
#
#   newcomer.sh short|readme|situations|web
#
# Prints a line for each check, with its seconds and those of its processors,
# and the output of those that failed.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -uo pipefail
home=/srv/person checkout=/srv/person/ndconv
logs=$(mktemp -d)
unset DISPLAY WAYLAND_DISPLAY

# check NAME COMMAND...: a COMMAND that fails, or takes 40 minutes, failed.
check() {
  local name=$1 begun=$SECONDS log=$logs/log cpu status; shift
  TIMEFORMAT='%U %S'
  cpu=$({ time { (set -e; "$@") >"$log" 2>&1 </dev/null; }; } 2>&1)
  status=$?
  cpu=$(awk '{ printf "%.0f", $1 + $2 }' <<<"$cpu")
  if [ $status = 0 ]; then
    echo "ok $name ($((SECONDS - begun)) s, $cpu s of processors)"
  else
    echo "FAILED $name (status $status)"
    tail -n 60 "$log" | sed 's/^/    /'
  fi
  # Times that a check measured.
  grep '^-- ' "$log" || true
  mv "$log" "$logs/$(tr -c 'a-z0-9\n' - <<<"$name").log"
}
as() {
  local user=$1; shift
  (cd "/srv/$user" && timeout 2400 runuser -u "$user" -- \
    env HOME="/srv/$user" USER="$user" bash -e "$@")
}
person() { as person -c "cd $checkout; $1"; }
fail() { echo "$*"; exit 1; }
# refused STATUS WORDS COMMAND...: it ends with STATUS and says WORDS.
refused() {
  local want=$1 words=$2 said status=0; shift 2
  said=$("$@" 2>&1) || status=$?
  echo "$said"
  [ $status = "$want" ] || fail "status $status, not $want"
  grep -qF -e "$words" <<<"$said" || fail "does not say: $words"
}

# Options that do not exist are refused before anything is installed.
options() {
  local script
  for script in setup demo; do
    refused 2 '--web' person "scripts/$script --nonsense"
    refused 2 'nonsense' person "scripts/$script --nonsense"
    person "scripts/$script --help" | grep -q -e '--web'
  done
  refused 2 'scripts/demo does not know' person 'scripts/demo a b'
  # A fresh system has no Python either.
  ! command -v meson python3
}
# Without the right to install, the command is named.
without_right() {
  refused 1 'apt-get install --yes --no-install-recommends gcc' \
    as guest -c "$checkout/scripts/setup"
  # Nor is there sudo.
  mv /usr/bin/sudo /usr/bin/sudo-away
  trap 'mv /usr/bin/sudo-away /usr/bin/sudo' EXIT
  refused 1 'has the right to run' as guest -c "$checkout/scripts/setup"
}
allow_guest() { chmod a+rx "$home"; }
# An installation that was interrupted is completed by the next.
interrupted_setup() {
  person 'timeout --signal=INT 15 scripts/setup' && fail "not interrupted"
  person 'scripts/setup'
  person 'scripts/setup' >"$logs/again"
  [ ! -s "$logs/again" ] || fail "it installs again: $(cat "$logs/again")"
}
setup() { person 'scripts/setup'; }

pictures() {
  local name
  for name in before.png after.png before-after.png; do
    [ "$(stat -c %s "$1/$name")" -gt 4000 ]
  done
}
demo() {
  local begun=$SECONDS
  person scripts/demo | tee "$logs/demo"
  pictures $checkout/demo
  ! grep 'warning:' "$logs/demo" || fail "the compiler warns"
  echo "-- scripts/demo took $((SECONDS - begun)) s after its packages"
}
# page SAID: the page at the address that the server printed into the file SAID.
page() {
  python3 -c 'import re, sys, urllib.request as u
address = re.search(r"http://localhost:[0-9]+/\S*", open(sys.argv[1]).read())[0]
text = u.urlopen(address, timeout=5).read().decode()
assert "<html" in text and "ndconv" in text' "$1" 2>/dev/null
}
# served COMMAND: runs until its page was fetched, then gets Ctrl-C.
served() {
  local server process end=$((SECONDS + 900)) said
  said=$(mktemp)
  eval "$1" >"$said" 2>&1 &
  server=$!
  until page "$said" || [ $SECONDS -gt $end ] || ! kill -0 $server 2>/dev/null
  do
    sleep 1
  done
  page "$said" || { cat "$said"; echo "there is no page"; return 1; }
  cat "$said"
  for process in /proc/[0-9]*; do
    [ "$(cat "$process/comm" 2>/dev/null)" != ndconv-web ] ||
      kill -INT "${process#/proc/}"
  done
  wait $server || [ $? = 130 ]
}
web() { served "person 'exec scripts/demo --web'"; }

installed=$home/installed
# The lines that the installation prints, last also in a pipe, are enough for a
# shell that knows nothing.
install() {
  local lines=$logs/exports
  person "meson configure build --prefix=$installed"
  # Whose pipe it is: /proc gives it to nobody else.
  person "meson install -C build 2>&1 | tee $home/install.log"
  cp "$home/install.log" "$logs/install"
  tail -n 3 "$logs/install" | grep -q '^ *export ' ||
    fail 'the export lines are not the last'
  grep '^ *export ' "$logs/install" >"$lines"
  chmod a+r "$lines"; chmod a+rx "$logs"
  as person -c ". $lines
    gst-inspect-1.0 ndconv4dtemporal | grep -q Factory
    ndconv-filter list | grep -q gaussian
    ndconv-run --help | grep -q Usage -i
    gst-launch-1.0 -q ndtestsrc num-buffers=2 ! ndconv3d filter=box,size=3 ! fakesink"
}
uninstall() {
  if python3 -c 'import numpy' 2>/dev/null; then
    as person -c ". $logs/exports; python3 -c 'import ndconv'"
  fi
  person 'ninja -C build uninstall'
  [ -z "$(find $installed ! -type d)" ] ||
    fail "left: $(find $installed ! -type d)"
}

# pip alone: the wheel needs neither GStreamer nor the demo.
pip() {
  person 'sudo apt-get install --yes --no-install-recommends python3-venv
    python3 -m venv ~/only
    # Without the index nothing can be tried; that says nothing of the checkout.
    ~/only/bin/pip download --quiet --no-deps --dest ~/index ninja || {
      echo "-- pip does not reach an index of packages: it was not tried"
      exit 0; }
    ~/only/bin/pip install . 2>&1 | tee ~/pip.log
    ! grep -i "dependency conflicts" ~/pip.log || exit 1
    ~/only/bin/python -c "import ndconv, numpy
stream = numpy.ones((3, 4, 5, 6), numpy.float32)
assert abs(ndconv.convolve(stream, \"box,size=3\") - 1).max() < 1e-5"'
}

readme() {
  {
    cat <<'EOF'
set +e
failures=0
judge() {
  if [ "$2" = 0 ]; then echo "  ok $1"; else echo "  FAILED $1: status $2"
  cat ~/said; failures=$((failures + 1)); fi
}
run() {
  eval "$1" >~/said 2>&1 </dev/null; judge "$1" $?
  ! grep -E 'CRITICAL|\*\*: ' ~/said || failures=$((failures + 1))
}
python() { cat >~/lines.py; python3 ~/lines.py >~/said 2>&1; judge "python" $?; }
refused() {
  eval "$1" >~/said 2>&1 </dev/null; local status=$?
  [ $status != 0 ] && grep -qF -e "$2" ~/said; judge "refused: $1" $?
}
serve() { served "$1" >~/said 2>&1 </dev/null; judge "$1" $?; }
cd ~/ndconv
EOF
    declare -f page served
    cat "$home/readme.sh"
    # shellcheck disable=SC2016
    echo 'echo "failures: $failures"; [ "$failures" = 0 ]'
  } >"$logs/readme.sh"
  chmod -R a+rX "$logs"
  as person "$logs/readme.sh"
  pictures $checkout/demo
}

case ${1:-} in
  short)
    check options options
    check 'packages' setup
    check 'scripts/demo' demo
    check 'scripts/demo --web' web
    check 'pip install' pip
    check 'meson install' install
    check 'ninja uninstall' uninstall
    ;;
  readme)
    check options options
    allow_guest
    check 'without the right to install' without_right
    check 'interrupted, and again' interrupted_setup
    check 'README, line by line' readme
    check 'scripts/demo again' demo
    check 'meson install' install
    check 'ninja uninstall' uninstall
    ;;
  situations)
    allow_guest
    check 'packages' setup
    check 'scripts/demo' demo
    . "$checkout/tests/bare/situations.sh"
    ;;
  web)
    check 'scripts/demo --web at first' web
    check 'scripts/demo after it' demo
    check 'pip install' pip
    ;;
  *) sed -n '2,/^# SPDX/p' "$0" | grep -v SPDX >&2; exit 2 ;;
esac
echo "== end"
