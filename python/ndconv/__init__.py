"""Non-separable 2D, 3D and 4D filters for images, volumes and streams of them.

Arrays are in the order t, z, y, x. Sizes in the text of a filter are in the order
x, y, z, t.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from ._archive import run
from ._blocks import Block, backends, devices, plan_blocks
from ._calls import Cancel
from ._convolve import convolve
from ._deconvolve import Residue, deconvolve
from ._estimate import Estimate, estimate
from ._filters import describe, design, designs
from ._ledger import Failure, Report
from ._library import (BackendError, CancelledError, Error, FileError,
                       FormatError, OutOfMemoryError, SettingsError,
                       nd_version)
from ._plot import plot
from ._rank import rank
from ._recordings import Raw, Recording, RecordingWriter
from ._register import Motion, register, warp
from ._stream import Stream
from ._types import SaturationWarning

__version__ = nd_version().decode()
__all__ = ["BackendError", "Block", "Cancel", "CancelledError", "Error", "Failure",
           "FileError", "FormatError", "Motion", "OutOfMemoryError", "Raw", "Recording",
           "RecordingWriter", "Report", "SaturationWarning", "SettingsError", "Stream", "backends",
           "Estimate", "Residue", "convolve", "deconvolve", "describe", "design",
           "designs", "devices", "estimate", "plan_blocks", "plot", "rank",
           "register", "run", "warp"]
