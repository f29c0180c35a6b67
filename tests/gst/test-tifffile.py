#!/usr/bin/python3
# tifffile reads what ndfilesink writes, and ndfilesrc reads what tifffile
# writes: ImageJ hyperstacks, OME-TIFF, BigTIFF, tiles, planes, compression, both
# byte orders, channels. Samples, spacing and rate must be equal. The tif in
# $ND_SHARED/data passes through, too.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../.python'))
try:
    import numpy as np
    import tifffile
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)

T, Z, C, Y, X = 3, 5, 2, 7, 6
SEED = int(os.environ.get('ND_SEED', '1'))
rng = np.random.default_rng(SEED)


def launch(*words):
    run = subprocess.run(['gst-launch-1.0', '-v', *words],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=300)
    text = run.stdout.decode()
    assert run.returncode == 0 and 'ERROR' not in text, (words, text)
    return text


def caps_of(text):
    """The dimensions, the rate and the spacing in the output of -v."""
    dimensions = re.search(r'dimensions=\(string\)"?([\d:]+)', text)[1]
    spacing = re.search(r'spacing=\(string\)"?([-\d.e:\\ ]+)', text)
    rate = re.search(r'framerate=\(fraction\)(\d+)/(\d+)', text)
    return (([int(n) for n in dimensions.split(':')] + [1] * 4)[:4],
            [float(n) for n in re.findall(r'[-\d.e]+', spacing[1])]
            if spacing else None,
            int(rate[1]) / int(rate[2]))


def read(path, dtype, folder, *properties):
    raw = os.path.join(folder, 'samples.raw')
    text = launch('ndfilesrc', 'location=' + path, *properties, '!',
                  'ndfilesink', 'location=' + raw)
    return (np.fromfile(raw, dtype),) + caps_of(text)


def array(dtype, *shape):
    if np.dtype(dtype).kind in 'fc':
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, True)


def check_read(folder):
    """Each row: what to write, how, the axes that it has."""
    rows = [
        (array('u1', T, Z, Y, X), 'TZYX', dict(imagej=True)),
        (array('u2', T, Z, Y, X), 'TZYX', dict(imagej=True)),
        (array('f4', T, Z, Y, X), 'TZYX', dict(imagej=True)),
        (array('u2', T, Y, X), 'TYX', dict(imagej=True)),
        (array('u2', Z, Y, X), 'ZYX', dict(imagej=True)),
        (array('u2', T, Z, C, Y, X), 'TZCYX', dict(imagej=True)),
        (array('u1', Z, Y, X, 3), 'ZYXS', dict(imagej=True)),
        (array('u2', T, Z, Y, X), 'TZYX', dict(ome=True)),
        (array('f4', Z, T, Y, X), 'ZTYX', dict(ome=True)),
        (array('i2', C, T, Z, Y, X), 'CTZYX', dict(ome=True)),
        (array('u1', C, T, Y, X), 'CTYX', dict(ome=True, compression='zlib')),
        (array('u1', T, Z, Y, X, 3), 'TZYXS', dict(ome=True)),
        (array('i1', T, Z, Y, X), 'TZYX', dict(photometric='minisblack')),
        (array('i4', T, Z, Y, X), 'TZYX', dict(photometric='minisblack')),
        (array('f8', T, Z, Y, X), 'TZYX', dict(photometric='minisblack')),
        (array('c8', T, Z, Y, X), 'TZYX', dict(photometric='minisblack')),
        (array('u2', T, Z, Y, X), 'TZYX',
         dict(photometric='minisblack', bigtiff=True)),
        (array('u2', T, Z, Y, X), 'TZYX',
         dict(photometric='minisblack', byteorder='>')),
        (array('f4', T, Z, Y, X), 'TZYX',
         dict(photometric='minisblack', rowsperstrip=3)),
        (array('u2', T, Z, Y, X), 'TZYX',
         dict(photometric='minisblack', compression='zlib', predictor=True)),
        (array('u2', Z, 40, 50), 'ZYX',
         dict(photometric='minisblack', tile=(16, 32), compression='zlib')),
        (array('u2', T, Z, Y, X), 'TZYX',
         dict(photometric='minisblack', truncate=True)),
        (array('u2', Z, T, Y, X), 'ZTYX',
         dict(photometric='minisblack', truncate=True, byteorder='>')),
        (array('u1', T, C, Y, X), 'TCYX',
         dict(photometric='minisblack', truncate=True)),
        (array('u2', Z, 40, 50), 'ZYX',
         dict(photometric='minisblack', volumetric=True)),
        (array('u2', T, Z, 40, 50), 'TZYX',
         dict(photometric='minisblack', volumetric=True, tile=(1, 16, 16),
              compression='zlib')),
        (array('u1', Z, 3, Y, X), 'ZSYX',
         dict(photometric='rgb', planarconfig='separate')),
    ]
    if importlib.util.find_spec('imagecodecs'):
        rows += [
            (array('u2', Z, 40, 50), 'ZYX',
             dict(photometric='minisblack', compression='lzw',
                  predictor=True)),
            (array('f4', Z, 40, 50), 'ZYX',
             dict(photometric='minisblack', compression='zlib', predictor=3,
                  bigtiff=True)),
            (array('u2', Z, 40, 50) >> 4, 'ZYX',
             dict(photometric='minisblack', bitspersample=12)),
        ]
    else:
        print('without imagecodecs: no LZW, no 12 bits')
    for number, (data, axes, how) in enumerate(rows):
        path = os.path.join(folder, 'in%d.tif' % number)
        how = dict(how, metadata={'axes': axes})
        if how.get('byteorder'):
            data = data.astype(data.dtype.newbyteorder('>'))
        tifffile.imwrite(path, data, **how)
        kept = data.dtype.newbyteorder('=')
        becomes = kept.str[1:]
        order = ['TZYXCS'.index(axis) for axis in axes]
        missing = [axis for axis in range(6) if axis not in order]
        expected = data.reshape(data.shape + (1,) * len(missing))
        expected = np.moveaxis(expected, range(6), order + missing)
        found, dimensions, _, _ = read(path, becomes, folder)
        assert dimensions[1:4] == list(expected.shape[3:0:-1]), (
            axes, how, dimensions)
        assert np.array_equal(found, expected.astype(becomes).ravel()), (
            axes, how)


