#!/usr/bin/env python3
"""ndconv-web in a browser: the picture moves, a slider changes it, a wrong filter
is refused in words.

  test-web-browser.py NDCONV-WEB [FOLDER]     FOLDER: pictures of the page

Without Chromium the test is skipped.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import os
import re
import sys
import tempfile

from webclient import PIPELINE, Browser, Program, wait_for

# A still picture, so that only the controls change it.
STILL = PIPELINE.replace('pattern=heart noise=4', 'pattern=impulse impulse-period=1 value=200') \
    + ' mode=projection window=40 level=20'
PIXELS = ("(() => { const c = document.getElementById('%s'); return Array.from("
          "c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"
          ".join() })()")


def check(what, good):
    print('ok' if good else 'FAILED', '', what, flush=True)
    if not good:
        sys.exit(1)


def open_page(browser, program):
    browser.open(program.url)
    for name in 'before', 'after':
        browser.wait(f"+document.getElementById('{name}').dataset.count > 2")


def set_value(browser, name, value):
    browser.run(f"(() => {{ const i = document.getElementById('{name}'); "
                f"i.value = '{value}'; i.dispatchEvent(new Event('change')) }})()")


def box(browser, selector):
    return browser.run(
        f"(() => {{ const e = document.querySelector('{selector}'); "
        "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
        "return [b.x, b.y, b.width, b.height] })()")


def check_moves(browser, folder):
    with Program(sys.argv[1]) as program:
        open_page(browser, program)
        for name in 'before', 'after':
            first = browser.run(PIXELS % name)
            wait_for('another picture', lambda: browser.run(PIXELS % name) != first)
        browser.wait("document.getElementById('value-rate').textContent.endsWith('/s')")
        browser.wait("document.getElementById('plan').textContent.includes('cpu')")
        check('the picture moves', True)
        if folder:
            for name, size in (('desktop', (1280, 900, False, 1)),
                               ('phone', (390, 844, True, 2))):
                browser.resize(*size)
                browser.picture(os.path.join(folder, f'web-{name}.png'))
            browser.resize(1280, 900)
        hosts = {re.sub('^(https?|wss?)://([^/]*).*', r'\2', e['params']['request']['url'])
                 for e in browser.events if e['method'] == 'Network.requestWillBeSent'
                 and e['params']['request']['url'].startswith(('http', 'ws'))}
        check(f'requests to {hosts}', hosts == {program.host})


def check_touch(browser, x, y, width, height):
    """One finger turns the view, two fingers zoom."""
    azimuth = "document.getElementById('view-azimuth').value"
    zoom = "+document.getElementById('view-zoom').value"
    middle = y + height / 2
    before = browser.run(azimuth)
    browser.touch('touchStart', (x + width / 4, middle))
    for i in range(8):
        browser.touch('touchMove', (x + width / 4 + (i + 1) * width / 40, middle))
    browser.touch('touchEnd')
    browser.wait(f'{azimuth} !== "{before}"')
    check('a finger turns the view', True)

    before = browser.run(zoom)
    here = lambda i: ((x + width / 2 - 20 - 5 * i, middle),
                      (x + width / 2 + 20 + 5 * i, middle))
    browser.touch('touchStart', here(0)[0])
    browser.touch('touchStart', *here(0))
    for i in range(1, 13):
        browser.touch('touchMove', *here(i))
    browser.touch('touchEnd')
    browser.wait(f'{zoom} > {before}')
    check('two fingers zoom', True)


# Calls what the page calls for @states messages, half a second apart, and for
# @pictures pictures, while its connection is put aside.
DAY = """(async (states, pictures) => {
  const state = window.dayState || (window.dayState = {ack: 1, state: 'playing',
    aspects: [1, 1], 'can-record': true, time: last.time, volumes: last.volumes,
    'age-sum': 0, stats: {filter: {...last.stats}}, values: {}, messages: []});
  const blob = await new Promise(done => byId('after').toBlob(done, 'image/jpeg'));
  const jpeg = new Uint8Array(await blob.arrayBuffer());
  const data = new Uint8Array(5 + jpeg.length);
  const kept = socket;

  data[4] = 1;
  data.set(jpeg, 5);
  socket = null;
  for (let i = 0; i < states; i++) {
    state.time += 0.5;
    state.volumes += 12;
    state['age-sum'] += 0.1;
    state.stats.filter['volumes-out'] += 12;
    state.values = {filter: {gain: String(i %% 7)}};
    state.messages = i %% 50 ? [] : [{kind: 'warning', element: 'filter',
      text: 'Message ' + i}];
    takeState({...state});
    if (i %% 100 === 0) await new Promise(done => setTimeout(done, 0));
  }
  for (let i = 0; i < pictures; i++) await takePicture(data.buffer);
  socket = kept;
  return [numbers.length, document.querySelectorAll('*').length];
})(%d, %d)"""


def check_day(browser):
    """A page that stays open does not grow. A day has 172,800 messages of the
    state; 32 bytes of each would be noticed."""
    with Program(sys.argv[1]) as program:
        open_page(browser, program)
        browser.wait('last !== null')
        numbers, nodes = browser.run(DAY % (1000, 200))
        before = browser.heap()
        numbers_then, nodes_then = browser.run(DAY % (4000, 1000))
        grown = browser.heap() - before
        check(f'{numbers_then} numbers, {nodes_then} elements',
              numbers == numbers_then == 240 and nodes_then <= nodes)
        check(f'{grown} bytes more after 4000 states and 1000 pictures',
              grown < 128 << 10)


def check_controls(browser):
    with Program(sys.argv[1], pipeline=STILL) as program:
        open_page(browser, program)
        first = browser.run(PIXELS % 'after')
        x, y, width, height = box(browser, '[aria-label="Azimuth"]')
        browser.drag(x + width / 2, y + height / 2, x + width * 0.7, y + height / 2)
        browser.wait("+document.getElementById('view-azimuth').value > 10")
        wait_for('a drag of the slider changes the picture',
                 lambda: browser.run(PIXELS % 'after') != first)
        check('the slider changes the picture', True)

        first = browser.run(PIXELS % 'after')
        set_value(browser, 'filter-gain', '0.25')
        wait_for('less gain', lambda: browser.run(PIXELS % 'after') != first)
        check('the gain changes the picture', True)

        set_value(browser, 'filter-filter', 'gausian,sigma=1')
        refusal = ("[...document.querySelectorAll('.refusal')].filter(p => !p.hidden)"
                   ".map(p => p.textContent).join()")
        browser.wait(f"{refusal}.includes('no filter design gausian')")
        set_value(browser, 'filter-gain', '1e999')
        browser.wait(f"{refusal}.includes('must be')")
        set_value(browser, 'view-size', '20000:20000')
        browser.wait(f"{refusal}.includes('at most 4194304 pixels')")
        check('what is refused is shown', True)

        count = browser.run("+document.getElementById('after').dataset.count")
        browser.wait(f"+document.getElementById('after').dataset.count > {count}")
        x, y, width, height = box(browser, '#after')
        azimuth = "document.getElementById('view-azimuth').value"
        before = browser.run(azimuth)
        browser.drag(x + width / 4, y + height / 2, x + width / 2, y + height / 2)
        browser.wait(f'{azimuth} !== "{before}"')
        check('a drag turns the view', True)
        zoom = browser.run("document.getElementById('view-zoom').value")
        browser.mouse('mouseWheel', x + 20, y + 20, deltaX=0, deltaY=100)
        browser.wait(f"document.getElementById('view-zoom').value !== '{zoom}'")
        check('the wheel zooms', True)
        check_touch(browser, x, y, width, height)
        browser.run("document.querySelector('[data-show=after]').click()")
        browser.wait("document.getElementById('figure-before').hidden")
        # The program goes, and comes back at the same port.
        check('stop', program.stop() == (0, ''))
        browser.wait("document.getElementById('state').className === 'lost'")
        with Program(sys.argv[1], pipeline=STILL, port=program.port) as again:
            browser.wait("!document.getElementById('ask').hidden")
            browser.run(f"document.getElementById('token').value = '{again.url}'; "
                        "document.querySelector('#ask button').click()")
            browser.wait("document.getElementById('state').className === 'playing'")
            check('the page asks for the token, and finds the program again',
                  browser.run('location.href') == again.url.replace(
                      again.host, program.host))


MEAN = ("(() => { const c = document.getElementById('%s'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let sum = 0; "
        "for (let i = 0; i < d.length; i += 4) sum += d[i]; "
        "return sum / c.width / c.height })()")


def check_window(browser):
    """With a window for each picture, gain hardly changes them; with the same
    one, the picture after the filter becomes dark."""
    with Program(sys.argv[1]) as program:
        open_page(browser, program)
        part = lambda: browser.run(MEAN % 'after') / browser.run(MEAN % 'before')
        button = "document.getElementById('same-window')"
        set_value(browser, 'filter-gain', '0.25')
        browser.wait("document.getElementById('filter-gain').value === '0.25'")
        wait_for('its own window', lambda: part() > 0.6)
        browser.run(f'{button}.click()')
        browser.wait(f"{button}.getAttribute('aria-pressed') === 'true'")
        wait_for('a dark picture', lambda: part() < 0.4)
        browser.run(f'{button}.click()')
        browser.wait(f"{button}.getAttribute('aria-pressed') === 'false'")
        wait_for('its own window again', lambda: part() > 0.6)
        check('the same window for both pictures', True)


def check_buttons(browser):
    """Record writes a file. Snapshot has the last picture without loss."""
    with tempfile.TemporaryDirectory() as folder, \
            Program(sys.argv[1], '--record', folder) as program:
        open_page(browser, program)
        record = "document.getElementById('record')"
        browser.wait(f'!{record}.disabled')
        browser.run(f'{record}.click()')
        browser.wait(f"+{record}.textContent.replace(/\\D/g, '') >= 3")
        browser.run(f'{record}.click()')
        browser.wait("document.getElementById('messages').textContent"
                     ".includes('Recorded ')")
        check('a recording', len(os.listdir(folder)) == 1)
        for name in 'before', 'after':
            size = browser.run(
                f"(async () => {{ const a = document.querySelector('[data-save={name}]');"
                " a.addEventListener('click', event => event.preventDefault());"
                " a.click();"
                " const picture = await createImageBitmap(await (await fetch(a.href))"
                ".blob()); return [a.download, picture.width, picture.height] })()")
            canvas = browser.run(f"(() => {{ const c = document.getElementById('{name}');"
                                 " return [c.width, c.height] })()")
            check(f'snapshot {size}', size[1:] == canvas
                  and re.fullmatch(rf'ndconv-{name}-\d{{14}}\.png', size[0]))


if not Browser.find():
    print('There is no Chromium: install the package chromium for this test')
    sys.exit(77)
with Browser() as browser:
    check_moves(browser, sys.argv[2] if len(sys.argv) > 2 else None)
    check_controls(browser)
    check_window(browser)
    check_buttons(browser)
    check_day(browser)
    errors = [e['params'] for e in browser.events
              if e['method'] == 'Runtime.exceptionThrown'
              or e['method'] == 'Log.entryAdded'
              and e['params']['entry']['source'] == 'security']
    check(f'no error of the page {errors}', not errors)
