#!/usr/bin/python3
"""Filters volumes that a Python program holds as NumPy arrays.

  pipelines/embed.py

The volumes are float32, a ball that grows, and noise, in the order z, y, x. They
are part of a larger array, so their rows and slices have gaps, as in an image
with a margin: the property strides tells the filter of them. For each volume
the program prints the standard deviation of the noise before and after.

Needs: apt install python3-gi gir1.2-gst-plugins-base-1.0 python3-numpy

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import gi
import numpy

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
from gi.repository import GLib, Gst, GstApp     # noqa: E402

SIZE = 32
MARGIN = 3
VOLUMES = 12
RATE = 20       # volumes per second
SEED = 1


def make_volume(n, random):
    """Returns volume `n`, a view into an array with a margin on all sides."""
    whole = numpy.zeros([SIZE + 2 * MARGIN] * 3, 'float32')
    volume = whole[(slice(MARGIN, -MARGIN),) * 3]
    z, y, x = numpy.mgrid[:SIZE, :SIZE, :SIZE] - SIZE // 2
    radius = SIZE / 4 + n / 4
    volume[:] = numpy.where(x * x + y * y + z * z < radius * radius, 100, 0)
    volume += random.uniform(-20, 20, volume.shape)
    return volume


def noise(volume):
    """The standard deviation in the first slices, which the ball never
    reaches."""
    return float(volume[:4].std())


def make_pipeline(volume):
    """Returns a pipeline for volumes like `volume`, and its two ends."""
    z, y, x = volume.shape
    pipeline = Gst.parse_launch(
        'appsrc name=source format=time ! ndconv4dtemporal '
        f'strides={volume.strides[1]}:{volume.strides[0]} '
        'filter=gaussian,sigma=1.0 ! appsink name=sink sync=false')
    source = pipeline.get_by_name('source')
    source.set_caps(Gst.Caps.from_string(
        'other/tensors,format=static,num_tensors=1,types=float32,'
        f'dimensions=(string)1:{x}:{y}:{z},framerate={RATE}/1'))
    pipeline.set_state(Gst.State.PLAYING)
    return pipeline, source, pipeline.get_by_name('sink')


def to_buffer(volume, n):
    """Copies the bytes from the first sample to the last one."""
    size = (volume.nbytes // volume.size + sum(
        stride * (length - 1)
        for stride, length in zip(volume.strides, volume.shape)))
    flat = numpy.lib.stride_tricks.as_strided(
        volume.view('uint8'), [size], [1], writeable=False)
    buffer = Gst.Buffer.new_wrapped_bytes(GLib.Bytes.new(flat.tobytes()))
    buffer.pts = n * Gst.SECOND // RATE
    buffer.duration = Gst.SECOND // RATE
    return buffer


def to_array(sample):
    """Returns the volume in `sample` in the order z, y, x."""
    buffer = sample.get_buffer()
    dimensions = sample.get_caps().get_structure(0).get_string('dimensions')
    c, x, y, z = (int(size) for size in dimensions.split(':'))
    values = numpy.frombuffer(
        buffer.extract_dup(0, buffer.get_size()), 'float32')
    return values.reshape(z, y, x)


def next_sample(pipeline, sink):
    """Returns the next sample, or None at the end of the stream. After an error
    nothing comes out of the sink any more: the bus has the message."""
    while not sink.is_eos():
        sample = sink.try_pull_sample(Gst.SECOND // 10)
        if sample:
            return sample
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise RuntimeError(message.parse_error()[0].message)
    return None


def filter_volumes(volumes):
    """Returns pairs of seconds and the filtered volume."""
    pipeline, source, sink = make_pipeline(volumes[0])
    outputs = []
    for n, volume in enumerate(volumes):
        if source.push_buffer(to_buffer(volume, n)) != Gst.FlowReturn.OK:
            break
    # The filter outputs the last volumes after the end of the stream.
    source.end_of_stream()
    try:
        while (sample := next_sample(pipeline, sink)):
            outputs.append(
                (sample.get_buffer().pts / Gst.SECOND, to_array(sample)))
    finally:
        pipeline.set_state(Gst.State.NULL)
    return outputs


def main():
    random = numpy.random.default_rng(SEED)
    print('seed', SEED)
    Gst.init(None)
    volumes = [make_volume(n, random) for n in range(VOLUMES)]
    for volume, (seconds, output) in zip(volumes, filter_volumes(volumes)):
        print(f'{seconds:.2f} s  noise {noise(volume):5.2f} -> '
              f'{noise(output):.2f}')


if __name__ == '__main__':
    main()
