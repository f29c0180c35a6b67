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


def check_controls(browser):
    with Program(sys.argv[1], pipeline=STILL) as program:
        open_page(browser, program)
        first = browser.run(PIXELS % 'after')
        x, y, width, height = box(browser, '[aria-label="Position"]')
        browser.drag(x + width / 2, y + height / 2, x + width * 0.9, y + height / 2)
        browser.wait("+document.getElementById('view-position').value > 0.8")
        set_value(browser, 'view-axis', 'x')
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
        browser.run("document.querySelector('[data-show=after]').click()")
        browser.wait("document.getElementById('figure-before').hidden")
        # The program goes, and comes back at the same port.
        check('stop', program.stop() == (0, ''))
        browser.wait("document.getElementById('state').className === 'lost'")
        with Program(sys.argv[1], pipeline=STILL, port=program.port):
            browser.wait("document.getElementById('state').className === 'playing'")
            check('the page finds the program again', True)


if not Browser.find():
    print('There is no Chromium: install the package chromium for this test')
    sys.exit(77)
with Browser() as browser:
    check_moves(browser, sys.argv[2] if len(sys.argv) > 2 else None)
    check_controls(browser)
    errors = [e['params'] for e in browser.events
              if e['method'] == 'Runtime.exceptionThrown'
              or e['method'] == 'Log.entryAdded'
              and e['params']['entry']['source'] == 'security']
    check(f'no error of the page {errors}', not errors)
