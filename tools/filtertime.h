/* The command `time` of ndconv-filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The options of the command; texts may be NULL. */
typedef struct
{
  const gchar *size;    /* X, X:Y or X:Y:Z samples */
  const gchar *type;    /* of the samples; NULL: uint8 */
  const gchar *axes;    /* as --axes */
  const gchar *spacing; /* as --spacing */
  const gchar *rate;    /* volumes per second, to compare with */
  const gchar *backend; /* NULL: each one of this machine */
} NdTimeOptions;

/* Prints a row for each back end: what a volume takes with @what, a filter or
 * "nddenoise" with settings. Then the sentences of those
 * that refuse, on stderr. FALSE if all do, with the GError of the first. */
gboolean nd_filter_time (const gchar *what, const NdTimeOptions *options,
    GError **error);

G_END_DECLS
