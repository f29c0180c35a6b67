#!/usr/bin/python3
# What SimpleITK and nibabel find in a file of another program, they find in
# copies of it by ndfilesrc ! ndfilesink. test-interop.py compares what is usual;
# this, what is rare and allowed.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import itertools
import os
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../.python'))
try:
    import numpy as np
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)
try:
    import SimpleITK as sitk
    sitk.ProcessObject.SetGlobalWarningDisplay(False)
except ImportError as missing:
    sitk = None
    print('without SimpleITK:', missing)


try:
    import nibabel
except ImportError as missing:
    nibabel = None
    print('without nibabel:', missing)


def convert(source, target, *options):
    run = subprocess.run(['gst-launch-1.0', '-q', 'ndfilesrc',
                          'location=' + source, '!', 'ndfilesink',
                          'location=' + target, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=300)
    assert run.returncode == 0, (source, target, run.stdout)
    return run.stdout.decode()


def geometry_of(path):
    """Spacing, origin and directions of x, y, z by ITK's convention."""
    image = sitk.ReadImage(path)
    n = image.GetDimension()
    directions = np.array(image.GetDirection()).reshape(n, n)[:3, :3]
    return np.concatenate((image.GetSpacing()[:3], image.GetOrigin()[:3],
                           directions.ravel()))


def check_nrrd(folder):
    """Each way to say, or not to say, where a volume lies."""
    spaces = ['', 'space: RAS', 'space: left-anterior-superior', 'space: LPS',
              'space: scanner-xyz', 'space: 3D-left-handed',
              'space dimension: 3']
    turned = 'space directions: (0,2,0) (-1.5,0,0) (0,0,-3)'
    begins = 'axis mins: 10 20 30'
    cases = [(space, place, origin) for space, place, origin
             in itertools.product(spaces[1:], ['', turned],
                                  ['', 'space origin: (10,20,30)'])]
    cases += itertools.product(
        ['spacings: 2 1.5 3', 'spacings: -2 1.5 3', 'spacings: 2 nan 3', '',
         'axis maxs: 20 30 40'],
        ['', begins, 'axis mins: nan 20 30'],
        ['', 'centers: node cell ???', 'centers: node node node'])
    n = 0
    for case, kinds in itertools.product(cases, ['', 'kinds: domain space '
                                                     'domain']):
        lines = [line for line in case + (kinds,) if line]
        source = os.path.join(folder, 'in.nrrd')
        with open(source, 'wb') as file:
            file.write('\n'.join(['NRRD0005', 'type: uchar', 'dimension: 3',
                                  'sizes: 5 4 3', 'encoding: raw', *lines,
                                  '', '']).encode() + bytes(range(60)))
        try:
            expected = geometry_of(source)
        except RuntimeError:
            continue            # two statements of one fact
        for ending in ['nrrd', 'mha', 'nii'] if n % 3 == 0 else ['mha']:
            target = os.path.join(folder, 'out.' + ending)
            convert(source, target)
            found = geometry_of(target)
            assert np.allclose(found, expected, 0, 1e-5), (
                lines, ending, found, expected)
        n += 1
    return n


def check_quaternions(folder):
    """Of a rotation by nearly half a turn, rounded to float32, or too long."""
    source = os.path.join(folder, 'in.nii')
    target = os.path.join(folder, 'out.mha')
    header = nibabel.Nifti1Header()
    header.set_data_shape((5, 4, 3))
    header.set_data_dtype(np.uint8)
    header['pixdim'][:4] = 1, 2, 1.5, 3
    header['qform_code'] = 1
    header['magic'] = b'n+1'
    header['vox_offset'] = 352
    header['qoffset_x'] = 10
    for length in (1, 1 + 1e-7, 1 + 1e-5, 1.01):
        header['quatern_b'], header['quatern_c'], header['quatern_d'] = (
            np.array([0.6, 0.48, 0.64]) * length)
        with open(source, 'wb') as file:
            file.write(header.binaryblock + bytes(4) + bytes(range(60)))
        convert(source, target)
        found, expected = geometry_of(target), geometry_of(source)
        assert np.allclose(found, expected, 0, 1e-5), (length, found, expected)
    return 4


def check_vectors(folder):
    """The fifth axis of nibabel is that of components, with and without time,
    in one file and in two."""
    rng = np.random.default_rng(3)
    n = 0
    for volumes, kind, ending in itertools.product(
            (1, 3), (nibabel.Nifti1Image, nibabel.Nifti1Pair,
                     nibabel.Nifti2Pair), ('', '.gz')):
        shape = (5, 4, 3, volumes, 3)
        array = rng.normal(size=shape).astype(np.float32)
        name = os.path.join(folder, 'v%d' % n)
        pair = kind is not nibabel.Nifti1Image
        nibabel.save(kind(array, np.eye(4)),
                     name + ('.img' if pair else '.nii') + ending)
        target = name + '.npy'
        convert(name + ('.hdr' if pair else '.nii') + ending, target)
        found = np.load(target)
        assert np.array_equal(found, array.transpose(3, 2, 1, 0, 4)), (
            volumes, kind, ending)
        n += 1
    return n


def check_streams(folder):
    """Compressed samples of several blocks are one stream, as zlib unpacks it;
    ITK and nibabel read them."""
    rng = np.random.default_rng(4)
    source = os.path.join(folder, 'source.npy')
    n = 0
    for volumes, shape in ((1, (1, 1, 1)), (1, (64, 64, 64)), (3, (99, 88, 77))):
        array = rng.integers(0, 1000, (volumes, *shape)).astype(np.uint16)
        array[:, :, ::2] = 7
        np.save(source, array)
        for ending, window in (('nii.gz', 31), ('nrrd', 31), ('mha', 15)):
            target = os.path.join(folder, 'packed.' + ending)
            convert(source, target, 'compress=true')
            data = open(target, 'rb').read()
            begin = {'nrrd': data.find(b'\n\n') + 2,
                     'mha': data.find(b'ElementDataFile = LOCAL\n') + 24,
                     'nii.gz': 0}[ending]
            stream = zlib.decompressobj(window)
            samples = stream.decompress(data[begin:])
            assert stream.eof and not stream.unused_data, target
            assert samples.endswith(array.tobytes()), target
            if nibabel and ending == 'nii.gz':
                found = np.asanyarray(nibabel.load(target).dataobj).T
                assert np.array_equal(found.reshape(array.shape), array)
            if sitk and volumes == 1:
                found = sitk.GetArrayFromImage(sitk.ReadImage(target))
                assert np.array_equal(found, array[0]), target
            n += 1
    return n


def main():
    if not sitk and not nibabel:
        print('skipped: nothing to compare with')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if sitk:
            print('%d NRRD files as ITK reads them' % check_nrrd(folder))
        if sitk and nibabel:
            print('%d quaternions as of ITK' % check_quaternions(folder))
        if nibabel:
            print('%d vectors as of nibabel' % check_vectors(folder))
        print('%d compressed streams' % check_streams(folder))
    return 0


if __name__ == '__main__':
    sys.exit(main())
