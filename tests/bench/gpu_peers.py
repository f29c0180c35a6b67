# Measures CuPy and PyTorch on the cases that ndbench printed: one JSON object
# per line on stdin, and the same with their times on stdout. Data stay on the
# device, and times are measured with its events.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import json
import math
import statistics
import sys

try:
    import cupy
    import cupyx.scipy.ndimage
    import cupyx.scipy.signal
except ImportError:
    cupy = None
try:
    import torch
    # Without this setting cuDNN rounds float32 samples to 10 bits.
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
except ImportError:
    torch = None

VOLUMES = 8          # of a stream in 4D
MAX_MACS = 1.2e12    # cases with more than this in one call are skipped
RUNS = 9


def median(record, elapsed, function):
    """Milliseconds that function takes, measured with events made by record ()."""
    function()
    times = []
    while len(times) < RUNS and sum(times) < 3000:
        begin = record()
        function()
        times.append(elapsed(begin, record()))
    return statistics.median(times)


def cupy_event():
    event = cupy.cuda.Event()
    event.record()
    return event


def cupy_elapsed(begin, end):
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end)


def torch_event():
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def torch_elapsed(begin, end):
    end.synchronize()
    return begin.elapsed_time(end)


def run_cupy(case, shape, taps, show):
    axes = len(shape)
    x = cupy.random.uniform(0, 255, shape).astype(case['type'])
    real = cupy.float64 if case['type'] == 'float64' else cupy.float32
    w = cupy.random.uniform(-1, 1, taps[:axes][::-1]).astype(real)
    volumes = shape[0] if axes == 4 else 1

    def time(function):
        return median(cupy_event, cupy_elapsed, function) / volumes
    if x.size * w.size <= MAX_MACS:
        show('cupyx.ndimage.convolve', cupy.__version__, time(
            lambda: cupyx.scipy.ndimage.convolve(x, w, mode='nearest')))
    if case['separable'] and len({*taps[:axes]}) == 1:
        show('cupyx.gaussian_filter', cupy.__version__, time(
            lambda: cupyx.scipy.ndimage.gaussian_filter(
                x, 5**0.5, output=real, mode='nearest', radius=taps[0] // 2)))
    xf = x.astype(real)
    show('cupyx.fftconvolve', cupy.__version__, time(
        lambda: cupyx.scipy.signal.fftconvolve(xf, w, 'same')))


# In 4D the volumes of the window are the channels: one call computes the next
# volume.
def run_torch(case, shape, taps, filters, show):
    flat = case['size'][2] == 1 and taps[3] == 1
    spatial = shape[-2:] if flat else shape[-3:]
    kernel = taps[:2][::-1] if flat else taps[:3][::-1]
    convolve = torch.nn.functional.conv2d if flat \
        else torch.nn.functional.conv3d
    x = torch.rand((1, taps[3], *spatial), device='cuda') * 255
    w = torch.rand((filters, taps[3], *kernel), device='cuda') * 2 - 1
    with torch.no_grad():
        show('torch.conv (cuDNN, float32)', torch.__version__, median(
            torch_event, torch_elapsed,
            lambda: convolve(x, w, padding=[k // 2 for k in kernel])))


def main():
    if cupy is None and torch is None:
        print('No peers: neither CuPy nor PyTorch is installed',
              file=sys.stderr)
    for line in sys.stdin:
        case = json.loads(line)
        if case['response'] != 'each':
            continue
        size, taps, filters = case['size'], case['filter'], case['filters']
        axes = 2 if size[2] == 1 and taps[3] == 1 \
            else 3 if taps[3] == 1 else 4
        shape = (size + [VOLUMES])[:axes][::-1]
        outputs = size[0] * size[1] * size[2]

        def show(method, version, ms):
            print(json.dumps({
                'work': case['work'], 'method': method,
                'device': case['device'], 'version': version,
                'median_ms': ms, 'outputs_per_s': outputs / ms * 1e3}),
                flush=True)
        if cupy is not None and filters == 1:
            try:
                run_cupy(case, shape, taps, show)
            except cupy.cuda.memory.OutOfMemoryError:
                print(f"{case['work']}: CuPy ran out of memory",
                      file=sys.stderr)
            cupy.get_default_memory_pool().free_all_blocks()
        macs = outputs * math.prod(taps) * filters
        if torch is not None and case['type'] != 'float64' and macs <= MAX_MACS:
            run_torch(case, shape, taps, filters, show)
            torch.cuda.empty_cache()


main()
