#!/usr/bin/python3
# Files written by nibabel pass through ndfilesrc ! ndfilesink, and nibabel
# finds the same samples, affine and zooms in the result. So do the recordings
# in $ND_SHARED/data.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import itertools
import os
import subprocess
import sys
import tempfile

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print('skipped:', missing)
    sys.exit(77)

RGB = np.dtype([('R', 'u1'), ('G', 'u1'), ('B', 'u1')])
TYPES = ['u1', 'i2', 'u2', 'f4', 'c8', RGB]
SIZES = [(5, 4, 3, 6), (7, 2, 3), (3, 2, 1, 2), (40000, 1, 1, 2)]


def pass_through(source, target):
    subprocess.run(
        ['gst-launch-1.0', '-q', 'ndfilesrc', 'location=' + source, '!',
         'ndfilesink', 'location=' + target], check=True, timeout=300)


def random_affine(rng, kind):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    affine = np.eye(4)
    affine[:3, :3] = q * rng.uniform(0.2, 5, 3)
    if kind == 'sheared':
        affine[:3, :3] += rng.normal(size=(3, 3)) / 3
    affine[:3, 3] = rng.uniform(-100, 100, 3)
    return affine


def same(found, expected, name, relative):
    if relative == 0:
        assert np.array_equal(found, expected), (name, found, expected)
    else:
        scale = np.abs(expected).max()
        assert np.abs(found - expected).max() <= relative * scale, (
            name, found, expected)


def compare(source, target):
    expected, found = nibabel.load(source), nibabel.load(target)
    same(found.affine, expected.affine, 'affine', 0)
    same(found.header.get_zooms(), expected.header.get_zooms(), 'zooms', 0)
    assert np.array_equal(np.asarray(found.dataobj),
                          np.asarray(expected.dataobj))


def main():
    seed = int.from_bytes(os.urandom(4), 'little')
    rng = np.random.default_rng(seed)
    print('seed', seed)
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        kinds = itertools.cycle(['sform', 'sheared', 'qform'])
        orders = itertools.cycle('<>')
        sizes = itertools.cycle(SIZES[:3])
        endings = itertools.cycle(['.nii', '.nii.gz', '.nii.gz'])
        for version, dtype in itertools.product((1, 2), TYPES * 2):
            kind, order, shape = next(kinds), next(orders), next(sizes)
            source = os.path.join(folder, 'in' + next(endings))
            target = os.path.join(folder, 'out' + next(endings))
            if version == 2 and dtype == 'u1':
                shape = SIZES[3]
            dtype = np.dtype(dtype)
            data = rng.integers(0, 256, np.prod(shape) * dtype.itemsize,
                                'u1')
            if dtype.kind in 'fc':
                data = rng.normal(size=data.size // 4).astype('f4')
            data = data.view(dtype).reshape(shape, order='F')
            image = nibabel.Nifti1Image if version == 1 else \
                nibabel.Nifti2Image
            header = image.header_class(endianness=order)
            header.set_data_dtype(dtype)
            image = image(data, None, header)
            affine = random_affine(rng, kind)
            if kind == 'qform':
                image.set_qform(affine, code=1)
            else:
                image.set_sform(affine, code=2)
                image.header.set_zooms(
                    tuple(np.sqrt((affine[:3, :3]**2).sum(0)))
                    + image.header.get_zooms()[3:])
            if len(shape) == 4:
                image.header['pixdim'][4] = rng.uniform(0.001, 3)
                image.header.set_xyzt_units('mm', 'sec')
            image.header.set_slope_inter(1, 0)
            nibabel.save(image, source)
            pass_through(source, target)
            # A quaternion and the doubles of NIfTI-2 become float32 numbers.
            expected = nibabel.load(source)
            found = nibabel.load(target)
            exact = version == 1 and kind != 'qform'
            # The file has b, c and d of a quaternion. If a is small, it changes
            # by 1 / a times what they do.
            bound = 3e-7
            if kind == 'qform':
                bound /= max(expected.header.get_qform_quaternion()[0], 1e-3)
            same(found.affine, expected.affine, 'affine', 0 if exact else bound)
            assert np.allclose(found.header.get_zooms(),
                               expected.header.get_zooms(), rtol=1e-7, atol=0)
            assert found.shape == expected.shape
            assert (np.asarray(found.dataobj).tobytes()
                    == np.asarray(expected.dataobj).astype(dtype).tobytes())
            assert type(found) is (nibabel.Nifti2Image if max(shape) > 32767
                                   else nibabel.Nifti1Image)
            assert found.get_data_dtype() == dtype
            n += 1

        # Scaled samples are float32.
        data = rng.integers(-3000, 3000, (5, 4, 3, 2)).astype('i2')
        image = nibabel.Nifti1Image(data, np.eye(4))
        source = os.path.join(folder, 'scaled.nii')
        target = os.path.join(folder, 'unscaled.nii.gz')
        image.header.set_slope_inter(0.37, -12)
        nibabel.save(image, source)
        pass_through(source, target)
        expected = np.asarray(nibabel.load(source).dataobj)
        found = np.asarray(nibabel.load(target).dataobj)
        assert found.dtype == np.float32
        assert np.abs(found - expected).max() <= 1e-7 * np.abs(expected).max()
        n += 1

        # Analyze, and NIfTI without a transform: scale and affine are nibabel's.
        for kind in (nibabel.Spm2AnalyzeImage, nibabel.AnalyzeImage,
                     nibabel.Nifti1Pair):
            for order in '<>':
                data = rng.integers(-99, 99, (5, 4, 3, 2)).astype('i2')
                header = kind.header_class(endianness=order)
                header.set_data_dtype('i2')
                header.set_data_shape(data.shape)
                header.set_zooms((1.5, 2, 0.5, 1))
                if kind is nibabel.Spm2AnalyzeImage:
                    header['origin'][:3] = rng.integers(-2, 6, 3)
                    header['scl_slope'] = rng.choice([0, 0.5])
                if kind is nibabel.AnalyzeImage:
                    header['cal_max'], header['glmax'] = 5, 20
                source = os.path.join(folder, 'pair.hdr')
                with open(source, 'wb') as file:
                    header.write_to(file)
                with open(source[:-3] + 'img', 'wb') as file:
                    file.write(data.astype(order + 'i2').tobytes(order='F'))
                target = os.path.join(folder, 'pair.nii')
                pass_through(source, target)
                compare(source, target)
                n += 1

        shared = os.path.join(os.environ.get('ND_SHARED', ''), 'data')
        for name in ('greedy_img4d.nii.gz', 'sct_fmri.nii.gz'):
            source = os.path.join(shared, name)
            if not os.path.exists(source):
                print('skipped: no', source)
                continue
            for ending in ('.nii', '.nii.gz'):
                target = os.path.join(folder, 'out' + ending)
                pass_through(source, target)
                compare(source, target)
                n += 1
    print(n, 'files')


main()
