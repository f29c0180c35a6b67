#!/usr/bin/python3
# Exchange with other programs: teem (unu), nibabel and SimpleITK (ITK's MetaIO,
# NRRD and NIfTI) read files of ndfilesink, and ndfilesrc reads theirs. Samples,
# geometry, times and fields must be equal. Each recording of $ND_SHARED/data is
# filtered into every format.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../.python'))
try:
    import numpy as np
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)
try:
    import nibabel
except ImportError as missing:
    nibabel = None
    print('without nibabel:', missing)
try:
    import SimpleITK as sitk
    sitk.ProcessObject.SetGlobalWarningDisplay(False)
except ImportError as missing:
    sitk = None
    print('without SimpleITK:', missing)
UNU = shutil.which('teem-unu') or shutil.which('unu')
if not UNU:
    print('without unu of teem-apps')

FORMATS = ['nii', 'nii.gz', 'nrrd', 'seq.nrrd', 'igs.nrrd', 'nhdr', 'mha',
           'igs.mha', 'mhd']
TYPES = [np.uint8, np.int16, np.uint16, np.float32]
GEOMETRY = 1e-12                # of doubles in text
NIFTI_GEOMETRY = 1e-6           # of float32


def launch(*words):
    run = subprocess.run(['gst-launch-1.0'] + list(words),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=300)
    assert run.returncode == 0 and b'ERROR' not in run.stdout, (words,
                                                                run.stdout)
    return run.stdout.decode()


def convert(source, target, *between, compress=False):
    elements = [word for element in between for word in element.split() + ['!']]
    return launch('ndfilesrc', 'location=' + source, '!', *elements,
                  'ndfilesink', 'location=' + target,
                  'compress=' + str(compress).lower())


def samples(path, dtype, folder):
    raw = os.path.join(folder, 'samples.raw')
    convert(path, raw)
    return np.fromfile(raw, dtype)


def fields(path):
    """Returns the lines of a text header."""
    with open(path, 'rb') as file:
        head = re.split(rb'\n\n|\nElementDataFile', file.read(1 << 22))[0]
    return head.decode().split('\n')


def near(found, expected, slack, what):
    found, expected = np.ravel(found), np.ravel(expected)
    scale = max(1, np.abs(expected).max())
    assert np.abs(found - expected).max() <= slack * scale, (what, found,
                                                             expected)


def read_unu(path, dtype):
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, 'plain.nhdr')
        subprocess.run([UNU, 'save', '-f', 'nrrd', '-e', 'raw', '-en', 'little',
                        '-i', path, '-o', plain], check=True, timeout=300,
                       stderr=subprocess.DEVNULL)
        return np.fromfile(os.path.join(folder, 'plain.raw'), dtype)


def read_other(path, dtype):
    """The name of the program, and samples in the order of the file."""
    found = {}
    if nibabel and '.nii' in path:
        found['nibabel'] = np.asarray(nibabel.load(path).dataobj).ravel('F')
    if UNU and path.endswith(('.nrrd', '.nhdr')):
        found['unu'] = read_unu(path, dtype)
    if sitk:
        array = sitk.GetArrayFromImage(sitk.ReadImage(path))
        # ITK takes the list axis of NRRD for the components of a sample.
        if (path.endswith(('.nrrd', '.nhdr')) and array.ndim > 3
                and 'list' in str(fields(path))):
            array = np.moveaxis(array, -1, 0)
        found['SimpleITK'] = array.ravel()
    return found


def geometry_of(path):
    """Spacing, origin and directions of x, y, z by ITK's convention."""
    image = sitk.ReadImage(path)
    n = image.GetDimension()
    directions = np.array(image.GetDirection()).reshape(n, n)[:3, :3]
    return (np.array(image.GetSpacing()[:3]), np.array(image.GetOrigin()[:3]),
            directions)


def check_shared(folder):
    """Every recording, filtered, in every format."""
    data = os.path.join(os.environ.get('ND_SHARED', ''), 'data')
    if not os.path.isdir(data):
        print('without recordings, see ND_SHARED')
        return 0
    n = 0
    for name in sorted(os.listdir(data)):
        if not name.endswith(('.nii.gz', '.mha')):
            continue
        source = os.path.join(data, name)
        dtype = {'greedy_img4d.nii.gz': np.float32,
                 'sct_fmri.nii.gz': np.int16}.get(name, np.uint8)
        if name != 'plus_USTC_FrameGrabber_ProbeRotationData.igs.mha':
            filters = [[], ['ndconv4dtemporal filter=box,size=3:1:1:3']]
        else:
            filters = [[]]
        for number, between in enumerate(filters):
            raw = os.path.join(folder, 'expected.raw')
            convert(source, raw, *between)
            expected = np.fromfile(raw, dtype)
            for ending in FORMATS:
                target = os.path.join(folder, '%d.%s' % (number, ending))
                for part in os.listdir(folder):
                    if part.startswith('%d.' % number):
                        os.remove(os.path.join(folder, part))
                compress = ending != 'nii' and (n % 2 == 0
                                                or ending == 'nii.gz')
                convert(source, target, *between, compress=compress)
                assert np.array_equal(samples(target, dtype, folder),
                                      expected), (name, ending)
                for who, found in read_other(target, dtype).items():
                    assert np.array_equal(found, expected), (name, ending, who)
                if sitk and not ending.endswith(('nrrd', 'nhdr')):
                    check_geometry(source, target, GEOMETRY if '.nii' not in
                                   source + target else NIFTI_GEOMETRY)
                check_times(source, target, folder)
                n += 1
    return n


