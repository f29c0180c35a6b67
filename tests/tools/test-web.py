#!/usr/bin/env python3
"""ndconv-web over its protocols, with good and with hostile peers.

  test-web.py NDCONV-WEB NDCONV-FILE

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pngfile
from webclient import LIMIT, PIPELINE, Live, Program, wait_for

WEB, FILE = sys.argv[1:3]


def check(what, good):
    print('ok' if good else 'FAILED', '', what, flush=True)
    if not good:
        sys.exit(1)


def test_page():
    """One page, which names no other host, and nothing but its own paths."""
    with Program(WEB) as program:
        status, headers, page = program.get('/')
        text = page.decode()
        policy = headers['content-security-policy']
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy)[1]
        check('page', status == 200 and text.startswith('<!DOCTYPE html>'))
        check('policy', "default-src 'none'" in policy
              and text.count(f'nonce="{nonce}"') == 2 and '@' not in nonce
              and not re.search('@(NONCE|STYLE|SCRIPT)@', text))
        check('a new nonce', nonce not in program.get('/')[2].decode())
        check('no other host', not re.search(r'(?:https?:)?//[a-z0-9]+\.[a-z]',
                                             text))
        check('not stored', headers['cache-control'] == 'no-store')
        for path in ('/page.js', '/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd',
                     '//etc/passwd', '/live/x', '/index.html', '/%00'):
            status = program.get(path)[0]
            check(f'{path}: {status}', status in (400, 404))
        check('HEAD', program.get('/', method='HEAD')[0] == 200)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_guard():
    """Who is refused, and how."""
    with Program(WEB) as program:
        good = program.host
        for host, status in ((good, 200), (f'127.0.0.1:{program.port}', 200),
                             (f'[::1]:{program.port}', 200), ('localhost', 200),
                             ('evil.example', 403), ('192.168.0.7', 403),
                             ('localhost.evil.example', 403), ('', 403),
                             (None, 403), ('[', 403), (':', 403)):
            got = program.get('/', Host=host)[0]
            check(f'Host {host}: {got}', got == status
                  or host in ('', None, '[', ':') and got == 400)
        for origin, status in ((f'http://{good}', 200), ('http://evil.example', 403),
                               ('null', 403), (f'https://{good}', 403),
                               (f'http://{good}.evil.example', 403),
                               ('http://localhost:1', 403)):
            got = program.get('/', Origin=origin)[0]
            check(f'Origin {origin}: {got}', got == status)
            with Live(program, Origin=origin) as live:
                check(f'WebSocket: {live.status}',
                      live.status == (101 if status == 200 else 403))
        for site, mode, status in (('cross-site', 'no-cors', 403),
                                   ('same-site', 'cors', 403),
                                   ('same-origin', 'cors', 200),
                                   ('cross-site', 'navigate', 200)):
            got = program.get('/metrics', Sec_Fetch_Site=site, Sec_Fetch_Mode=mode)[0]
            check(f'{site}, {mode}: {got}', got == status)
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS'):
            status = program.get('/', method=method, Content_Length='0')[0]
            check(f'{method}: {status}', status == 405)
        got = program.get('/', body=b'x' * 100, Content_Length='100')[0]
        check(f'body: {got}', got == 413)
        check('no WebSocket', program.get('/live')[0] in (400, 426))

        # A request that is too long or not HTTP ends its connection only.
        endless = (b'GET / HTTP/1.1\r\nHost: ' + good.encode()
                   + b'\r\nContent-Length: 1000000000\r\n\r\n' + b'x' * (8 << 20))
        chunks = (b'GET / HTTP/1.1\r\nHost: ' + good.encode()
                  + b'\r\nTransfer-Encoding: chunked\r\n\r\n'
                  + (b'1000\r\n' + b'x' * 4096 + b'\r\n') * 2000)
        seed = random.randrange(1 << 32)
        print('seed', seed)
        noise = random.Random(seed).randbytes(4096) + b'\r\n\r\n'
        before = program.resident()
        for data in (endless, chunks, noise, b'\r\n' * 100, b'GET\r\n\r\n',
                     b'GET / HTTP/9.9\r\n\r\n', b'\x16\x03\x01' + b'\0' * 200
                     + b'\r\n\r\n', b'GET / HTTP/1.1\r\nX: ' + b'y' * (4 << 20)):
            answer = program.raw(data)
            check(f'{data[:20]}: {answer[:20]}', not answer.startswith(b'HTTP/1.1 200')
                  and len(answer) < 1000)
        check('memory', program.resident() - before < 16 << 10)
        check('alive', program.get('/')[0] == 200)

        # Many connections that say nothing do not lock out the others for good.
        idle = [program.connect() for _ in range(80)]
        wait_for('the first ones are closed or time out',
                 lambda: program.get('/')[0] == 200)
        for peer in idle:
            peer.close()
        check('stop', program.stop(signal.SIGTERM) == (0, ''))


def test_live():
    """Pictures, controls and messages."""
    with Program(WEB) as program, Live(program) as live:
        live.wait('controls', lambda: live.controls)
        names = {c['name']: {p['name']: p for p in c['properties']}
                 for c in live.controls}
        check('elements', list(names) == ['filter', 'view'])
        gain, axis = names['filter']['gain'], names['view']['axis']
        check('a number', gain['kind'] == 'number' and gain['default'] == '1'
              and 'response' in gain['blurb'] and gain['high'] > 1e300)
        check('an enum', [v['nick'] for v in axis['values']] == ['x', 'y', 'z'])
        check('a range', (names['view']['position']['low'],
                          names['view']['position']['high']) == (0, 1))
        check('not while playing', not names['filter']['backend']['playing'])
        check('no other kinds', not {'name', 'parent', 'settings', 'stats', 'qos'}
              & set(names['filter']))
        check('values', live.values['filter']['filter'] == 'gaussian,sigma=1.0')

        for picture in 0, 1:
            live.wait('three pictures', lambda: len(live.pictures[picture]) == 3)
            check('JPEG', all(p[:3] == b'\xff\xd8\xff'
                              for p in live.pictures[picture]))
            check('moving', len(set(live.pictures[picture])) > 1)
        live.wait('numbers', lambda: live.state['volumes'] > 0
                  and live.state['stats']['filter']['method'])
        live.wait('aspects', lambda: all(0.1 < aspect < 10
                                         for aspect in live.state['aspects']))

        live.set('filter', 'gain', '0.5')
        live.wait('the new gain', lambda: live.values['filter']['gain'] == '0.5')
        live.set('view', 'axis', 'y')
        live.wait('the new axis', lambda: live.values['view']['axis'] == 'y')

        for element, name, value, words in (
                ('filter', 'filter', 'gausian,sigma=1', 'no filter design gausian'),
                ('filter', 'filter', 'file,location=/etc/passwd', 'cannot name files'),
                ('filter', 'gain', 'much', 'must be a number'),
                ('filter', 'gain', 'nan', 'must be a number'),
                ('filter', 'gain', '', 'must be a number'),
                ('filter', 'n-threads', '2.5', 'must be a whole number'),
                ('filter', 'n-threads', '-1', 'must be from 0 to 256'),
                ('filter', 'method', 'magic', 'the values are auto, direct'),
                ('filter', 'normalize', 'yes', 'true or false'),
                ('filter', 'backend', 'cpu', 'does not change while'),
                ('filter', 'name', 'x', 'no property'),
                ('filter', 'settings', 'settings,gain=1', 'no property'),
                ('view', 'position', '2', 'must be from 0 to 1'),
                ('view', 'size', '20000:20000', 'at most 4194304 pixels'),
                ('view', 'size', '2049:2048', 'at most 4194304 pixels'),
                ('view', 'size', '1:18446744073709551615', 'must be WIDTH:HEIGHT'),
                ('view', 'nonsense', '2', 'no property'),
                ('fakesink0', 'dump', 'true', 'Only filter and view')):
            live.messages.clear()
            live.set(element, name, value)
            message = live.wait_message(words)
            check(f'{element} {name}={value}: {message["text"][:60]}',
                  message['element'] == element)
        live.messages.clear()
        live.send('record on')
        live.wait_message('--record FOLDER')
        for text in ('press 10 10 1 0', 'move 12 12 256', 'release 12 12 1 0',
                     'scroll 5 5 0 1 0', 'key Up', 'key h'):
            live.send(text)
        for picture in 'before', 'after':
            status, headers, data = wait_for(
                'a snapshot', lambda: (lambda answer: answer[0] == 200 and answer)(
                    program.get(f'/{picture}.png')))
            check('PNG', headers['content-type'] == 'image/png'
                  and data[:8] == b'\x89PNG\r\n\x1a\n')
        live.wait('pictures go on', lambda: live.receive() or True)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_hostile_live():
    """Nonsense in a WebSocket."""
    seed = random.randrange(1 << 32)
    print('seed', seed)
    generator = random.Random(seed)
    words = ['ack', 'show', 'set', 'press', 'move', 'release', 'scroll', 'key',
             'record', 'restart', 'alive', 'filter', 'view', 'gain', 'mode',
             'position', '\n', ' ', '1', '-1', '1e99', 'nan', '99999999999999999999',
             'before', 'after', '\t', 'é', '"', '\\', 'a' * 300]
    with Program(WEB) as program:
        with Live(program) as live:
            for _ in range(400):
                live.send(''.join(generator.choices(words, k=generator.randrange(9))))
                if generator.random() < 0.1:
                    live.receive()
        for opcode, data in ((2, b'binary'), (1, b'x' * 100000),
                             (1, b'\xff\xfe not UTF-8'), (9, b'p' * 200),
                             (3, b'no such opcode')):
            with Live(program) as live:
                live.frame(opcode, data)
                try:
                    while True:
                        live.receive()
                except (EOFError, ConnectionError):
                    print('ok  closed after', opcode, data[:10])
        with Live(program) as live:
            try:
                for _ in range(5000):
                    live.send('alive')
                while True:
                    live.receive()
            except (EOFError, ConnectionError):
                print('ok  closed after a flood')
        lives = [Live(program, show='') for _ in range(17)]
        check('too many pages', sorted(l.status for l in lives)[-2:] == [101, 503])
        for live in lives:
            live.__exit__()
        with wait_for('room for a page', lambda: (lambda live: live.status == 101
                      and live)(Live(program))) as live:
            live.wait('pictures', lambda: live.pictures[1])
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_slow():
    """A page gets no more than it takes, and slows nothing."""
    with Program(WEB) as program, Live(program, acks=False) as live:
        for _ in range(20):
            live.send('ack 12345')
        live.wait('two pictures', lambda: len(live.pictures[0]) == 2
                  and len(live.pictures[1]) == 2 and live.state)
        live.socket.settimeout(1)
        try:
            live.receive()
            check('nothing more', False)
        except TimeoutError:
            print('ok  nothing more without ack')
        # These two do not even read.
        with Live(program, acks=False, buffer=2048), \
                Live(program, acks=False, buffer=2048), Live(program) as fast:
            begin = program.metric('ndconv_volumes_out_total')
            fast.wait('controls', lambda: fast.controls)
            first = fast.state['volumes']
            count = 0
            while count < 60:
                taken = len(fast.pictures[1]), fast.pictures[1][-1:]
                fast.receive()
                count += (len(fast.pictures[1]), fast.pictures[1][-1:]) != taken
            fast.wait('volumes', lambda: fast.state['volumes'] >= first + 60)
            check('the pipeline goes on',
                  program.metric('ndconv_volumes_out_total') >= begin + 60)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def columns(program, name):
    """The number of columns of the M-mode that have a volume."""
    _, _, data = wait_for('a snapshot', lambda: (
        lambda answer: answer[0] == 200 and answer)(program.get(f'/{name}.png')))
    width, height, channels, samples = pngfile.read(data)
    check(f'{name}: {width} x {height}', (width, height, channels) == (400, 16, 3))
    middle = samples[3 * width * 8:3 * width * 9]
    return sum(middle[i:i + 3] != b'\0\0\xff' for i in range(0, 3 * width, 3))


def test_mmode():
    """The lines of all volumes are in both pictures, however few pictures a slow
    page takes, and also if the mode changes while the pipeline plays."""
    still = PIPELINE.replace('name=view', 'name=view size=400:16 history=400 '
                             'background=0x0000ff window=255 level=127')
    for late in False, True:
        pipeline = still if late else still + ' mode=mmode'
        # It takes two pictures, and no more.
        with Program(WEB, pipeline=pipeline) as program, \
                Live(program, acks=False) as slow:
            slow.wait('pictures', lambda: slow.pictures[0] and slow.pictures[1])
            if late:
                slow.set('view', 'mode', 'mmode')
            begin = program.metric('ndconv_volumes_out_total')
            wait_for('100 volumes', lambda: program.metric(
                'ndconv_volumes_out_total') >= begin + 100)
            with Live(program) as page:
                page.wait('pictures', lambda: len(page.pictures[0]) > 1
                          and len(page.pictures[1]) > 1)
                before, after = (columns(program, name)
                                 for name in ('before', 'after'))
            # Volumes arrive between the two pictures.
            check(f'{before} columns before, {after} after the filter',
                  before >= 90 and after >= 90)
            stopped = program.stop()
            check(f'stop {stopped}', stopped == (0, ''))
    # A stream that begins again has no lines of the one before.
    short = still.replace('is-live=true', 'num-buffers=40') + ' mode=mmode'
    with Program(WEB, pipeline=short) as program, Live(program) as live:
        live.wait('the end', lambda: live.state.get('state') == 'ended')
        live.send('restart')
        live.wait('the end again', lambda: sum(
            'has ended' in message['text'] for message in live.messages) == 2)
        before, after = (columns(program, name) for name in ('before', 'after'))
        check(f'{before} columns before, {after} after', max(before, after) <= 40)


def test_window():
    """Both pictures with the window of the one before; each with its own
    again."""
    with Program(WEB) as program, Live(program) as live:
        live.wait('pictures', lambda: live.pictures[0] and live.pictures[1])
        number = lambda name: float(live.values['view'][name])
        live.set('filter', 'gain', '0.25')
        live.send('same-window on')
        live.wait('a window', lambda: number('window') > 0)
        # The volumes are uint8, and a quarter of them is not the window.
        check(f'window {number("window")}, level {number("level")}',
              100 < number('window') <= 255 and 50 < number('level') < 200)
        live.send('same-window off')
        live.wait('an automatic window', lambda: number('window') == 0)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))
    video = ('videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=64,height=48 '
             '! ndconv2d name=filter filter=box,size=3 ! videoconvert name=view')
    with Program(WEB, pipeline=video) as program, Live(program) as live:
        live.send('same-window on')
        live.wait_message('has no window')


def test_memory():
    """Pages that come and go leave nothing."""
    with Program(WEB) as program:
        def visit():
            with Live(program) as live:
                live.wait('a picture', lambda: live.pictures[1] and live.controls)
            program.get('/')
        for _ in range(40):
            visit()
        before = program.resident()
        for _ in range(120):
            visit()
        grown = program.resident() - before
        check(f'{grown} KiB more after 120 pages', grown < 4096)
        check('no page is left', wait_for('no page', lambda: program.metric(
            'ndconv_web_pages') == 0))
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_open_page():
    """A page that stays open does not grow: in 6000 pictures less than 43 bytes
    each, and a leak of a picture or a message is larger."""
    fast = PIPELINE.replace('framerate=20/1', 'framerate=300/1')
    with Program(WEB, pipeline=fast) as program, Live(program) as live:
        def look(pictures):
            for _ in range(pictures):
                before = live.taken
                live.wait('a picture', lambda: live.taken > before)
        look(2000)
        before = program.resident()
        look(6000)
        grown = program.resident() - before
        check(f'{grown} KiB more after 6000 pictures', grown < 256)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_metrics():
    """The text format of Prometheus: each name once, all its lines together."""
    with Program(WEB) as program:
        wait_for('a volume', lambda: program.metric('ndconv_volumes_out_total'))
        status, headers, text = program.get('/metrics')
        number = r'(?:[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|NaN|[-+]Inf)'
        label = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
        seen, kind = [], ''
        for line in text.decode().splitlines():
            if line.startswith('# TYPE '):
                _, _, name, kind = line.split()
                seen.append(name)
                check(name, kind in ('gauge', 'counter')
                      and (kind == 'counter') == name.endswith('_total'))
            elif not line.startswith('# HELP '):
                found = re.fullmatch(
                    rf'([a-z_]+)(?:{{{label}(?:,{label})*}})? {number}', line)
                if not found or found[1] != seen[-1]:
                    check(line, False)
        check('each once', len(seen) == len(set(seen)))
        check('type', headers['content-type'].startswith('text/plain; version=0.0.4'))
        check('the plan', re.search(
            rb'ndconv_plan_info{element="filter",.*method="', text))


def refuse_tokens(program):
    """A token that is missing, wrong, or in another place."""
    token = program.token
    check('token', re.fullmatch('[0-9a-f]{32}', token))
    wrong = [token[:i] + ('1' if token[i] == '0' else '0') + token[i + 1:]
             for i in (0, 15, 31)]
    wrong += ['0' * 32, token[:-1], token + '0', token.upper() + ' ', '', ' ' + token]
    for path in '/', '/metrics', '/before.png', '/after.png', '/live', '/nosuch':
        check(path, program.get(path, Authorization=None)[0] == 403)
        for other in wrong:
            quoted = other.replace(' ', '%20')
            check(f'{path} {other}', program.get(
                path + '?token=' + quoted, Authorization=None)[0] == 403)
            check('header', program.get(
                path, Authorization='Bearer x' + other)[0] == 403)
        for query in (f'?Token={token}', f'?x={token}', f'?x&{token}', f'#{token}',
                      f'?token=0&tok%00en={token}'):
            check(path + query[:9], program.get(
                path + query, Authorization=None)[0] in (400, 403))
        check('in the path', program.get(f'{path}/{token}',
                                         Authorization=None)[0] == 403)
        for name, value in (('Cookie', f'token={token}'), ('Token', token),
                            ('X-Token', token), ('Authorization', token),
                            ('Authorization', f'Basic {token}'),
                            ('Authorization', f'Bearer{token}'),
                            ('Referer', f'http://{program.host}/?token={token}')):
            check(f'{path}, {name}', program.get(
                path, **{'Authorization': None, name: value})[0] == 403)
    check('address', program.get('/?token=' + token, Authorization=None)[0] == 200)
    check('header', program.get('/')[0] == 200)
    headers = program.get('/?token=' + token, Authorization=None)[1]
    check('not sent on', headers['referrer-policy'] == 'no-referrer'
          and headers['cache-control'] == 'no-store'
          and 'set-cookie' not in headers)
    for name, path in (('none', '/live'), ('wrong', '/live?token=' + wrong[0])):
        with Live(program, path, Authorization=None) as live:
            check(f'{name}, no WebSocket', live.status == 403)
    with Live(program, '/live?token=' + token, Authorization=None) as live:
        live.wait('a picture', lambda: live.pictures[1])


def test_token():
    """Each request needs the token, on this machine and from others. It is printed
    as an address, and nowhere else."""
    tokens = set()
    for listen in (), ('--listen', '127.0.0.1'), ('--listen', '0.0.0.0'):
        os.environ['GST_DEBUG'] = '4'
        try:
            program = Program(WEB, *listen, '--host', 'scanner.example')
        finally:
            del os.environ['GST_DEBUG']
        with tempfile.TemporaryFile() as log, program:
            reader = threading.Thread(target=lambda: log.write(
                program.process.stderr.read().encode()))
            reader.start()
            refuse_tokens(program)
            for host, status in (('192.168.0.7', 200 if listen else 403),
                                 ('scanner.example', 200), ('evil.example', 403)):
                check(host, program.get('/', Host=host)[0] == status)
            if listen:
                check('name', program.get('/', Host=socket.gethostname())[0] == 200)
            program.process.send_signal(signal.SIGINT)
            check('stop', program.process.wait(LIMIT) == 0)
            reader.join()
            log.seek(0)
            check('not in the log', program.token.encode() not in log.read())
            tokens.add(program.token)
    check('another one each time', len(tokens) == 3)


def test_limits():
    """Fragments without an end, pings without a reader, messages that do not end,
    pages that do not read, headers that are large or twice there."""
    with Program(WEB) as program:
        get = lambda *lines: program.raw('\r\n'.join(
            ('GET /metrics HTTP/1.1', 'Connection: close',
             'Authorization: Bearer ' + program.token, *lines, '', '')).encode())
        good = 'Host: ' + program.host
        check('good', get(good).startswith(b'HTTP/1.1 200'))
        for lines in ((good, good), (good, 'Host: evil.example'),
                      ('Host: evil.example', good),
                      (good, f'Origin: http://{program.host}', 'Origin: null'),
                      (good, 'authorization: Bearer x')):
            check(f'{lines}', get(*lines).startswith(b'HTTP/1.1 400'))
        check('large headers', get(good, 'X: ' + 'y' * 17000)[:12] == b'HTTP/1.1 431')
        check('many headers', get(good, *(f'X{i}: y' for i in range(120)))[:12]
              == b'HTTP/1.1 431')
        refused = program.metric('ndconv_web_requests_refused_total')
        check(f'{refused:.0f} refused', refused >= 7)

        def flood(what, first, frames):
            before = program.resident()
            with Live(program, show='') as live:
                try:
                    first(live)
                    for _ in range(2000):
                        frames(live)
                    # What was sent may still be on its way.
                    for _ in range(2000):
                        live.receive()
                    check(f'{what}: cut off', False)
                except (EOFError, ConnectionError):
                    print('ok  cut off:', what)
            grown = program.resident() - before
            check(f'{what}: {grown} KiB', grown < 16 << 10)
        begin = lambda live: live.frame(1, b'set\n', last=False)
        flood('fragments', begin, lambda live: live.frame(0, b'x' * 60000, last=False))
        flood('small ones', begin, lambda live: live.frame(0, b'x', last=False))
        flood('empty ones', begin, lambda live: live.frame(0, b'', last=False))
        flood('pings', lambda live: None, lambda live: live.frame(9, b'p' * 125))
        with Live(program) as live:
            live.frame(1, b'set\nfilter\nga', last=False)
            live.frame(9, b'between')
            live.frame(0, b'in\n0.', last=False)
            live.frame(0, b'5')
            live.wait('a message in three parts', lambda: live.values.get(
                'filter', {}).get('gain') == '0.5')
            for _ in range(100):
                live.frame(9, b'p')
                taken = live.state.get('ack')
                live.wait('a state', lambda: live.state.get('ack') != taken)

        # One of them begins a message, and one does not read.
        before = program.metric('ndconv_web_pages_dropped_total')
        with Live(program, show='', acks=False) as half, \
                Live(program, acks=False) as slow:
            half.frame(1, b'alive', last=False)
            slow.wait('a picture', lambda: slow.pictures[1])
            for live in half, slow:
                try:
                    while True:
                        live.receive()
                except (EOFError, ConnectionError):
                    print('ok  dropped')
            check('counted', program.metric(
                'ndconv_web_pages_dropped_total') == before + 2)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_record():
    """A recording is complete, also if the program ends."""
    def volumes(path):
        text = subprocess.run([FILE, 'info', path], check=True, text=True,
                              stdout=subprocess.PIPE, timeout=LIMIT).stdout
        return text

    with tempfile.TemporaryDirectory() as folder:
        with Program(WEB, '--record', folder) as program, Live(program) as live:
            live.send('record on')
            live.wait('volumes', lambda: live.state.get('recorded', 0) >= 5)
            live.send('record off')
            path = live.wait_message('Recorded ')['text'].split(' to ')[1]
            check('name', re.fullmatch(r'ndconv-\d{8}-\d{6}\.seq\.nrrd',
                                       os.path.basename(path)))
            check('24 x 20 x 16', re.search('24.*20.*16', volumes(path)))
            live.send('record on')
            live.wait('volumes', lambda: live.state.get('recorded', 0) >= 3)
            stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))
        names = sorted(os.listdir(folder))
        check(f'{names}', len(names) == 2 and all(
            volumes(os.path.join(folder, name)) for name in names))
        with Program(WEB, '--record', folder, '--record-limit', '0.0001') as program, \
                Live(program) as live:
            live.send('record on')
            check('the limit', re.match(r'Recorded 1[0-9] volumes',
                                        live.wait_message('Recorded ')['text']))
        # The files of earlier runs count.
        for option, value, words in (
                ('--record-files', '3', 'has 3 recordings, and --record-files is 3'),
                ('--record-total', '0.0001', 'have reached --record-total')):
            with Program(WEB, '--record', folder, option, value) as program, \
                    Live(program) as live:
                live.send('record on')
                live.wait_message(words)
                check('no more', len(os.listdir(folder)) == 3)
        used = sum(os.path.getsize(os.path.join(folder, name))
                   for name in os.listdir(folder))
        with Program(WEB, '--record', folder, '--record-total',
                     str((used + 100000) / (1 << 30))) as program, Live(program) as live:
            live.send('record on')
            check('what is left', re.match(r'Recorded 1[0-3] volumes',
                                           live.wait_message('Recorded ')['text']))


def test_end():
    """The end of a stream, playing again, and an error."""
    short = PIPELINE.replace('is-live=true', 'num-buffers=6')
    with Program(WEB, pipeline=short) as program, Live(program) as live:
        live.wait('the end', lambda: live.state.get('state') == 'ended')
        volumes = live.state['volumes']
        live.send('restart')
        live.wait('more', lambda: live.state['volumes'] == volumes + 6)
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))
    broken = PIPELINE.replace('is-live=true',
                              'is-live=true ! identity error-after=20')
    with Program(WEB, pipeline=broken) as program, Live(program) as live:
        live.wait('an error', lambda: live.state.get('state') == 'failed')
        live.wait_message('Failed after iterations')
        live.send('restart')
        live.wait('playing', lambda: live.state['state'] == 'playing')
    video = ('videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=64,height=48 '
             '! ndconv2d name=filter filter=box,size=3 ! videoconvert name=view')
    with Program(WEB, pipeline=video) as program, Live(program) as live:
        live.wait('pictures of video', lambda: live.pictures[0] and live.pictures[1])
        stopped = program.stop()
        check(f'stop {stopped}', stopped == (0, ''))


def test_errors():
    """Sentences and the exit status."""
    def fails(status, words, *arguments):
        result = subprocess.run([WEB, *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, timeout=LIMIT)
        check(f'{arguments}: {result.stderr.strip()[:90]}',
              result.returncode == status and words in result.stderr
              and result.stderr.startswith(('ndconv-web: ', 'Usage:')))

    with Program(WEB) as program:
        fails(1, f'Another program uses port {program.port}: choose another one',
              '--port', str(program.port), PIPELINE)
    fails(1, 'no element "nosuch"', '-p', '0', 'nosuch ! ndview name=view')
    fails(1, 'has no element "view"', '-p', '0', 'ndtestsrc ! fakesink')
    fails(1, 'has no output', '-p', '0', 'ndtestsrc ! fakesink name=view')
    fails(1, 'no filter design gausian', '-p', '0', 'ndtestsrc ! ndconv3d name=filter '
          'filter=gausian ! ndview name=view')
    fails(1, 'cannot be opened', '-p', '0', 'ndfilesrc location=/nosuch.nii '
          '! ndview name=view')
    fails(1, 'is not an address', '-p', '0', '--listen', 'here', PIPELINE)
    fails(2, '--port must be', '-p', '70000', PIPELINE)
    fails(2, 'is not a folder', '--record', '/nosuch', PIPELINE)
    fails(2, '--record-total must be', '--record-total', '0', PIPELINE)
    fails(2, '--record-files must be', '--record-files', '0', PIPELINE)
    fails(2, '--quality', '--quality', '0', PIPELINE)
    fails(2, '--nosuch', '--nosuch', PIPELINE)
    fails(2, 'PIPELINE', '-p', '0')


TESTS = [value for name, value in list(globals().items()) if name.startswith('test_')]
chosen = sys.argv[3:]
for test in TESTS:
    if not chosen or test.__name__ in chosen:
        print('--', test.__name__, flush=True)
        test()