def check_geometry(folder):
    path = os.path.join(folder, 'geometry.tif')
    data = array('u2', T, Z, Y, X)
    tifffile.imwrite(path, data, imagej=True, resolution=(1 / 0.25, 1 / 0.5),
                     metadata={'axes': 'TZYX', 'unit': 'um', 'spacing': 2.0,
                               'finterval': 0.05})
    _, _, spacing, rate = read(path, 'u2', folder)
    assert np.allclose(spacing, [0.25e-3, 0.5e-3, 2e-3], 1e-6), spacing
    assert rate == 20, rate
    tifffile.imwrite(path, data, ome=True,
                     metadata={'axes': 'TZYX', 'PhysicalSizeX': 0.25,
                               'PhysicalSizeY': 500, 'PhysicalSizeYUnit': 'nm',
                               'PhysicalSizeZ': 0.002, 'PhysicalSizeZUnit': 'mm',
                               'TimeIncrement': 50, 'TimeIncrementUnit': 'ms'})
    _, _, spacing, rate = read(path, 'u2', folder)
    assert np.allclose(spacing, [0.25e-3, 0.5e-3, 2e-3], 1e-6), spacing
    assert rate == 20, rate
    # Irregular times.
    times = [0, 0.1, 0.35]
    tifffile.imwrite(path, data, ome=True, metadata={
        'axes': 'TZYX', 'Plane': {'DeltaT': np.repeat(times, Z).tolist()}})
    nrrd = os.path.join(folder, 'times.nrrd')
    launch('ndfilesrc', 'location=' + path, '!', 'ndfilesink',
           'location=' + nrrd)
    with open(nrrd, 'rb') as file:
        values = re.search(rb'axis 3 index values:=(.*)\n', file.read())[1]
    assert np.allclose([float(v) for v in values.split()], times), values


def check_plain(folder):
    """Pages without a meaning are slices; volume-size makes volumes of them."""
    path = os.path.join(folder, 'plain.tif')
    data = array('u2', 6, Y, X)
    tifffile.imwrite(path, data, photometric='minisblack', metadata=None)
    for size, expected in [(None, 6), ('%d:%d:1' % (X, Y), 1),
                           ('%d:%d:2' % (X, Y), 2), ('%d:%d:4' % (X, Y), 6)]:
        found, dimensions, _, _ = read(
            path, 'u2', folder, *(['volume-size=' + size] if size else []))
        assert dimensions[3] == expected, (size, dimensions)
        assert np.array_equal(found, data.ravel()), size


