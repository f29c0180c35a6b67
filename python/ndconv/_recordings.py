"""Recordings in files and folders.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import ctypes
import fractions
import os
import threading
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy

from . import _library as lib
from ._arrays import COMPLEX, TYPES, find_kind

_NAMES = {kind: dtype for dtype, kind in TYPES.items()}


class Raw(NamedTuple):
    """The samples of files without a header."""
    shape: tuple[int, ...]   # of a volume: z, y, x, and components if any
    dtype: Any
    offset: int = 0          # bytes before the first volume


def _to_array(shape: Sequence[int], dtype: Any, volumes: int) -> lib.Array:
    """NdArray of dense volumes of @shape: z, y, x, and components if any."""
    dtype = numpy.dtype(dtype)
    kind, is_complex = find_kind(dtype)
    if kind is None or len(shape) not in (3, 4):
        raise lib.SettingsError(
            f"Recordings have volumes of 3 axes, z, y, x, or 4 with "
            f"components, of the types {', '.join(map(str, TYPES))}, "
            f"complex64 and complex128; this is {dtype} of the shape {tuple(shape)}")
    array = lib.Array(type=kind, responses=1)
    array.components = (2 if is_complex else
                        shape[3] if len(shape) == 4 else 1)
    array.size[:] = [shape[2], shape[1], shape[0], volumes]
    return array


def check_truncated(truncated: str) -> bool:
    """Whether whole volumes of truncated files are read."""
    if truncated not in ("refuse", "keep"):
        raise lib.SettingsError(f"truncated is {truncated!r}; it must be "
                                "'refuse' or 'keep'")
    return truncated == "keep"


class _Handle:
    """An object of the library, which lives as long as somebody uses it."""

    def __init__(self, pointer: int, free: Callable[[int], None],
                 needs: Any = None):
        self.pointer, self._free, self._needs = pointer, free, needs
        self.lock = threading.Lock()    # one thread at a time

    def __reduce_ex__(self, protocol: Any) -> Any:
        return lib.refuse_copy(self, "open the file again")

    def __del__(self) -> None:
        self._free(self.pointer)


class Recording:
    """Reads a recording, a volume at a time. `numpy.asarray` reads all of it.

    Parameters
    ----------
    path : path
        A file of NIfTI, Analyze, NRRD, MetaImage, NumPy, TIFF, DICOM or HDF5
        (Imaris, BigDataViewer, UFF); its content determines the format. A folder of
        DICOM, Micro-Manager or numbered files, or of OME-Zarr, if the library was
        built with it; that of a wheel is not. A pattern of files (img_%04d.tif).
    raw : Raw, optional
        The samples of a file without a header.
    max_memory : int, optional
        Bytes of memory that reading may take, with one volume; 0: a quarter of
        what the process may use. A file that asks for more is a `MemoryError`.
    truncated : {"refuse", "keep"}
        A file with fewer samples than its header says is refused, or its whole
        volumes are read, with a sentence in `warnings`.

    Attributes
    ----------
    shape : tuple of int
        t, z, y, x; the components, if there are several, come last, and the
        responses of a bank follow t.
    dtype : numpy.dtype
        Two components of float32 are complex64, of float64 complex128.
    format : str
        Such as ``"NRRD, int16, compressed"``.
    rate : fractions.Fraction or None
        Volumes per second.
    spacing : tuple of float or None
        Distances of samples in mm, along z, y, x.
    warnings : list of str
        Differences between the file and the samples that are read.

    Raises
    ------
    FileError, FormatError, SettingsError

    Examples
    --------
    >>> import ndconv, numpy, tempfile
    >>> path = tempfile.mkdtemp() + "/film.nrrd"
    >>> with ndconv.RecordingWriter(path, (3, 4, 5), "int16") as writer:
    ...     for n in range(2):
    ...         writer.write(numpy.full((3, 4, 5), n, "int16"))
    >>> recording = ndconv.Recording(path)
    >>> recording.shape
    (2, 3, 4, 5)
    >>> int(recording.read(1).max())
    1
    """

    def __init__(self, path: Any, raw: Raw | None = None,
                 max_memory: int = 0, truncated: str = "refuse"):
        self._reader: _Handle | None = None
        self.path = os.fspath(path)
        described = None if raw is None else _to_array(raw.shape, raw.dtype, 1)
        self._reader = _Handle(lib.nd_recording_reader_new(
            os.fsencode(self.path), described, raw.offset if raw else 0,
            max_memory, check_truncated(truncated)),
            lib.nd_recording_reader_free)
        array = lib.Array()
        lib.nd_recording_reader_init_array(self._reader.pointer, array)
        self.dtype = _NAMES[array.type]
        x, y, z, t = array.size
        volume: tuple[int, ...] = (z, y, x)
        if array.components == 2 and array.type in COMPLEX:
            self.dtype = numpy.dtype(COMPLEX[array.type])
        elif array.components > 1:
            volume += (array.components,)
        if array.responses > 1:
            volume = (array.responses,) + volume
        self.responses = array.responses
        self.shape = (t,) + volume
        self.format = lib.nd_recording_reader_get_format(
            self._reader.pointer).decode()

    def _get(self) -> _Handle:
        reader = self._reader
        if reader is None:
            raise ValueError(f"{self.path} is closed")
        return reader

    def close(self) -> None:
        """Closes the file, as soon as no writer needs its metadata."""
        self._reader = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return lib.refuse_copy(self, "open the file again")

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[numpy.ndarray]:
        return (self.read(volume) for volume in range(len(self)))

    @property
    def rate(self) -> fractions.Fraction | None:
        """Volumes per second."""
        n, d = ctypes.c_int(), ctypes.c_int()
        known = lib.nd_recording_reader_get_rate(self._get().pointer, n, d)
        return fractions.Fraction(n.value, d.value) if known else None

    @property
    def spacing(self) -> tuple[float, float, float] | None:
        """Distances of samples in mm, along z, y, x."""
        numbers = (ctypes.c_double * 3)()
        known = lib.nd_recording_reader_get_geometry(
            self._get().pointer, numbers, None, None)
        return (numbers[2], numbers[1], numbers[0]) if known else None

    @property
    def warnings(self) -> list[str]:
        """Differences between the file and the samples that are read."""
        return list(lib.read_texts(lib.nd_recording_reader_get_warnings(
            self._get().pointer)))

    def _read_into(self, volume: int, data: numpy.ndarray) -> numpy.ndarray:
        reader = self._get()
        with reader.lock:
            lib.nd_recording_reader_read(reader.pointer, volume,
                                         data.ctypes.data)
        return data

    def read(self, volume: int) -> numpy.ndarray:
        """One volume, counted from 0. In a compressed file those before it are
        decompressed too, unless they were just read."""
        if volume < 0:
            raise lib.SettingsError(f"volume is {volume}; it must be 0 or more")
        return self._read_into(volume, numpy.empty(self.shape[1:], self.dtype))

    def __array__(self, dtype: Any = None,
                  copy: bool | None = None) -> numpy.ndarray:
        """All volumes, for `numpy.asarray`."""
        if copy is False:
            raise ValueError(f"{self.path} cannot become an array without a "
                             "copy: its samples are in a file")
        data = numpy.empty(self.shape, self.dtype if dtype is None else dtype)
        for volume, part in enumerate(data):
            if data.dtype == self.dtype:
                self._read_into(volume, part)
            else:
                part[...] = self.read(volume)
        return data


class RecordingWriter:
    """Writes a recording, a volume at a time. As a context manager it completes
    the file at the end of the block, unless that raised an exception.

    Parameters
    ----------
    path : path
        The extension names the format: .nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd,
        .npy, .tif, .zarr (as for `Recording`), otherwise raw samples. Until the
        file is complete, it has the name PATH.part.
    shape : sequence of int
        Of a volume: z, y, x, and components if there are any.
    dtype : dtype
        Of the samples.
    volumes : int, optional
        Their number, if it is known.
    like : Recording, optional
        Rate, times, geometry and other metadata are taken from it.
    compress : bool
        Compress the samples of NRRD and MetaImage.

    Raises
    ------
    SettingsError, FormatError, FileError
        If the format cannot store the volumes, or the file cannot be written.

    Examples
    --------
    See `Recording`.
    """

    def __init__(self, path: Any, shape: Sequence[int], dtype: Any, *,
                 volumes: int = 0, like: Recording | None = None,
                 compress: bool = False):
        self._writer: _Handle | None = None
        self._finished = False
        self.path = os.fspath(path)
        self._shape, self._dtype = tuple(shape), numpy.dtype(dtype)
        source = like._get() if like else None
        self._writer = _Handle(lib.nd_recording_writer_new(
            os.fsencode(self.path), _to_array(shape, dtype, volumes),
            source.pointer if source else None, compress),
            lib.nd_recording_writer_free, source)

    def _get(self) -> _Handle:
        writer = self._writer
        if writer is None:
            raise ValueError(f"{self.path} is closed")
        if self._finished:
            raise ValueError(f"{self.path} is complete")
        return writer

    def close(self) -> None:
        """Stops writing; without `finish` the file stays PATH.part."""
        self._writer = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return lib.refuse_copy(self, "open the file again")

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, error: Any, *_rest: Any) -> None:
        if error is None and not self._finished:
            self.finish()
        self.close()

    def write(self, volume: Any) -> None:
        """Writes the next volume."""
        data = numpy.asarray(volume)
        if data.shape != self._shape or data.dtype != self._dtype:
            raise lib.SettingsError(
                f"The volume is {data.dtype} of the shape {data.shape}; this "
                f"recording has {self._dtype} of the shape {self._shape}")
        data = numpy.ascontiguousarray(data)
        writer = self._get()
        with writer.lock:
            lib.nd_recording_writer_write(writer.pointer, data.ctypes.data)

    def finish(self) -> str | None:
        """Completes the file. Returns a sentence about metadata that the format
        could not store, or None."""
        writer = self._get()
        with writer.lock:
            lib.nd_recording_writer_finish(writer.pointer)
            self._finished = True
            text = lib.nd_recording_writer_get_warning(writer.pointer)
        return text.decode() if text else None