def check_geometry(source, target, slack):
    for found, expected in zip(geometry_of(target), geometry_of(source)):
        size = min(found.shape[0], expected.shape[0])
        near(found[:size].T[:size], expected[:size].T[:size], slack,
             (source, target))


def times(path, folder):
    """Timestamps of the volumes as text, in PLUS's format."""
    out = os.path.join(folder, 'times.mhd')
    for old in ['times.mhd', 'times.raw']:
        if os.path.exists(os.path.join(folder, old)):
            os.remove(os.path.join(folder, old))
    convert(path, out)
    return [line for line in fields(out) if line.startswith('Seq_Frame')]


def check_times(source, target, folder):
    expected, found = times(source, folder), times(target, folder)
    assert found == expected, (source, target, found[:9], expected[:9])


def check_plus_fields(folder):
    """Fields written by PLUS survive two other formats."""
    data = os.path.join(os.environ.get('ND_SHARED', ''), 'data')
    source = os.path.join(data, 'plus_BoneUltrasound_L14.igs.mha')
    if not os.path.exists(source):
        return 0
    paths = [os.path.join(folder, 'plus.' + ending)
             for ending in ['seq.nrrd', 'nii.gz', 'igs.nrrd', 'igs.mha']]
    for before, after in zip([source] + paths, paths):
        convert(before, after)
    kept = ('Seq_Frame', 'Ultrasound')
    before = sorted(x for x in fields(source) if x.startswith(kept))
    after = sorted(x for x in fields(paths[-1]) if x.startswith(kept))
    assert before == after, set(before) ^ set(after)
    assert len(before) == 21 * 8 + 2, len(before)
    return 1


