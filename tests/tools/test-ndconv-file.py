#!/usr/bin/python3
# ndconv-file info: its output for each format, its picture, its errors.
#
#   tests/tools/test-ndconv-file.py PROGRAM
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import struct
import subprocess
import sys
import tempfile
import zlib

PROGRAM = sys.argv[1]

NRRD = b'''NRRD0004
type: short
dimension: 4
sizes: 4 3 2 3
space: LPS
space directions: (0.5,0,0) (0,0.5,0) (0,0,2) none
space origin: (1,2,3)
kinds: domain domain domain list
labels: "" "" "" "time"
units: "" "" "" "s"
endian: big
encoding: raw
Patient:=phantom
axis 3 index values:=10 10.04 10.15
axis 3 item 0001 Probe:=moved

'''


def run(*words, status=0):
    process = subprocess.run([PROGRAM, *words], text=True, timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.returncode == status, (words, process)
    return process.stdout + process.stderr


def line(text, name):
    found = [x for x in text.split('\n') if x.startswith(name)]
    assert len(found) == 1, (name, text)
    return found[0][len(name):].strip()


def read_png(path):
    """Returns width, height, bytes per pixel, and the samples of the rows."""
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, packed = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack(
                '>IIBB', data[at + 8:at + 18])
        if kind == b'IDAT':
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    assert depth == 8 and colour in (0, 2)
    return width, height, 3 if colour == 2 else 1, zlib.decompress(packed)


def check_nrrd(folder):
    path = os.path.join(folder, 'in.seq.nrrd')
    picture = os.path.join(folder, 'in.png')
    with open(path, 'wb') as file:
        file.write(NRRD + struct.pack('>72h', *range(72)))
    text = run('info', path, '--png', picture)
    assert line(text, 'file') == path
    assert line(text, 'format') == 'NRRD, int16; seekable'
    assert line(text, 'size') == '4 x 3 x 2 samples, 3 volumes'
    assert line(text, 'type') == 'int16, 48 bytes per volume'
    assert line(text, 'times') == ('10 to 10.15 s, irregular, 13.3333 '
                                   'volumes per second on average'), text
    assert line(text, 'geometry').startswith(
        'spacing 0.5 x 0.5 x 2 mm, origin (-1, -2, 3) mm, directions '
        'x (-1, 0, 0) y (0, -1, 0) z (0, 0, 1)'), text
    assert line(text, 'fields') == '1 of the recording, 1 of single volumes'
    width, height, channels, _ = read_png(picture)
    assert (width, height, channels) == (4 + 2, 3 + 2, 1)
    text = run('info', '--fields', path)
    assert line(text, '  Patient') == '= phantom'
    assert line(text, '  1 Probe') == '= moved'
    text = run('info', path, '-n', '3', '-p', picture, status=1)
    assert 'no volume 3' in text and '0 to 2' in text, text
    run('info', path, '-p', os.path.join(folder, 'no/x.png'), status=1)


def check_frame(folder):
    """A frame of RGB is written unchanged."""
    path = os.path.join(folder, 'in.mha')
    picture = os.path.join(folder, 'rgb.png')
    pixels = bytes([0, 255, 0] * 8 + [255, 0, 0] * 8)
    packed = zlib.compress(pixels)
    with open(path, 'wb') as file:
        file.write(b'ObjectType = Image\nNDims = 2\nDimSize = 4 4\n'
                   b'ElementNumberOfChannels = 3\nElementType = MET_UCHAR\n'
                   b'CompressedData = True\nCompressedDataSize = %d\n'
                   b'ElementDataFile = LOCAL\n' % len(packed) + packed)
    text = run('info', path, '--png', picture)
    assert 'compressed; not seekable' in line(text, 'format')
    assert line(text, 'type') == 'uint8, 3 components, 48 bytes per volume'
    assert read_png(picture)[:3] == (4, 4, 3)


def check_errors(folder):
    path = os.path.join(folder, 'x.raw')
    with open(path, 'wb') as file:
        file.write(bytes(48))
    assert '--volume-size' in run('info', path, status=1)
    text = run('info', path, '-s', '4:3:2', '--type=int16')
    assert line(text, 'size') == '4 x 3 x 2 samples, 1 volume'
    assert 'X:Y:Z' in run('info', path, '-s', '4', status=1)
    assert 'No such file' in run('info', path + 'x', status=1)
    assert 'Usage' in run(status=2)
    assert 'Usage' in run('info', status=2)
    text = run('describe', path, status=2)
    assert 'no command "describe"' in text and 'Usage' in text, text
    assert 'takes two files, not 1' in run('compare', path, status=2)
    assert 'option of convert, not of info' in run('info', path, '--rate=2',
                                                   status=2)
    assert 'not of check' in run('check', folder, '-n', '0', status=2)
    assert 'not of convert' in run('convert', path, path, '-p', path, status=2)
    text = run('info', path, '-s', '5:1:1', status=1)
    assert 'whole volumes' in text, text
    assert 'HDF5' in run('info', path, status=1)
    run('info', path, '--no-such', status=2)


def put_npy(path, shape, values, descr='<f4'):
    """A .npy file of float32 or of another type."""
    header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n"
              % (descr, shape)).encode()
    code = {'f4': 'f', 'f2': 'e', 'i1': 'b', 'i4': 'i', 'u4': 'I'}[descr[1:]]
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header))
                   + header + struct.pack('<%d%s' % (len(values), code),
                                          *values))


