#!/bin/bash
# pipelines/igtl.sh between a phantom and a client, and openigtlinksrc and
# openigtlinksink on two hosts: network namespaces joined by a cable.
#
#   tests/gst/test-igtl.sh SOURCE
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -euo pipefail
cd "$1"
folder=$(mktemp -d)
# Ends what this test started, and nothing else.
pids=()
finish() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
fail() { echo "$*" >&2; cat "$folder"/*.log >&2; exit 1; }

pipelines/igtl.sh --help | grep -q -- '--record FILE' || fail 'no --help'
! pipelines/igtl.sh 2>/dev/null || fail 'runs without a host'
! pipelines/igtl.sh --wrong host 2>/dev/null || fail 'takes any option'

# Ports that are free now.
read -r phantom serve < <(python3 - <<'END'
import socket
a, b = socket.socket(), socket.socket()
a.bind(('127.0.0.1', 0)), b.bind(('127.0.0.1', 0))
print(a.getsockname()[1], b.getsockname()[1])
END
)
pipelines/igtl-phantom.sh "$phantom" 24:20:16 20 >"$folder/phantom.log" 2>&1 &
pids+=($!)
gst-launch-1.0 -q openigtlinksrc port="$serve" num-buffers=5 policy=every \
  ! ndfilesink location="$folder/client.mha" >"$folder/client.log" 2>&1 &
client=$!
pids+=("$client")
timeout 300 pipelines/igtl.sh --port "$phantom" --serve "$serve" --no-window \
  --filter gaussian,sigma=0.8,size=3 --record "$folder/live.igs.mha" \
  --volumes 80 localhost >"$folder/igtl.log" 2>&1 || fail 'igtl.sh failed'
wait "$client" || fail 'the client failed'
grep -aq 'DimSize = 24 20 16 80' "$folder/live.igs.mha" \
  || fail 'the recording is not whole'
grep -aq 'DimSize = 24 20 16 5' "$folder/client.mha" \
  || fail 'the client did not get its volumes'
kill "${pids[0]}"
echo "igtl.sh: 80 volumes recorded, 5 sent back"

# Two hosts. This needs user namespaces and the program ip.
if ! command -v ip >/dev/null || ! unshare -Urn true 2>/dev/null; then
  echo "without network namespaces: not tested with two hosts"
  exit 0
fi
cat >"$folder/hosts.sh" <<'END'
set -e
# start_host: another host, 10.77.0.2, at the end of a cable from this one.
start_host() {
  unshare -n sleep 900 &
  other=$!
  for i in $(seq 100); do
    [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/$$/ns/net)" ] || break
    sleep 0.05
  done
  ip link add ndhere type veth peer name ndthere netns $other
  ip addr add 10.77.0.1/24 dev ndhere
  ip link set ndhere up
  nsenter -t $other -n sh -c \
    'ip addr add 10.77.0.2/24 dev ndthere; ip link set ndthere up; ip link set lo up'
}
# serve SIZE RATE N: N volumes from the other host
serve() {
  nsenter -t $other -n gst-launch-1.0 -q ndtestsrc pattern=ramp is-live=true \
    volume-size="$1" framerate="$2/1" num-buffers="$3" \
    ! openigtlinksink host=10.77.0.2 &
  server=$!
}
trap 'kill $server $other' EXIT
start_host
serve 64:64:64 50 500
timeout 300 gst-launch-1.0 -q openigtlinksrc host=10.77.0.2 reconnect=0 \
  policy=every num-buffers=50 ! ndfilesink location="$1/hosts.mha"

# The cable is pulled, and the other host starts anew: nobody tells this host
# that the connection is gone.
kill $server
serve 16:16:16 20 2000
timeout 300 gst-launch-1.0 -q openigtlinksrc host=10.77.0.2 reconnect=0 \
  policy=every num-buffers=200 ! ndfilesink location="$1/again.mha" &
client=$!
sleep 4
ip link set ndhere down
kill -9 $server
kill $other
wait $other 2>/dev/null || true
# The cable goes with its host.
ip link del ndhere 2>/dev/null || true
start_host
serve 16:16:16 20 2000
wait $client
END
if ! unshare -Urn ip link add ndhere type veth peer name ndthere 2>/dev/null
then
  echo "without virtual cables: not tested with two hosts"
  exit 0
fi
unshare -Urn bash "$folder/hosts.sh" "$folder" >"$folder/hosts.log" 2>&1 \
  || fail 'two hosts failed'
grep -aq 'DimSize = 64 64 64 50' "$folder/hosts.mha" \
  || fail 'volumes from another host are missing'
grep -aq 'DimSize = 16 16 16 200' "$folder/again.mha" \
  || fail 'volumes do not go on after the cable was pulled'
echo "two hosts: 50 volumes, and 200 beyond a pulled cable"
