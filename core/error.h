/* The errors of all rooms below gst/. gst/base/gstnderror.c turns each into one
 * GST_ELEMENT_ERROR. The message is a sentence for the user, without a full
 * stop, that names the mistake and the remedy.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ND_ERROR_SETTINGS,   /* a property or a parameter is wrong */
  ND_ERROR_NOT_FOUND,  /* the file or the device does not exist */
  ND_ERROR_OPEN_READ,  /* the file cannot be opened for reading */
  ND_ERROR_READ,       /* reading failed, or data are truncated or damaged */
  ND_ERROR_OPEN_WRITE, /* the file cannot be opened for writing */
  ND_ERROR_WRITE,      /* writing failed */
  ND_ERROR_MEMORY,     /* not enough memory of the machine or of a device */
  ND_ERROR_FORMAT,     /* the file or the caps are of an unsupported kind */
  ND_ERROR_INIT,       /* a back end is not available on this machine */
  ND_ERROR_CANCELLED,  /* see core/cancel.h; never shown to a user */
  ND_ERROR_FAILED,     /* anything else that failed while running */
  ND_ERROR_DISK_FULL   /* no space left for a file */
} NdError;

#define ND_ERROR (nd_error_quark ())
GQuark nd_error_quark (void);

G_END_DECLS