def check_written(folder):
    for dtype in ['u1', 'i2', 'u2', 'f4']:
        for shape in [(1, Z, Y, X, 1), (T, Z, Y, X, 1), (T, 1, Y, X, 1),
                      (1, 1, Y, X, 1), (T, Z, Y, X, 3), (T, Z, Y, X, 4),
                      (T, Z, Y, X, 2), (T, Z, Y, X, 10)]:
            raw = os.path.join(folder, 'in.raw')
            data = array(dtype, *shape)
            data.tofile(raw)
            names = {'u1': 'uint8', 'i2': 'int16', 'u2': 'uint16',
                     'f4': 'float32'}
            properties = ['volume-size=%d:%d:%d' % shape[3:0:-1],
                          'type=' + names[dtype], 'framerate=30000/1001',
                          'components=%d' % shape[4]]
            colour = dtype == 'u1' and shape[4] in (3, 4)
            for name in 'out.tif', 'out.ome.tif':
                path = os.path.join(folder, name)
                launch('ndfilesrc', 'location=' + raw, *properties, '!',
                       'ndfilesink', 'location=' + path)
                with tifffile.TiffFile(path) as file:
                    if name == 'out.tif':
                        about = file.imagej_metadata['finterval']
                    else:
                        about = tifffile.xml2dict(file.ome_metadata)
                        about = about['OME']['Image']['Pixels']['TimeIncrement']
                    assert abs(about - 1001 / 30000) < 1e-9
                    series = file.series[0]
                    axes, expected = 'TZYXS', data
                    if not colour:
                        axes, expected = 'TZCYX', np.moveaxis(data, 4, 2)
                    axes = ''.join(axis for axis, n in zip(axes, expected.shape)
                                   if n > 1)
                    assert series.axes == axes, (series.axes, axes, shape)
                    found = series.asarray()
                    assert found.dtype == np.dtype(dtype)
                    assert np.array_equal(found, np.squeeze(expected)), shape
                found, dimensions, _, rate = read(path, dtype, folder)
                assert dimensions == list(shape[:0:-1]), (dimensions, shape)
                assert np.array_equal(found, data.ravel()), shape
                assert shape[0] == 1 or abs(rate - 30000 / 1001) < 1e-3, rate


def check_spacing(folder):
    path = os.path.join(folder, 'heart.tif')
    for source in [['ndtestsrc', 'num-buffers=3', 'volume-size=8:8:8']]:
        text = launch(*source, '!', 'ndfilesink', 'location=' + path)
        _, spacing, rate = caps_of(text)
        _, _, again, rate_again = read(path, 'u1', folder)
        assert rate == rate_again
        assert (spacing is None) == (again is None), (spacing, again)
        assert spacing is None or np.allclose(spacing, again, 1e-6)


def check_recording(folder):
    data = os.path.join(os.environ.get('ND_SHARED', ''), 'data')
    path = os.path.join(data, 'cancer_cell_migration_crop.tif')
    if not os.path.exists(path):
        print('without', path)
        return
    expected = tifffile.imread(path)
    found, dimensions, _, _ = read(path, 'u2', folder, 'volume-size=130:130:1')
    assert dimensions[1:4] == [130, 130, 1], dimensions
    assert np.array_equal(found, expected.ravel())
    out = os.path.join(folder, 'filtered.tif')
    launch('ndfilesrc', 'location=' + path, 'volume-size=130:130:1', '!',
           'ndconv3d', 'filter=box,size=1', '!', 'ndfilesink',
           'location=' + out)
    assert np.array_equal(tifffile.imread(out), expected)


def check_series(folder):
    """Numbered files, and OME-TIFF of several files, as tifffile joins them."""
    series = os.path.join(folder, 'series')
    os.mkdir(series)
    data = array('u2', 12, Y, X)
    for number, plane in enumerate(data):
        tifffile.imwrite(os.path.join(series, 'img_%d.tif' % (number + 3)), plane)
    joined = tifffile.imread(os.path.join(series, '*.tif'))
    for path in series, os.path.join(series, 'img_%d.tif'):
        found, dimensions, _, _ = read(path, 'u2', folder)
        assert dimensions == [1, X, Y, 12], dimensions
        assert np.array_equal(found, joined.ravel())
        _, dimensions, _, _ = read(path, 'u2', folder, 'volume-size=%d:%d:1' % (X, Y))
        assert dimensions == [1, X, Y, 1], dimensions
    ome = os.path.join(folder, 'ome')
    os.mkdir(ome)
    data = array('u2', T, C, Z, Y, X)
    names = ['t%d_c%d.ome.tif' % (t, c) for t in range(T) for c in range(C)]
    for own, name in enumerate(names):
        planes = ''.join(
            '<TiffData FirstT="%d" FirstC="%d" IFD="0" PlaneCount="%d"><UUID '
            'FileName="%s">urn:uuid:%d</UUID></TiffData>'
            % (n // C, n % C, Z, names[n], n) for n in range(T * C))
        tifffile.imwrite(
            os.path.join(ome, name), data[own // C, own % C], metadata=None,
            photometric='minisblack', description=(
                '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/'
                'Schemas/OME/2016-06" UUID="urn:uuid:%d"><Image ID="Image:0">'
                '<Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint16" '
                'SizeX="%d" SizeY="%d" SizeZ="%d" SizeC="%d" SizeT="%d">%s'
                '</Pixels></Image></OME>' % (own, X, Y, Z, C, T, planes)))
    for name in names[0], names[-1]:
        path = os.path.join(ome, name)
        peer = tifffile.imread(path)
        found, dimensions, _, _ = read(path, 'u2', folder)
        assert dimensions == [C, X, Y, Z], dimensions
        assert np.array_equal(found, np.moveaxis(
            peer.reshape(data.shape), 1, -1).ravel())


with tempfile.TemporaryDirectory() as folder:
    print('ND_SEED=%d' % SEED)
    for check in [check_read, check_geometry, check_plain, check_written,
                  check_spacing, check_recording, check_series]:
        check(folder)
        print(check.__name__, 'passes')
