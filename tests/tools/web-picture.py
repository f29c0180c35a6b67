#!/usr/bin/env python3
"""A picture of the page of ndconv-web after some seconds with the phantom.

  web-picture.py NDCONV-WEB FILE.png

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import sys
import time

from webclient import Browser, Program

PIPELINE = ('ndtestsrc pattern=heart is-live=true noise=2 volume-size=64:64:64 '
            'framerate=20/1 ! ndconv4dtemporal name=filter filter=gaussian,sigma=1.0 '
            '! ndview name=view mode=orthogonal size=352:352')
SECONDS = 30    # that the plots show

if not Browser.find():
    sys.exit('There is no Chromium: install the package chromium')
with Program(sys.argv[1], pipeline=PIPELINE) as program, Browser() as browser:
    browser.resize(1280, 872, scale=0.8)
    browser.open(program.url)
    browser.wait("+document.getElementById('after').dataset.count > 2")
    browser.run("document.getElementById('same-window').click()")
    time.sleep(SECONDS)
    browser.picture(sys.argv[2])