def check_compare(folder):
    a, b = (os.path.join(folder, name) for name in ('a.npy', 'b.npy'))
    values = [float(i % 100) for i in range(2 * 3 * 8 * 9)]
    put_npy(a, (2, 3, 8, 9), values)
    text = run('compare', a, a)
    assert line(text, 'all').split() == [
        'maximum', '0', 'RMS', '0', 'PSNR', 'infinite', 'SSIM', '1.0000'], text
    changed = list(values)
    changed[0] += 9.9
    put_npy(b, (2, 3, 8, 9), changed)
    text = run('compare', a, b, status=1)
    # RMS 9.9 / sqrt (432), the range is 99.
    assert 'maximum 9.9  RMS 0.476314  PSNR 46.35 dB' in line(text, 'all'), text
    assert 'maximum 9.9  RMS 0.67361' in line(text, '0 '), text
    assert 'maximum 0  RMS 0  PSNR infinite  SSIM 1.0000' in line(text, '1 ')
    put_npy(b, (1, 3, 8, 9), values[:216])
    text = run('compare', a, b, status=1)
    assert 'first 1' in line(text, 'warning'), text
    put_npy(b, (2, 3, 9, 8), values)
    assert 'equal shape' in run('compare', a, b, status=1)
    assert 'No such file' in run('compare', a, a + 'x', status=1)
    run('compare', a, status=2)
    changed[5] = float('nan')
    put_npy(b, (2, 3, 8, 9), changed)
    assert 'not finite 1' in line(run('compare', a, b, status=1), 'all')


def check_types(folder):
    """Types that filters do not compute with: values are exact, and pictures
    are drawn."""
    a, b, png = (os.path.join(folder, name)
                 for name in ('a.npy', 'b.npy', 'types.png'))
    for descr, name, value in (('|i1', 'int8', -7), ('<f2', 'float16', 0.5),
                               ('<i4', 'int32', 2**24),
                               ('<u4', 'uint32', 2**32 - 2)):
        put_npy(a, (8, 9), [value] * 72, descr)
        put_npy(b, (8, 9), [value] * 71 + [value + 1], descr)
        assert line(run('info', a), 'type').split(',')[0] == name
        text = run('compare', a, b, '--png', png, status=1)
        assert 'maximum 1 ' in line(text, 'all'), text
        assert read_png(png)[:3] == (3 * 9 + 2 * 4, 8, 1)


