#!/usr/bin/env python3
"""A live stream whose peers die: OpenIGTLink -> denoising -> filter ->
view and file.

  peers.py SECONDS [RATE [SIZE]]      25 volumes a second of 32^3 samples

A sender is killed every 3 to 9 s, and a new one begins. A line every 30 s and a
table at the end say: memory, threads, open files, volumes sent, made and
recorded, pictures shown and their age, latency, what was skipped. Ends with 1 if
the pipeline has an error, if memory grows after the first quarter, or if threads
or files grow. GST_PLUGIN_PATH_1_0 names the built plugin.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

# KiB: the heap's own disorder. A leak of one volume a peer is more.
GROWTH = 16384


def crc_table():
    for i in range(256):
        c = i << 56
        for _ in range(8):
            c = (c << 1 ^ 0x42f0e1eba9ea3693 if c >> 63 else c << 1) & 2**64 - 1
        yield c


def crc(data):
    table, c = list(crc_table()), 0
    for byte in data:
        c = table[c >> 56 ^ byte] ^ c << 8 & 2**64 - 1
    return c


def send(port, rate, size, seed):
    """Sends volumes to the pipeline until it is killed."""
    r = random.Random(seed)
    messages = []
    for _ in range(3):
        body = struct.pack('>HBBBB3H12f3H3H', 1, 1, 3, 2, 1, size, size, size,
                           1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, size,
                           size, size) + r.randbytes(size**3)
        messages.append((body, crc(body)))
    peer = socket.create_connection(('localhost', port))
    begin = time.time()
    n = 0
    while True:
        now = time.time()
        if begin + n / rate > now:
            time.sleep(begin + n / rate - now)
        n = max(n, int((now - begin) * rate))
        body, check = messages[n % 3]
        stamp = int(time.time() * 2**32)
        peer.sendall(struct.pack('>H12s20sQQQ', 1, b'IMAGE', b'probe', stamp,
                                 len(body), check) + body)
        n += 1


class Soak:
    def __init__(self, seconds, rate=25, size=32):
        import gi
        gi.require_version('Gst', '1.0')
        from gi.repository import Gst
        self.gst = Gst
        Gst.init(None)
        self.seconds, self.rate, self.size = seconds, rate, size
        self.seed = int(os.environ.get('ND_SEED') or random.getrandbits(31))
        self.random = random.Random(self.seed)
        self.made = self.shown = self.recorded = self.peers = self.errors = 0
        self.ages, self.lines = [], []
        with socket.socket() as free:
            free.bind(('localhost', 0))
            self.port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        leaky = 'queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ' \
            'leaky=downstream'
        self.pipeline = Gst.parse_launch(
            f'openigtlinksrc name=src mode=server port={self.port} ! '
            'nddenoise name=denoise ! ndconv3d name=filter '
            'filter=gaussian,sigma=1 ! tee name=t '
            f't. ! {leaky} ! ndview mode=orthogonal ! '
            'fakesink name=view sync=true qos=true signal-handoffs=true '
            't. ! queue ! identity name=count signal-handoffs=true ! '
            f'ndfilesink location={self.folder.name}/soak.raw async=false')

    def get(self, name):
        return self.pipeline.get_by_name(name)

    def on_shown(self, sink, buffer, pad):
        clock = sink.get_clock()
        self.shown += 1
        self.ages.append((clock.get_time() - sink.get_base_time()
                          - buffer.pts) / 1e6)

    def on_recorded(self, identity, buffer):
        self.recorded += 1

    def on_made(self, pad, info):
        self.made += 1
        return self.gst.PadProbeReturn.OK

    def pump(self):
        types = self.gst.MessageType
        bus = self.pipeline.get_bus()
        while message := bus.pop_filtered(types.ERROR | types.LATENCY):
            if message.type == types.LATENCY:
                self.pipeline.recalculate_latency()
            else:
                self.errors += 1
                print(message.parse_error(), flush=True)

    def figures(self, begin):
        def status(key):
            with open('/proc/self/status') as text:
                return int(next(line.split()[1] for line in text
                                if line.startswith(key)))
        query = self.gst.Query.new_latency()
        latency = 0
        if self.get('view').query(query):
            latency = query.parse_latency()[1] / 1e6
        ages = sorted(self.ages) or [0]
        self.ages = []
        stats = self.get('denoise').get_property('stats')
        self.lines.append({
            's': round(time.time() - begin), 'KiB': status('VmRSS'),
            'threads': status('Threads'),
            'files': len(os.listdir('/proc/self/fd')), 'peers': self.peers,
            'made': self.made, 'recorded': self.recorded, 'shown': self.shown,
            'age': round(ages[len(ages) // 2]),
            'oldest': round(ages[-1]), 'latency': round(latency),
            'skipped': stats.get_value('volumes-skipped')})
        if len(self.lines) == 1:
            print(*(f'{key:>8}' for key in self.lines[0]), sep='')
        print(*(f'{value:8}' for value in self.lines[-1].values()), sep='',
              flush=True)

    def run(self):
        print(f'seed {self.seed}: {self.rate} volumes a second of '
              f'{self.size}^3', flush=True)
        self.get('view').connect('handoff', self.on_shown)
        self.get('count').connect('handoff', self.on_recorded)
        self.get('filter').get_static_pad('src').add_probe(
            self.gst.PadProbeType.BUFFER, self.on_made)
        self.pipeline.set_state(self.gst.State.PLAYING)
        begin = time.time()
        step = min(30, self.seconds / 8)
        printed, ends, peer = begin, begin, None
        while time.time() < begin + self.seconds and not self.errors:
            if time.time() >= ends:
                if peer:
                    peer.kill()
                    peer.wait()
                ends = time.time() + self.random.uniform(3, 9)
                peer = subprocess.Popen([
                    sys.executable, __file__, '--send', str(self.port),
                    str(self.rate), str(self.size), str(self.peers)],
                    stderr=subprocess.DEVNULL)
                self.peers += 1
            self.pump()
            if time.time() >= printed + step:
                printed += step
                self.figures(begin)
            time.sleep(0.02)
        peer.kill()
        peer.wait()
        self.pipeline.set_state(self.gst.State.NULL)
        return self.judge()

    def judge(self):
        """What grew after the first quarter."""
        settled = self.lines[len(self.lines) // 4]
        last = self.lines[-1]
        wrong = [key for key, slack in (('KiB', GROWTH), ('threads', 8),
                                        ('files', 8))
                 if last[key] > settled[key] + slack]
        print(f'{self.errors} errors; grew: {", ".join(wrong) or "nothing"}')
        return 1 if wrong or self.errors or not self.shown else 0


if __name__ == '__main__':
    if sys.argv[1] == '--send':
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        send(int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]),
             sys.argv[5])
    sys.exit(Soak(float(sys.argv[1]), *(float(v) for v in sys.argv[2:3]),
                  *(int(v) for v in sys.argv[3:4])).run())