def random_image(rng, dims, dtype, components=1):
    sizes = tuple(int(s) for s in rng.integers(2, 7, dims))
    shape = sizes[::-1] + ((components,) if components > 1 else ())
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        array = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    else:
        array = rng.normal(size=shape).astype(dtype)
    image = sitk.GetImageFromArray(array, isVector=components > 1)
    image.SetSpacing([float(x) for x in rng.uniform(0.2, 3, dims)])
    image.SetOrigin([float(x) for x in rng.uniform(-99, 99, dims)])
    directions = np.eye(dims)
    directions[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    image.SetDirection(directions.ravel())
    return image, array


def check_itk_writes(folder, rng):
    """Files of SimpleITK of every type survive every format."""
    if not sitk:
        return 0
    n = 0
    endings = ['mha', 'mhd', 'nrrd', 'nhdr', 'nii', 'nii.gz']
    wider = {np.int64: np.float32, np.uint64: np.float32}
    types = TYPES + [np.int8, np.int32, np.uint32, np.float64] + list(wider)
    for dtype, ending, packed in itertools.product(
            types, endings, [False, True]):
        dims = 3 if 'n' in ending or rng.integers(2) else 4
        components = 3 if ending != 'nii' and 'nii' not in ending and (
            rng.integers(3) == 0) else 1
        image, array = random_image(rng, dims, dtype, components)
        source = os.path.join(folder, 'itk.' + ending)
        sitk.WriteImage(image, source, packed)
        out = wider.get(dtype, dtype)
        expected = array.astype(out).ravel()
        words = (dtype, ending, packed, dims, components)
        assert np.array_equal(samples(source, out, folder), expected), words
        for to in ['mha', 'nrrd'] + ['nii'] * (components == 1):
            target = os.path.join(folder, 'from-itk.' + to)
            text = convert(source, target)
            assert ('rounded' in text) == (dtype in wider), (words, text)
            if dims == 3 or to == 'mha':
                slack = NIFTI_GEOMETRY if 'nii' in ending + to else 1e-9
                check_geometry(source, target, slack)
            again = sitk.GetArrayFromImage(sitk.ReadImage(target))
            if to == 'nrrd' and dims == 4 and components == 1:
                again = np.moveaxis(again, -1, 0)
            if to != 'nrrd' or dims == 3 or components == 1:
                assert np.array_equal(again.ravel(), expected), (words, to)
        n += 1
    return n


def check_unu_writes(folder, rng):
    """Files of unu: encodings, byte orders, detached headers, time first."""
    if not UNU:
        return 0
    n = 0
    names = {np.uint8: 'uchar', np.int16: 'short', np.uint16: 'ushort',
             np.float32: 'float', np.float64: 'double', np.int32: 'int'}
    for (dtype, name), encoding, endian, ending, first in itertools.product(
            names.items(), ['raw', 'gzip'], ['little', 'big'],
            ['nrrd', 'nhdr'], [False, True]):
        sizes = [5, 4, 3, 6]
        array = rng.integers(0, 200, sizes[::-1]).astype(dtype)
        plain = os.path.join(folder, 'unu.raw')
        array.tofile(plain)
        made = os.path.join(folder, 'made.nrrd')
        source = os.path.join(folder, 'unu.' + ending)
        subprocess.run([UNU, 'make', '-i', plain, '-t', name, '-s',
                        *map(str, sizes), '-e', 'raw', '-en', 'little', '-k',
                        'space', 'space', 'space', 'list', '-spc', 'RAS',
                        '-dirs', '(0.5,0,0) (0,0.75,0) (0,0,2) none', '-orig',
                        '(1,2,3)', '-o', made], check=True, timeout=300)
        if first:
            subprocess.run([UNU, 'permute', '-p', '3', '0', '1', '2', '-i',
                            made, '-o', made], check=True, timeout=300)
        subprocess.run([UNU, 'save', '-f', 'nrrd', '-e', encoding, '-en',
                        endian, '-i', made, '-o', source], check=True,
                       timeout=300)
        words = (name, encoding, endian, ending, first)
        assert np.array_equal(samples(source, dtype, folder),
                              array.ravel()), words
        target = os.path.join(folder, 'from-unu.nrrd')
        convert(source, target)
        assert np.array_equal(read_unu(target, dtype), array.ravel()), words
        head = '\n'.join(fields(target))
        assert 'kinds: domain domain domain list' in head, head
        assert '(-0.5,0,0) (0,-0.75,0) (0,0,2) none' in head, head
        assert 'space origin: (-1,-2,3)' in head, head
        n += 1
    return n


def check_nibabel_writes(folder, rng):
    """Both transforms and the extensions are kept."""
    if not nibabel:
        return 0
    n = 0
    for kind, units, endian in itertools.product(
            [nibabel.Nifti1Image, nibabel.Nifti2Image],
            [('mm', 'sec', 1), ('micron', 'msec', 1e3), ('meter', 'usec', 1e6)],
            '<>'):
        array = rng.integers(0, 255, (5, 4, 3, 6)).astype(np.int16)
        affine = np.diag([2, 3, 4, 1.0])
        affine[:3, 3] = [1, 2, 3]
        header = kind.header_class(endianness=endian)
        header['descrip'] = b'from nibabel'
        image = kind(array, affine, header)
        image.set_qform(np.diag([2, -3, -4, 1.0]), 2)
        image.set_sform(affine, 4)
        image.header.set_xyzt_units(*units[:2])
        image.header['pixdim'][4] = 0.125 * units[2]
        image.header['toffset'] = 2.5 * units[2]
        for code, text in ((4, b'<afni/>'), (6, b'a comment')):
            image.header.extensions.append(
                nibabel.nifti1.Nifti1Extension(code, text))
        source = os.path.join(folder, 'nib.nii.gz')
        nibabel.save(image, source)
        middle = os.path.join(folder, 'nib.seq.nrrd')
        target = os.path.join(folder, 'nib.nii')
        convert(source, middle)
        convert(middle, target)
        mm = {'mm': 1, 'micron': 1e-3, 'meter': 1e3}[units[0]]
        found = nibabel.load(target)
        assert np.array_equal(np.asarray(found.dataobj), array)
        for name in 'qform', 'sform':
            before, code = getattr(image, 'get_' + name)(coded=True)
            after, code_after = getattr(found, 'get_' + name)(coded=True)
            before[:3] *= mm
            near(after, before, NIFTI_GEOMETRY, name)
            assert code == code_after, (name, code, code_after)
        near(found.header.get_zooms()[3], 0.125, NIFTI_GEOMETRY, 'zooms')
        near(found.header['toffset'], 2.5, NIFTI_GEOMETRY, 'toffset')
        assert found.header['descrip'] == b'from nibabel'
        codes = [(e.get_code(), e.get_content())
                 for e in found.header.extensions][:2]
        assert codes[0][0] == 4 and codes[1][0] == 6, codes
        assert b'<afni/>' in codes[0][1] and b'a comment' in codes[1][1], codes
        n += 1
    return n


def main():
    seed = int(os.environ.get('ND_SEED') or int.from_bytes(os.urandom(4),
                                                           'little'))
    rng = np.random.default_rng(seed)
    print('seed', seed)
    total = 0
    for check in (check_shared, check_plus_fields, check_itk_writes,
                  check_unu_writes, check_nibabel_writes):
        with tempfile.TemporaryDirectory() as folder:
            arguments = [folder]
            if check.__code__.co_argcount == 2:
                arguments.append(rng)
            n = check(*arguments)
        print(check.__name__, n)
        total += n
    if total == 0:
        sys.exit(77)


main()
