#!/usr/bin/python3
# openigtlinksrc and openigtlinksink with other implementations as the other
# end: pyigtl, and the reference library by tests/live/igtlpeer. The argument is
# the path of that program, or nothing if it was not built.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../.python'))
try:
    import numpy as np
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)
try:
    import pyigtl
except ImportError as missing:
    pyigtl = None
    print('without pyigtl:', missing)
PEER = sys.argv[1] if len(sys.argv) > 1 else None
if not PEER:
    print('without libopenigtlink')
if not pyigtl and not PEER:
    sys.exit(77)

SHARED = os.environ.get('ND_SHARED', '')
TYPES = {2: np.int8, 3: np.uint8, 4: np.int16, 5: np.uint16, 6: np.int32,
         7: np.uint32, 10: np.float32, 11: np.float64}
SIZES = [(7, 5, 3), (8, 6, 1)]          # x, y, z
N = 3


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def start(*words):
    return subprocess.Popen(['gst-launch-1.0', '-q'] + list(words),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(run, timeout=60):
    output = run.communicate(timeout=timeout)[0].decode()
    assert run.returncode == 0 and 'ERROR' not in output, output
    return output


def received(scalar):
    """The type that samples have in a volume."""
    kept = {np.uint8, np.int16, np.uint16, np.float32}
    if TYPES[scalar] in kept:
        return TYPES[scalar]
    return np.int16 if TYPES[scalar] is np.int8 else np.float32


def record(path, *properties):
    return start('openigtlinksrc', 'policy=every', 'num-buffers=%d' % N,
                 *properties, '!', 'other/tensors', '!', 'ndfilesink',
                 'location=' + path)


def read(path):
    """Header and bytes of a MetaImage."""
    data = open(path, 'rb').read()
    end = data.index(b'\n', data.index(b'ElementDataFile')) + 1
    header = dict(line.split(' = ', 1) for line in
                  data[:end].decode().split('\n') if ' = ' in line)
    return header, data[end:]


def check_file(path, expected, size, spacing, offset):
    header, data = read(path)
    assert data == np.concatenate([expected.ravel()] * N).tobytes(), path
    dims = [int(word) for word in header['DimSize'].split()]
    assert dims[:2] == list(size[:2]) and dims[-1] == N, header
    close(header['ElementSpacing'].split()[:2], spacing[:2])
    close(header['Offset'].split()[:2], offset[:2])
    return header


def close(words, expected):
    np.testing.assert_allclose([float(word) for word in words], expected,
                               rtol=1e-6, atol=1e-5)


def samples(dtype, size, components=1):
    count = size[0] * size[1] * size[2] * components
    shape = (size[2], size[1], size[0]) + ((components,) if components > 1
                                           else ())
    return (np.arange(count) % 100).astype(dtype).reshape(shape)


# ndfilesink writes LPS, an IMAGE of pyigtl that says nothing else is LPS.
def pyigtl_to_src(folder, scalar, size, version):
    path = os.path.join(folder, 'a.mha')
    port = free_port()
    server = pyigtl.OpenIGTLinkServer(port=port, local_server=True)
    run = record(path, 'host=127.0.0.1', 'port=%d' % port)
    image = samples(TYPES[scalar], size)
    matrix = np.diag([0.5, 2, 3, 1])
    matrix[:3, 3] = [10, 20, 30]
    while not server.is_connected():
        time.sleep(0.01)
    for i in range(N):
        probe = np.eye(4)
        probe[0, 3] = i
        transform = pyigtl.TransformMessage(probe, device_name='Probe',
                                            timestamp=1000 + i / 10)
        message = pyigtl.ImageMessage(image, matrix, device_name='Py',
                                      timestamp=1000 + i / 10)
        for one in (transform, message):
            one.header_version = version
        if version > 1:
            message.metadata = {'Note': 'volume %d' % i}
        server.send_message(transform)
        server.send_message(message)
    finish(run)
    server.stop()
    header = check_file(path, image.astype(received(scalar)), size,
                        [0.5, 2, 3], [10, 20, 30])
    close([header['Seq_Frame0000_Timestamp']], [1000])
    for i in range(N):
        frame = 'Seq_Frame%04d_' % i
        assert header[frame + 'ProbeTransform'].split()[3] == str(i), header
        if version > 1:
            assert header[frame + 'Note'] == 'volume %d' % i


def write_raw(path, image):
    with open(path, 'wb') as file:
        file.write(image.tobytes())


def sink_words(raw, image, size, components, name):
    return ['ndfilesrc', 'location=' + raw,
            'volume-size=' + ':'.join(map(str, size)), 'type=' + name,
            'components=%d' % components, 'framerate=20/1']


def src_to_pyigtl(folder, name, size, components, version):
    raw = os.path.join(folder, 'b.raw')
    port = free_port()
    image = samples(np.dtype(name), size, components)
    write_raw(raw, np.concatenate([image.ravel()] * 100))
    run = start(*sink_words(raw, image, size, components, name), '!',
                'openigtlinksink', 'port=%d' % port, 'device-name=Nd',
                'version=%d' % version)
    client = pyigtl.OpenIGTLinkClient('127.0.0.1', port)
    message = client.wait_for_message('Nd', timeout=30)
    client.stop()
    run.terminate()
    run.communicate()
    assert message is not None
    assert message.header_version == version
    np.testing.assert_array_equal(message.image.reshape(image.shape), image)
    assert message.image.dtype == image.dtype
    assert abs(message.timestamp - time.time()) < 60


def library_to_src(folder, scalar, size):
    path = os.path.join(folder, 'c.mha')
    port = free_port()
    run = record(path, 'mode=server', 'host=127.0.0.1', 'port=%d' % port)
    peer = subprocess.Popen([PEER, 'send', str(port), str(scalar),
                             *map(str, size), str(N)])
    finish(run)
    assert peer.wait(30) == 0
    # The library's position is that of the centre, in RAS.
    corner = [10 - 0.5 * (size[0] - 1) / 2, 20 - 2 * (size[1] - 1) / 2]
    header = check_file(path, samples(received(scalar), size), size,
                        [0.5, 2, 3], [-corner[0], -corner[1]])
    close([header['Seq_Frame0000_Timestamp']], [1000])
    for i in range(N):
        frame = 'Seq_Frame%04d_' % i
        assert header[frame + 'ProbeToTrackerTransform'].split()[3] == str(i)


def src_to_library(folder, name, size, components):
    raw = os.path.join(folder, 'd.raw')
    port = free_port()
    image = samples(np.dtype(name), size, components)
    write_raw(raw, np.concatenate([image.ravel()] * 100))
    run = start(*sink_words(raw, image, size, components, name), '!',
                'openigtlinksink', 'port=%d' % port, 'device-name=Nd')
    output = subprocess.run([PEER, 'receive', str(port), '2'], timeout=60,
                            stdout=subprocess.PIPE, check=True).stdout.decode()
    run.terminate()
    run.communicate()
    total = 0
    for byte in image.tobytes():
        total = (total * 31 + byte) % 2 ** 32
    scalar = [key for key in TYPES if TYPES[key] is np.dtype(name).type][0]
    line = 'IMAGE Nd %dx%dx%d of %d type %d sum %u spacing 1 1 1' % (
        *size, components, scalar, total)
    assert output.split('\n')[0].startswith(line), (output, line)


# The frames of a recording of PLUS, served by the library, are those that
# ndfilesrc reads.
def replay(folder):
    name = os.path.join(SHARED, 'data',
                        'plus_USTC_FrameGrabber_ProbeRotationData.igs.mha')
    if not os.path.exists(name):
        print('without', name)
        return
    direct, path, raw = (os.path.join(folder, file) for file in
                         ('direct.mha', 'live.mha', 'e.raw'))
    finish(start('ndfilesrc', 'location=' + name, 'stop=%d' % N, '!',
                 'ndfilesink', 'location=' + direct))
    header, data = read(direct)
    size = [int(word) for word in header['DimSize'].split()]
    assert header['ElementType'] == 'MET_UCHAR', header
    with open(raw, 'wb') as file:
        file.write(data)
    port = free_port()
    peer = subprocess.Popen([PEER, 'serve', str(port), raw, str(size[0]),
                             str(size[1]), str(size[2] if len(size) == 4
                                               else 1), str(N)])
    finish(record(path, 'host=127.0.0.1', 'port=%d' % port, 'reconnect=0'))
    assert peer.wait(30) == 0
    assert read(path)[1] == data


def main():
    folder = tempfile.mkdtemp()
    n = 0
    try:
        if pyigtl:
            for scalar in TYPES:
                for size in SIZES:
                    n += 1
                    pyigtl_to_src(folder, scalar, size, 1 + n % 3)
            for name in ['uint8', 'int16', 'uint16', 'float32']:
                for k, size in enumerate(SIZES):
                    n += 1
                    src_to_pyigtl(folder, name, size, 1 + 2 * k, 1 + n % 3)
        if PEER:
            for scalar in TYPES:
                for size in SIZES:
                    n += 1
                    library_to_src(folder, scalar, size)
            for name in ['uint8', 'int16', 'uint16', 'float32']:
                for k, size in enumerate(SIZES):
                    n += 1
                    src_to_library(folder, name, size, 1 + 2 * k)
            replay(folder)
            n += 1
    finally:
        shutil.rmtree(folder)
    print(n, 'exchanges')


main()
