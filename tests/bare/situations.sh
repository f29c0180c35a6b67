# Machines that are not as the first one: each situation has a clear answer.
# tests/bare/newcomer.sh reads this file with the packages of scripts/demo
# installed and its build folder in the checkout.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
# shellcheck shell=bash

# demo_at FOLDER [VARIABLES...]: with the build of the checkout, so that it
# compiles nothing.
demo_at() {
  local out=$1; shift
  as person -c "cd $checkout; env $* scripts/demo '$out'"
  pictures "$out"
}

spaces() {
  rm -rf "$home/a path"
  as person -c "cp -r $checkout '$home/a path'; cd '$home/a path'; rm -rf build demo
    scripts/demo"
  pictures "$home/a path/demo"
  as person -c "cd '$home/a path'; meson configure build --prefix='$home/in stalled'
    meson install -C build | tee ~/spaces.log"
  grep '^ *export ' "$home/spaces.log" >"$logs/spaces.sh"
  chmod -R a+rX "$logs"
  as person -c ". $logs/spaces.sh
    gst-inspect-1.0 ndconv3d | grep -q Factory; ndconv-filter list"
  rm -rf "$home/a path" "$home/in stalled"
}

# Its packages are there: nothing asks for a password.
guest_builds() {
  as guest -c "cp -r $checkout ~/ndconv; cd ~/ndconv; rm -rf build demo
    scripts/demo"
  pictures /srv/guest/ndconv/demo
  rm -rf /srv/guest/ndconv
}

clang_builds() {
  apt-get install --yes --no-install-recommends clang
  person 'ND_BUILD=build-clang CC=clang scripts/demo ~/clang'
  pictures "$home/clang"
  grep -q '^ *command = clang' "$checkout/build-clang/build.ninja"
}

locked_home() {
  mkdir -p /srv/locked
  demo_at "$home/locked" HOME=/srv/locked
  [ -z "$(ls -A /srv/locked)" ]
}

decimal_commas() {
  apt-get install --yes --no-install-recommends locales
  localedef -i de_DE -f UTF-8 de_DE.UTF-8
  [ "$(LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 1,5')" = 1,5 ] ||
    fail "not the locale"
  demo_at "$home/commas" LC_ALL=de_DE.UTF-8
  person 'LC_ALL=de_DE.UTF-8 build/tools/ndconv-filter describe gaussian,sigma=1.5' \
    >"$logs/german"
  person 'build/tools/ndconv-filter describe gaussian,sigma=1.5' >"$logs/plain"
  diff "$logs/german" "$logs/plain"
}

# Killed in the middle of the set-up, interrupted while it sets up, compiles and
# filters, then run to the end.
interrupted() {
  local seconds
  rm -rf "$checkout/build-cut" "$home/cut"
  person 'timeout --signal=KILL 3 meson setup build-cut' || true
  for seconds in 1 4 15; do
    person "export ND_BUILD=build-cut
      timeout --signal=INT --kill-after=20 $seconds scripts/demo ~/cut" || true
  done
  person 'ND_BUILD=build-cut scripts/demo ~/cut'
  pictures "$home/cut"
}

# A build folder of an earlier version, where the history has one.
old_folder() {
  # Earlier versions could not be set up without these.
  mkdir /usr/include/openigtlink
  apt-get install --yes -qq --no-install-recommends libkissfft-dev
  as person -c "git clone --quiet $checkout ~/old; cd ~/old
    git checkout --quiet HEAD~60
    meson setup build --buildtype=release
    ninja -C build pipelines/live
    git checkout --quiet -
    sudo rmdir /usr/include/openigtlink
    scripts/demo"
  pictures "$home/old/demo"
  rm -rf "$home/old"
}

# small_disk FOLDER MIB: a mount that ends with this shell's namespace
small_disk() {
  mkdir -p "$1"
  mount -t tmpfs -o "size=$2m" none "$1"
  chown person: "$1"
}
full_disk() {
  small_disk "$home/small" 4
  refused 1 'No space left on device' \
    person "ND_BUILD=$home/small/build scripts/demo"
  refused 1 'No space left on device' person "scripts/demo ~/small"
  umount "$home/small"
}

no_network() {
  unshare --net bash -c "$(declare -f as person demo_at pictures)
    home=$home checkout=$checkout
    demo_at $home/offline"
}

no_numpy() {
  local run packages libraries
  ! python3 -c 'import numpy'
  person "PYTHONPATH= DESTDIR=$home/dest meson install -C build"
  run=$(find "$home/dest" -name ndconv-run -type f | grep bin/)
  packages=$(find "$home/dest" -type d -name ndconv -path '*python*' -printf '%h\n')
  libraries=$(find "$home/dest" -name libndconv.so.0 -printf '%h\n')
  as person -c "PYTHONPATH=$packages LD_LIBRARY_PATH=$libraries $run --help"
  # The library is not where the loader looks.
  refused 1 'NDCONV_LIBRARY' as person -c "PYTHONPATH=$packages $run --help"
}

# What CONTRIBUTING says, with the tests but without their packages.
tests_configure() {
  person 'meson setup build-test --buildtype=release -Dwerror=true'
  # Nor do options of the demo forbid them.
  person 'meson setup build-host -Dkernels=host'
}

check 'a path with spaces' spaces
check 'packages are there, no right to install' guest_builds
check 'CC=clang' clang_builds
check 'a home that cannot be written' locked_home
check 'a locale with decimal commas' decimal_commas
check 'interrupted in the middle, and again' interrupted
check 'a build folder of an old version' old_folder
check 'a full disk' full_disk
check 'no network' no_network
check 'ndconv-run --help without NumPy' no_numpy
check 'the tests are configured without their packages' tests_configure