def first_row(rows, width):
    """Gray samples; PNG stores differences from the sample to the left."""
    left, found = 0, []
    for byte in rows[1:1 + width]:
        left = (byte + {0: 0, 1: left, 2: 0, 3: left // 2, 4: left}[rows[0]]
                ) % 256
        found.append(left)
    return found


def check_picture(folder):
    """A, B and B - A: the shapes are kept and grey is 0."""
    a, b, png = (os.path.join(folder, name)
                 for name in ('a.npy', 'b.npy', 'both.png'))
    values = [float(i) for i in range(5 * 30)]
    put_npy(a, (5, 30), values)
    put_npy(b, (5, 30), [values[0] + 7, values[1] - 7] + values[2:])
    run('compare', a, b, '--png', png, status=1)
    width, height, channels, rows = read_png(png)
    assert (width, height, channels) == (3 * 30 + 2 * 4, 5, 1)
    row = first_row(rows, width)
    difference = row[2 * 34:]
    assert difference[0] == 255 and difference[1] == 0, list(difference)
    assert all(abs(sample - 127.5) < 1 for sample in difference[2:])
    assert row[0] == 0 and row[30:34] == [0] * 4, row
    assert 'no volume 1' in run('compare', a, b, '--png', png, '-n', '1',
                                status=1)


def read_nrrd(path):
    """The header of an NRRD file of int16 or uint8, and its samples."""
    header, _, data = open(path, 'rb').read().partition(b'\n\n')
    fields = dict(x.split(': ', 1) for x in header.decode().split('\n')
                  if ': ' in x and not x.startswith('#'))
    code = {'int16': 'h', 'short': 'h', 'uchar': 'B'}[fields['type']]
    return fields, list(struct.unpack('<%d%s' % (
        len(data) // struct.calcsize(code), code), data))


def check_convert(folder):
    source = os.path.join(folder, 'in.seq.nrrd')
    target = os.path.join(folder, 'out.nrrd')
    samples = [n * 37 % 300 for n in range(72)]
    with open(source, 'wb') as file:
        file.write(NRRD + struct.pack('>72h', *samples))
    assert run('convert', source, target) == ''
    assert read_nrrd(target)[1] == samples
    text = run('info', '--fields', target)
    assert line(text, 'geometry') == line(run('info', source), 'geometry')
    assert line(text, 'times') == line(run('info', source), 'times')
    assert line(text, '  Patient') == '= phantom'
    assert line(text, '  1 Probe') == '= moved'
    # Samples x 1 to 3, y reversed before x, volumes 1 and 2.
    run('convert', source, target, '--crop=1:3,:,1:2,1:', '--axes=-yxz')
    fields, found = read_nrrd(target)
    assert fields['sizes'].split() == ['3', '2', '1', '2'], fields
    assert found == [samples[x + 4 * y + 12 + 24 * t] for t in (1, 2)
                     for x in (1, 2) for y in (2, 1, 0)]
    text = run('info', '--fields', target)
    assert line(text, 'times').startswith('10.04 to 10.15 s'), text
    # In RAS the sample (1, 2, 1) is at (-1 - 0.5, -2 - 1, 3 + 2).
    assert line(text, 'geometry') == (
        'spacing 0.5 x 0.5 x 2 mm, origin (-1.5, -3, 5) mm, directions x '
        '(0, 1, 0) y (-1, 0, 0) z (0, 0, 1), to right, anterior, superior')
    assert line(text, '  0 Probe') == '= moved'
    text = run('convert', source, target, '--to=uint8', '--rate=30000/1001',
               '--spacing=300nm:0.3um:1um')
    assert 'samples are no numbers of uint8' in text, text
    assert str(sum(x > 255 for x in samples)) + ' samples' in text, text
    assert read_nrrd(target)[1] == [min(x, 255) for x in samples]
    text = run('info', target)
    assert 'spacing 0.0003 x 0.0003 x 0.001 mm' in line(text, 'geometry')
    assert '30000/1001 volumes per second' in line(text, 'times')
    for rate, fraction in (('20', '20/1'), ('29.97', '2997/100'),
                           ('5000000.5', '10000001/2'), ('30/1.001',
                                                         '30000/1001'),
                           ('1e6', '1000000/1'), ('1e-9', '1/1000000000'),
                           ('12.5', '25/2')):
        run('convert', source, target, '--rate=' + rate)
        text = line(run('info', target), 'times')
        assert fraction + ' volumes per second' in text, (rate, text)
    text = run('convert', source, os.path.join(folder, 'out.npy'))
    assert 'does not hold the spacing' in text and 'fields' in text, text
    for ending in ('nii.gz', 'mha', 'tif', 'zarr'):
        other = os.path.join(folder, 'other.' + ending)
        compress = ['--compress'] if ending == 'mha' else []
        run('convert', source, other, *compress)
        # TIFF is read without libtiff, and OME-Zarr with all libraries, only.
        text = subprocess.run([PROGRAM, 'compare', source, other], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).stdout
        assert 'maximum 0 ' in line(text, 'all'), (ending, text)
    run('convert', source, target, '--type=uint8')
    assert read_nrrd(target)[0]['type'] == 'uchar'
    for wrong in ('--type=int64', '--crop=1:1', '--crop=:9', '--crop=:,:,:,:,:',
                  '--crop=a', '--axes=xy', '--axes=xyy', '--axes=xyzt',
                  '--spacing=1s', '--rate=0', '--rate=1e10', '--rate=1e-10',
                  '--rate=123456789.123'):
        text = run('convert', source, target, wrong, status=2)
        assert wrong.partition('=')[0] in text and 'must be' in text, text
    for name in ('x.mp4', 'x.nrd', 'x.bogus', 'x'):
        path = os.path.join(folder, name)
        assert 'cannot be written' in run('convert', source, path, status=2)
        assert not os.path.exists(path)
    assert 'has no name' in run('convert', source, '', status=2)
    text = run('convert', source, target, '--to=int8', '--type=int8', status=2)
    assert 'give one of them' in text, text
    raw = os.path.join(folder, 'x.raw')
    run('convert', source, raw)
    run('convert', raw, target, '-s', '4:3:2', '--type=int16', '--to=uint8')
    assert read_nrrd(target)[0]['type'] == 'uchar'
    run('convert', source, os.path.join(folder, 'no/x.nrrd'), status=1)


def put_dicom(path, slice):
    """A slice of a series of MR: 4 x 2 samples of uint8."""
    def element(group, number, kind, value):
        if isinstance(value, str):
            value = value.encode()
        value += b'\0' * (len(value) % 2)
        size = '<2xI' if kind in ('OB', 'UN') else '<H'
        return (struct.pack('<HH', group, number) + kind.encode()
                + struct.pack(size, len(value)) + value)

    syntax = element(2, 0x10, 'UI', '1.2.840.10008.1.2.1')
    with open(path, 'wb') as file:
        file.write(bytes(128) + b'DICM'
                   + element(2, 0, 'UL', struct.pack('<I', len(syntax)))
                   + syntax + element(0x20, 0xe, 'UI', '1.2')
                   + element(0x20, 0x13, 'IS', str(slice))
                   + element(0x20, 0x32, 'DS', '0\\0\\%d' % slice)
                   + element(0x20, 0x37, 'DS', '1\\0\\0\\0\\1\\0')
                   + element(0x28, 2, 'US', struct.pack('<H', 1))
                   + element(0x28, 4, 'CS', 'MONOCHROME2')
                   + element(0x28, 0x10, 'US', struct.pack('<H', 2))
                   + element(0x28, 0x11, 'US', struct.pack('<H', 4))
                   + element(0x28, 0x100, 'US', struct.pack('<H', 8))
                   + element(0x28, 0x101, 'US', struct.pack('<H', 8))
                   + element(0x28, 0x102, 'US', struct.pack('<H', 7))
                   + element(0x28, 0x103, 'US', struct.pack('<H', 0))
                   + element(0x7fe0, 0x10, 'OB', bytes([slice] * 8)))


def check_series(folder):
    """A series is one recording; names tell what should be a recording."""
    inside = os.path.join(folder, 'series')
    os.makedirs(inside)
    for z in range(3):
        put_dicom(os.path.join(inside, 'slice%d' % z), z)
    text = run('check', inside)
    assert line(text, 'total') == ('1 recordings were read, 1 volumes, 24 '
                                   'bytes; 0 cannot be read; 0 other files'), text
    for name in ('a.ims', 'b.h5', 'c.UFF', 'd.stk'):
        with open(os.path.join(inside, name), 'wb') as file:
            file.write(b'nothing')
    text = run('check', inside, status=1)
    assert '1 recordings were read' in line(text, 'total'), text
    assert '4 cannot be read; 0 other' in line(text, 'total'), text


def check_check(folder):
    inside = os.path.join(folder, 'archive', 'deeper')
    os.makedirs(inside)
    sound = os.path.join(inside, 'sound.nrrd')
    cut = os.path.join(folder, 'archive', 'cut.seq.nrrd')
    data = NRRD + struct.pack('>72h', *range(72))
    for path, content in ((sound, data), (cut, data[:-1]),
                          (os.path.join(inside, 'notes.txt'), b'notes')):
        with open(path, 'wb') as file:
            file.write(content)
    os.symlink('..', os.path.join(inside, 'up'))
    text = run('check', os.path.join(folder, 'archive'), status=1)
    assert line(text, 'not read').count(cut) == 1, text
    assert '--truncated=keep' in text, text
    assert 'truncated' in line(text, 'not read'), text
    assert line(text, 'total') == ('1 recordings were read, 3 volumes, 144 '
                                   'bytes; 1 cannot be read; 1 other files'), text
    text = run('check', os.path.join(folder, 'archive'), '--truncated=keep')
    assert 'the 2 whole ones are read' in line(text, 'warning'), text
    assert '2 recordings were read, 5 volumes' in line(text, 'total'), text
    with open(os.path.join(inside, 'empty.nii'), 'wb'):
        pass
    text = run('check', inside, status=1)
    assert 'empty.nii' in line(text, 'not read'), text
    assert 'No such file' in run('check', folder + '/none', status=1)
    run('check', status=2)
    # A header and its samples are one recording, whatever they begin with.
    pairs = os.path.join(folder, 'pairs')
    os.makedirs(pairs)
    samples = b'\x1f\x8b' + bytes(22)
    analyze = bytearray(348)
    struct.pack_into('<i', analyze, 0, 348)
    struct.pack_into('<8h', analyze, 40, 3, 4, 3, 2, 1, 1, 1, 1)
    struct.pack_into('<2h', analyze, 70, 2, 8)
    struct.pack_into('<8f', analyze, 76, *[1] * 8)
    for name, content in (
            ('a.nhdr', b'NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4 3 2\n'
             b'encoding: raw\ndata file: a.raw\n\n'), ('a.raw', samples),
            ('b.mhd', b'ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\n'
             b'ElementType = MET_UCHAR\nElementDataFile = b.raw\n'),
            ('b.raw', samples), ('c.hdr', analyze), ('c.img', samples)):
        with open(os.path.join(pairs, name), 'wb') as file:
            file.write(content)
    text = run('check', pairs)
    assert line(text, 'total') == ('3 recordings were read, 3 volumes, 72 '
                                   'bytes; 0 cannot be read; 0 other files'), text


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_nrrd(folder)
        check_frame(folder)
        check_compare(folder)
        check_types(folder)
        check_picture(folder)
        check_errors(folder)
        check_convert(folder)
        check_check(folder)
        check_series(folder)


main()
