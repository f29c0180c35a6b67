# PSNR in dB of the package bm4d on the volumes that ndquality --save wrote:
# NAME-SIGMA.raw and the truth NAME-0.raw, 64 x 64 x 64 float32. A margin of 4
# does not count.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import pathlib
import sys
import time

try:
    import bm4d
    import numpy as np
except ImportError as error:
    sys.exit(f'{error}: pip install bm4d')


def load(path):
    return np.fromfile(path, np.float32).reshape(64, 64, 64)


def main():
    folder = pathlib.Path(sys.argv[1])
    inner = (slice(4, -4),) * 3
    print('| phantom | sigma | bm4d, one volume | s |\n'
          '| --- | --- | --- | --- |')
    for path in sorted(folder.glob('*.raw'),
                       key=lambda p: (p.stem.split('-')[0],
                                      int(p.stem.split('-')[1]))):
        name, sigma = path.stem.split('-')
        if sigma == '0':
            continue
        truth = load(folder / f'{name}-0.raw')
        begin = time.monotonic()
        clean = bm4d.bm4d(load(path), float(sigma))
        seconds = time.monotonic() - begin
        error = np.mean((clean[inner] - truth[inner]) ** 2)
        print(f'| {name} | {sigma} | {10 * np.log10(255 ** 2 / error):.2f} '
              f'| {seconds:.0f} |', flush=True)


if __name__ == '__main__':
    main()
