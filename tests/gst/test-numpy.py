#!/usr/bin/python3
# NumPy reads the .npy of ndfilesink, and ndfilesrc reads .npy and .npz of NumPy:
# both orders, both byte orders, stored and deflated. A damaged archive is an
# error.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)

SEED = int(os.environ.get('ND_SEED', '1'))
rng = np.random.default_rng(SEED)


def convert(source, target):
    run = subprocess.run(['gst-launch-1.0', 'ndfilesrc',
                          'location=' + source, '!', 'ndfilesink',
                          'location=' + target],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=300)
    return run.returncode, run.stdout.decode()


def read(path, dtype, folder):
    raw = os.path.join(folder, 'samples.raw')
    status, text = convert(path, raw)
    assert status == 0, text
    return np.fromfile(raw, dtype), text


def decode(path, dtype, folder):
    """The samples that decodebin finds."""
    raw = os.path.join(folder, 'decoded.raw')
    run = subprocess.run(['gst-launch-1.0', 'filesrc', 'location=' + path, '!',
                          'decodebin', 'caps=other/tensors', '!', 'filesink',
                          'location=' + raw],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=300)
    assert run.returncode == 0, run.stdout.decode()
    return np.fromfile(raw, dtype)


with tempfile.TemporaryDirectory() as folder:
    print('ND_SEED=%d' % SEED)
    for dtype in ['u1', '<i2', '>u2', '<f4', '>f4']:
        data = rng.integers(0, 120, (3, 4, 50, 6)).astype(dtype)
        kept = np.dtype(dtype).newbyteorder('=')
        for order in ['C', 'F']:
            array = np.asarray(data, order=order)
            # The axis that runs fastest in memory is x.
            expected = array.ravel(order='K').astype(kept)
            path = os.path.join(folder, 'in.npy')
            np.save(path, array)
            assert np.array_equal(read(path, kept, folder)[0], expected)
            path = os.path.join(folder, 'in.npz')
            for save in [np.savez, np.savez_compressed]:
                save(path, array)
                found, text = read(path, kept, folder)
                assert np.array_equal(found, expected), (dtype, order)
                assert 'arrays' not in text, text
        out = os.path.join(folder, 'out.npy')
        status, text = convert(path, out)
        assert status == 0, text
        assert np.load(out).dtype == kept
        assert np.array_equal(np.load(out).ravel(), expected)
    for save in [np.savez, np.savez_compressed]:
        save(path, data)
        assert np.array_equal(decode(path, kept, folder),
                              data.astype(kept).ravel())
    # An archive of something else is not taken for a recording.
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('readme.txt', 'no array')
    run = subprocess.run(['gst-typefind-1.0', path], stdout=subprocess.PIPE,
                         timeout=300)
    assert b'application/zip' in run.stdout, run.stdout
    # The largest array is read, and the others are named.
    np.savez(path, spacing=np.ones(3), volume=data, affine=np.eye(4))
    found, text = read(path, kept, folder)
    assert np.array_equal(found, data.astype(kept).ravel())
    assert '"volume"' in text and '"spacing"' in text and '"affine"' in text, \
        text
    # A check sum that is wrong, and an archive without its end.
    np.savez_compressed(path, data)
    with open(path, 'rb') as file:
        whole = file.read()
    for damaged, word in [
            (whole.replace(whole[14:18], b'\1\2\3\4'), 'check sum'),
            (whole[:-40], 'truncated')]:
        with open(path, 'wb') as file:
            file.write(damaged)
        status, text = convert(path, os.path.join(folder, 'bad.raw'))
        assert status != 0 and word in text, (word, text)
