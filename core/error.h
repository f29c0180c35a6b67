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
  ND_ERROR_CANCELLED,  /* see core/error.h; never shown to a user */
  ND_ERROR_FAILED,     /* anything else that failed while running */
  ND_ERROR_DISK_FULL   /* no space left for a file */
} NdError;

#define ND_ERROR (nd_error_quark ())
GQuark nd_error_quark (void);

/* GLib's functions of these names, but the message becomes printable
 * (core/printable.h): it may quote a name, a key or a text that a file, a peer
 * or a page chose. */
void nd_set_error (GError **error, GQuark domain, gint code,
    const gchar *format, ...) G_GNUC_PRINTF (4, 5);
void nd_set_error_literal (GError **error, GQuark domain, gint code,
    const gchar *message);
GError *nd_error_new (GQuark domain, gint code, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);
GError *nd_error_new_valist (GQuark domain, gint code, const gchar *format,
    va_list arguments) G_GNUC_PRINTF (3, 0);
void nd_prefix_error (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
void nd_propagate_prefixed_error (GError **error, GError *from,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* So that no place is forgotten. */
#define g_set_error nd_set_error
#define g_set_error_literal nd_set_error_literal
#define g_error_new nd_error_new
#define g_error_new_valist nd_error_new_valist
#define g_prefix_error nd_prefix_error
#define g_propagate_prefixed_error nd_propagate_prefixed_error

/* Cancellation of a long computation: a flag that another thread sets.
 * Functions that take a `const gint *cancelled` read it many times a second,
 * and return ND_ERROR_CANCELLED once it is not 0. NULL: the computation is
 * never cancelled. Any thread. */
static inline gboolean
nd_is_cancelled (const gint *cancelled)
{
  return cancelled != NULL && g_atomic_int_get (cancelled) != 0;
}

/* TRUE, with an error, if the computation is cancelled. */
static inline gboolean
nd_set_error_if_cancelled (const gint *cancelled, GError **error)
{
  if (!nd_is_cancelled (cancelled))
    return FALSE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_CANCELLED,
      "The computation was cancelled: start it again");
  return TRUE;
}

G_END_DECLS
