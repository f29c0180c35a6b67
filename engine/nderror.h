/* Errors that rooms below gst/ report; gst/gstnderror.c turns each into one
 * GST_ELEMENT_ERROR. Messages are whole sentences for the user: what was wrong
 * and what would be right.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ND_ERROR_SETTINGS,            /* a property or a parameter is wrong */
  ND_ERROR_NOT_FOUND,           /* the file or the device does not exist */
  ND_ERROR_OPEN_READ,           /* it cannot be opened for reading */
  ND_ERROR_READ,                /* reading failed, data truncated or damaged */
  ND_ERROR_OPEN_WRITE,          /* it cannot be opened for writing */
  ND_ERROR_WRITE,               /* writing failed */
  ND_ERROR_NO_SPACE,            /* disk full, or no memory: bytes wanted */
  ND_ERROR_FORMAT,              /* file or caps of an unsupported kind */
  ND_ERROR_INIT,                /* a back end cannot be had here */
  ND_ERROR_FAILED               /* anything else that broke while running */
} NdError;

#define ND_ERROR (nd_error_quark ())
GQuark nd_error_quark (void);

G_END_DECLS
