"""ndconv-web and its peers for tests: the program, HTTP, WebSocket and a
Chromium driven by its DevTools protocol.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

LIMIT = 300     # seconds that a condition may take on a loaded machine
PIPELINE = ('ndtestsrc pattern=heart noise=4 volume-size=24:20:16 framerate=20/1 '
            'is-live=true ! ndconv4dtemporal name=filter filter=gaussian,sigma=1.0 '
            '! ndview name=view')


def wait_for(what, condition):
    """Waits until the condition is true and returns its value."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f'after {LIMIT} s still not: {what}')


class Program:
    """A running ndconv-web."""

    def __init__(self, path, *arguments, pipeline=PIPELINE, port=0):
        self.process = subprocess.Popen(
            [path, '--port', str(port), *arguments, pipeline],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError('no address; stderr: '
                                 + self.process.stderr.read())
        address = self.url.split('/')[2]
        self.port = int(address.rsplit(':', 1)[1])
        self.host = f'localhost:{self.port}'
        self.token = self.url.partition('?token=')[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def stop(self, number=signal.SIGINT):
        """Returns the exit status and the text of stderr."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, errors

    def resident(self):
        """KiB of memory."""
        with open(f'/proc/{self.process.pid}/status') as file:
            for line in file:
                if line.startswith('VmRSS:'):
                    return int(line.split()[1])

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port), timeout=LIMIT)

    def raw(self, data):
        """Sends bytes and returns the answer up to the end of the connection."""
        answer = b''
        with self.connect() as peer:
            try:
                peer.sendall(data)
                while True:
                    part = peer.recv(65536)
                    if not part:
                        break
                    answer += part
            except OSError:     # the server does not read all
                pass
        return answer

    def get(self, path='/', method='GET', body=b'', **headers):
        """Returns status, headers in lower case and body. The token is sent unless
        Authorization is None."""
        headers = {'Host': self.host, 'Connection': 'close',
                   'Authorization': 'Bearer ' + self.token} | {
            name.replace('_', '-'): value for name, value in headers.items()}
        lines = [f'{method} {path} HTTP/1.1']
        lines += [f'{name}: {value}' for name, value in headers.items()
                  if value is not None]
        answer = self.raw('\r\n'.join(lines).encode() + b'\r\n\r\n' + body)
        head, _, content = answer.partition(b'\r\n\r\n')
        first, *rest = head.decode().split('\r\n')
        fields = dict(line.lower().split(': ', 1) for line in rest)
        return int(first.split()[1]) if first else 0, fields, content

    def metric(self, name):
        for line in self.get('/metrics')[2].decode().splitlines():
            if line.startswith((name + ' ', name + '{')):
                return float(line.split()[-1])
        return None


class Live:
    """A WebSocket to ndconv-web, which acknowledges what it reads."""

    def __init__(self, program, path='/live', show='before after', acks=True,
                 buffer=None, **headers):
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(LIMIT)
        self.socket.connect(('127.0.0.1', program.port))
        self.buffer = b''
        self.acks = acks
        self.values = {}
        self.controls = None
        self.messages = []
        self.pictures = {0: [], 1: []}
        self.taken = 0      # pictures
        self.state = {}
        headers = {'Host': program.host, 'Upgrade': 'websocket',
                   'Connection': 'Upgrade', 'Sec-WebSocket-Version': '13',
                   'Authorization': 'Bearer ' + program.token,
                   'Sec-WebSocket-Key':
                       base64.b64encode(os.urandom(16)).decode()} | {
            name.replace('_', '-'): value for name, value in headers.items()}
        self.socket.sendall(
            (f'GET {path} HTTP/1.1\r\n' + ''.join(
                f'{name}: {value}\r\n' for name, value in headers.items()
                if value is not None)
             + '\r\n').encode())
        head = b''
        while b'\r\n\r\n' not in head:
            part = self.socket.recv(4096)
            if not part:
                break
            head += part
        head, _, self.buffer = head.partition(b'\r\n\r\n')
        self.status = int(head.split()[1]) if head else 0
        if self.status == 101 and show:
            self.send('show ' + show)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def frame(self, opcode, data, last=True):
        size = len(data)
        head = bytes([0x80 * last | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack('>H', size)
        else:
            head += bytes([0x80 | 127]) + struct.pack('>Q', size)
        mask = os.urandom(4)
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        self.socket.sendall(head + mask + masked)

    def send(self, text):
        self.frame(1, text.encode())

    def set(self, element, name, value):
        self.send(f'set\n{element}\n{name}\n{value}')

    def take(self, size):
        while len(self.buffer) < size:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError
            self.buffer += part
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def receive(self):
        """Takes one message. Raises EOFError at the end."""
        first, second = self.take(2)
        size = second & 127
        if size == 126:
            size, = struct.unpack('>H', self.take(2))
        elif size == 127:
            size, = struct.unpack('>Q', self.take(8))
        data = self.take(size)
        opcode = first & 15
        if opcode == 8:
            raise EOFError
        if opcode == 1:
            self.state = json.loads(data)
            self.controls = self.state.get('controls', self.controls)
            for element, values in self.state.get('values', {}).items():
                self.values.setdefault(element, {}).update(values)
            self.messages += self.state['messages']
            number = self.state['ack']
        elif opcode == 2:
            number, = struct.unpack('>I', data[:4])
            self.pictures[data[4]].append(data[5:])
            del self.pictures[data[4]][:-3]
            self.taken += 1
        else:
            return
        if self.acks:
            self.send(f'ack {number}')

    def wait(self, what, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f'after {LIMIT} s still not: {what}; '
                                     f'{self.messages[-3:]}')
            self.receive()

    def wait_message(self, words):
        found = lambda: any(words in m['text'] for m in self.messages)
        self.wait(f'a message with "{words}"', found)
        return next(m for m in self.messages if words in m['text'])


class Browser:
    """A Chromium without a window."""

    @staticmethod
    def find():
        return next(filter(None, map(shutil.which, (
            'chromium', 'chromium-browser', 'google-chrome'))), None)

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp()
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        # It reads descriptor 3 and writes descriptor 4.
        self.process = subprocess.Popen(
            ['bash', '-c', f'exec 3<&{to_read} 4>&{from_write}; exec "$@"', 'bash',
             self.find(), '--headless=new', '--no-sandbox', '--disable-gpu',
             '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars',
             '--disable-background-networking', '--remote-debugging-pipe',
             f'--user-data-dir={self.folder}', f'--window-size={width},{height}',
             'about:blank'],
            pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        self.input, self.output = to_write, from_read
        self.buffer = b''
        self.number = 0
        self.events = []
        self.session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        while b'\0' not in self.buffer:
            part = os.read(self.output, 1 << 20)
            if not part:
                raise AssertionError('Chromium has ended')
            self.buffer += part
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.input, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.read()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise AssertionError(f'{method}: {answer["error"]}')
                return answer['result']
            if 'method' in answer:
                self.events.append(answer)

    def resize(self, width, height, mobile=False, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=scale, mobile=mobile)

    def run(self, program):
        """The value of an expression in the page."""
        result = self.call('Runtime.evaluate', expression=program,
                           returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise AssertionError(f'{program}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def open(self, url):
        self.call('Page.navigate', url=url)
        self.wait(f'location.href === {json.dumps(url)} '
                  "&& document.readyState === 'complete'")

    def wait(self, program):
        return wait_for(program, lambda: self.run(program))

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def drag(self, x, y, to_x, to_y, steps=8):
        self.mouse('mousePressed', x, y, button='left', buttons=1, clickCount=1)
        for i in range(1, steps + 1):
            self.mouse('mouseMoved', x + (to_x - x) * i / steps,
                       y + (to_y - y) * i / steps, button='left', buttons=1)
        self.mouse('mouseReleased', to_x, to_y, button='left', clickCount=1)

    def touch(self, kind, *points):
        """@kind: touchStart, touchMove or touchEnd."""
        self.call('Input.dispatchTouchEvent', type=kind, touchPoints=[
            {'x': x, 'y': y, 'id': i} for i, (x, y) in enumerate(points)])

    def heap(self):
        """Bytes of the page's objects."""
        self.call('HeapProfiler.collectGarbage')
        return self.call('Runtime.getHeapUsage')['usedSize']

    def picture(self, path):
        data = self.call('Page.captureScreenshot')['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))
