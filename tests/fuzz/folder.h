/* Inputs that are folders: for each of their files the line "NAME SIZE", and
 * its bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

/* Makes a folder of the @n bytes; names stay in it. Free the path. */
gchar *fuzz_folder_make (const guint8 *bytes, gsize n);
void fuzz_folder_remove (const gchar *path);

/* Reads the recording @path, unless its volumes are large; the sum of its
 * samples. */
guint32 fuzz_folder_read (const gchar *path);

/* The folder @path as an input. */
GBytes *fuzz_folder_pack (const gchar *path);
