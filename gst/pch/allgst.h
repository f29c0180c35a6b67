/* The headers that plugins include: compiled once a plugin (-Dkernels=host).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndlog.h"
#include <gio/gio.h>
#include <gst/base/base.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>
