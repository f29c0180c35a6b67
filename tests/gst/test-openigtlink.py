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
RECORDINGS = ['plus_USTC_FrameGrabber_ProbeRotationData.igs.mha',
              'plus_BoneUltrasound_L14.igs.mha']


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def start(*words):
    return subprocess.Popen(['gst-launch-1.0', '-q'] + list(words),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(run, timeout=300):
    output = run.communicate(timeout=timeout)[0].decode()
    assert run.returncode == 0 and 'ERROR' not in output, output
    return output


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
    header = check_file(path, image, size,
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


def sink_words(raw, size, components, name):
    return ['ndfilesrc', 'location=' + raw,
            'volume-size=' + ':'.join(map(str, size)), 'type=' + name,
            'components=%d' % components, 'framerate=20/1']


# Every type, version and size in one stream: the caps change with each.
def all_to_src(folder):
    port = free_port()
    server = pyigtl.OpenIGTLinkServer(port=port, local_server=True)
    cases = [(scalar, version, size) for scalar in TYPES
             for version in (1, 2, 3) for size in SIZES]
    run = start('openigtlinksrc', 'policy=every', 'host=127.0.0.1',
                'port=%d' % port, 'num-buffers=%d' % len(cases), '!',
                'other/tensors', '!', 'multifilesink',
                'location=' + os.path.join(folder, 'all%03d.raw'))
    while not server.is_connected():
        time.sleep(0.01)
    for i, (scalar, version, size) in enumerate(cases):
        message = pyigtl.ImageMessage(samples(TYPES[scalar], size, 1 + i % 3),
                                      device_name='Py', timestamp=1000 + i)
        message.header_version = version
        server.send_message(message, wait=True)
    finish(run)
    server.stop()
    for i, (scalar, version, size) in enumerate(cases):
        expected = samples(TYPES[scalar], size, 1 + i % 3).tobytes()
        with open(os.path.join(folder, 'all%03d.raw' % i), 'rb') as file:
            assert file.read() == expected, (scalar, version, size)
    return len(cases)


def receive_bytes(peer, n):
    data = b''
    while len(data) < n:
        piece = peer.recv(n - len(data))
        assert piece, 'the stream ended early'
        data += piece
    return data


def receive_image(peer):
    """The next IMAGE, unpacked by pyigtl."""
    header = pyigtl.messages.MessageBase.parse_header(receive_bytes(peer, 58))
    body = receive_bytes(peer, header['body_size'])
    message = pyigtl.messages.MessageBase.create_message(
        header['message_type'])
    message.unpack(header, body)
    return message


# Every type and size of one version in one stream.
def src_to_all(folder, version):
    port = free_port()
    cases = [(np.dtype(dtype).name, size, 1 + 2 * k)
             for dtype in TYPES.values()
             for k, size in enumerate(SIZES)]
    words = ['concat', 'name=all', '!', 'openigtlinksink', 'port=%d' % port,
             'host=127.0.0.1', 'device-name=Nd', 'version=%d' % version]
    for i, (name, size, components) in enumerate(cases):
        raw = os.path.join(folder, 'one%d.raw' % i)
        image = samples(np.dtype(name), size, components)
        # The first ones may be sent before the peer is there.
        write_raw(raw, np.concatenate([image.ravel()] * (40 if i == 0 else 2)))
        words += sink_words(raw, size, components, name)
        words += ['!', 'all.']
    run = start(*words)
    peer = None
    while peer is None:
        try:
            peer = socket.create_connection(('127.0.0.1', port), timeout=300)
        except ConnectionRefusedError:
            assert run.poll() is None, run.communicate()
            time.sleep(0.01)
    seen = set()
    while len(seen) < len(cases):
        message = receive_image(peer)
        assert message.header_version == version
        assert message.device_name == 'Nd'
        for i, (name, size, components) in enumerate(cases):
            image = samples(np.dtype(name), size, components)
            if (message.image.dtype == image.dtype
                    and message.image.size == image.size
                    and message.image.shape[:3] == image.shape[:3]):
                np.testing.assert_array_equal(
                    message.image.reshape(image.shape), image)
                seen.add(i)
    peer.close()
    finish(run)
    return len(cases)


def src_to_pyigtl(folder):
    raw = os.path.join(folder, 'b.raw')
    port = free_port()
    size = SIZES[0]
    image = samples(np.dtype('int16'), size)
    write_raw(raw, np.concatenate([image.ravel()] * 100))
    run = start(*sink_words(raw, size, 1, 'int16'), '!',
                'openigtlinksink', 'port=%d' % port, 'device-name=Nd')
    client = pyigtl.OpenIGTLinkClient('127.0.0.1', port)
    message = client.wait_for_message('Nd', timeout=300)
    client.stop()
    run.terminate()
    run.communicate()
    assert message is not None
    np.testing.assert_array_equal(message.image.reshape(image.shape), image)
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
    header = check_file(path, samples(TYPES[scalar], size), size,
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
    run = start(*sink_words(raw, size, components, name), '!',
                'openigtlinksink', 'port=%d' % port, 'device-name=Nd')
    output = subprocess.run([PEER, 'receive', str(port), '2'], timeout=300,
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


# Frames and transforms of recordings of PLUS, served by the library, are those
# that ndfilesrc reads.
def replay(folder, name):
    path = os.path.join(SHARED, 'data', name)
    if not os.path.exists(path):
        print('without', path)
        return 0
    direct, live, raw, transforms = (
        os.path.join(folder, file) for file in
        ('direct.igs.mha', 'live.igs.mha', 'e.raw', 'e.txt'))
    finish(start('ndfilesrc', 'location=' + path, '!', 'ndfilesink',
                 'location=' + direct))
    header, data = read(direct)
    size = [int(word) for word in header['DimSize'].split()]
    assert header['ElementType'] == 'MET_UCHAR', header
    n = size[-1]
    kept = [key for key in header if key.endswith('Transform')
            and key.startswith('Seq_Frame') and len(key) <= 13 + 20 + 9
            and header.get(key + 'Status') == 'OK']
    with open(raw, 'wb') as file:
        file.write(data)
    with open(transforms, 'w') as file:
        for key in sorted(kept):
            file.write('%d %s %s\n' % (int(key[9:13]),
                                       key[14:-len('Transform')],
                                       ' '.join(header[key].split()[:12])))
    port = free_port()
    peer = subprocess.Popen([PEER, 'serve', str(port), raw, str(size[0]),
                             str(size[1]), str(size[2] if len(size) == 4
                                               else 1), str(n), transforms])
    finish(start('openigtlinksrc', 'policy=every', 'num-buffers=%d' % n,
                 'host=127.0.0.1', 'port=%d' % port, 'reconnect=0', '!',
                 'other/tensors', '!', 'ndfilesink', 'location=' + live))
    assert peer.wait(30) == 0
    came, samples_that_came = read(live)
    assert samples_that_came == data
    for key in kept:
        close(came[key].split(), [float(word) for word in header[key].split()])
        assert came[key + 'Status'] == 'OK'
    print(name, n, 'frames', len(kept), 'transforms')
    return 1


def main():
    folder = tempfile.mkdtemp()
    n = 0
    try:
        if pyigtl:
            n += all_to_src(folder)
            for version in (1, 2, 3):
                n += src_to_all(folder, version)
                pyigtl_to_src(folder, 3, SIZES[version % 2], version)
            src_to_pyigtl(folder)
            n += 4
        if PEER:
            for scalar in TYPES:
                for size in SIZES:
                    n += 1
                    library_to_src(folder, scalar, size)
            for dtype in TYPES.values():
                for k, size in enumerate(SIZES):
                    n += 1
                    src_to_library(folder, np.dtype(dtype).name, size,
                                   1 + 2 * k)
            for name in RECORDINGS:
                n += replay(folder, name)
    finally:
        shutil.rmtree(folder)
    print(n, 'exchanges')


main()
