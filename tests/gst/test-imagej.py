#!/usr/bin/python3
# ImageJ opens what ndfilesink writes: channels, slices, frames, spacing and times
# of hyperstacks, and ndfilesrc reads the values that ImageJ shows. Needs ij.jar
# (Debian: libij-java), a Java runtime and JPype; otherwise it is skipped.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../.python'))
JAR = os.environ.get('IJ_JAR', '/usr/share/java/ij.jar')
try:
    import numpy as np
    import tifffile
    import jpype
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)
try:
    open(JAR, 'rb').close()
    jpype.startJVM('-Djava.awt.headless=true', classpath=[JAR])
except (OSError, jpype.JVMNotFoundException) as missing:
    print('skipped:', missing)
    sys.exit(77)

T, Z, Y, X = 3, 2, 12, 16
Opener = jpype.JClass('ij.io.Opener')


def launch(*words):
    run = subprocess.run(['gst-launch-1.0', '-q', *words], timeout=300,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.returncode == 0, (words, run.stdout)


def open_image(path):
    image = Opener().openImage(path)
    assert image is not None, path
    x, y, c, z, t = (int(n) for n in image.getDimensions())
    stack = image.getStack()
    pages = [np.array(stack.getProcessor(i + 1).getFloatArray())
             for i in range(c * z * t)]
    # getFloatArray has columns first.
    return (image, np.stack(pages).swapaxes(1, 2).reshape(t, z, c, y, x))


def check_channels(folder):
    random = np.random.default_rng(4)
    for dtype in 'u1', 'u2', 'f4':
        for channels in 1, 2, 3, 4, 5, 9:
            data = random.integers(0, 250, (T, Z, channels, Y, X)).astype(dtype)
            source = os.path.join(folder, 'in.tif')
            tifffile.imwrite(source, data, imagej=True, metadata={
                'axes': 'TZCYX', 'unit': 'um', 'spacing': 2.0,
                'finterval': 0.25}, resolution=(4, 2))
            path = os.path.join(folder, 'out.tif')
            launch('ndfilesrc', 'location=' + source, '!', 'ndfilesink',
                   'location=' + path)
            for name in source, path:
                image, found = open_image(name)
                assert np.array_equal(found, data), (name, dtype, channels)
                about = image.getCalibration()
                # Lengths of 0.25 um and of 0.00025 mm are the same.
                mm = {'um': 1e-3, 'mm': 1}.get(str(about.getUnit()), 1e-3)
                assert np.allclose([about.pixelWidth * mm,
                                    about.pixelHeight * mm,
                                    about.pixelDepth * mm],
                                   [0.25e-3, 0.5e-3, 2e-3]), name
                assert abs(about.frameInterval - 0.25) < 1e-9, name


def check_colours(folder):
    path = os.path.join(folder, 'rgb.tif')
    source = os.path.join(folder, 'in.raw')
    np.arange(T * Z * Y * X * 3).astype('u1').tofile(source)
    launch('ndfilesrc', 'location=' + source, 'type=uint8', 'components=3',
           'volume-size=%d:%d:%d' % (X, Y, Z), '!', 'ndfilesink',
           'location=' + path)
    image = Opener().openImage(path)
    assert [int(n) for n in image.getDimensions()] == [X, Y, 1, Z, T]
    assert int(image.getBitDepth()) == 24


def check_values(folder):
    """The calibrated values of ImageJ."""
    for dtype in 'u1', 'u2':
        for lines in ('cf=0\nc0=-32768\nc1=1\nvunit=Gray Value\n',
                      'cf=0\nc0=-3\nc1=0.5\nvunit=mm\n', 'cf=0\nc0=3\nc1=2\n'):
            path = os.path.join(folder, 'values.tif')
            raw = os.path.join(folder, 'values.nrrd')
            data = np.arange(Y * X).reshape(Y, X).astype(dtype)
            tifffile.imwrite(path, data, metadata=None,
                             description='ImageJ=1.53t\n' + lines)
            launch('ndfilesrc', 'location=' + path, '!', 'ndfilesink',
                   'location=' + raw)
            with open(raw, 'rb') as file:
                header, samples = file.read().split(b'\n\n', 1)
            kind = [line.split(b':')[1].strip().decode() for line in header.split(b'\n')
                    if line.startswith(b'type:')][0]
            kind = {'float': 'f4', 'short': 'i2', 'ushort': 'u2',
                    'uchar': 'u1'}[kind]
            processor = Opener().openImage(path).getProcessor()
            for i in 0, 1, 17, Y * X - 1:
                shown = float(processor.getPixelValue(i % X, i // X))
                assert np.frombuffer(samples, kind)[i] == shown, (lines, i)


with tempfile.TemporaryDirectory() as folder:
    for check in check_channels, check_colours, check_values:
        check(folder)
        print(check.__name__, 'passes')
