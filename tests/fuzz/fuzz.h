/* One hostile input of a parser: read as far as possible, or refused.
 *
 * Each target defines fuzz_name, fuzz_input() and fuzz_seeds(). libFuzzer calls
 * it through libfuzzer.c; hostile.c mutates its seeds in every build.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

#include <glib.h>

/* Volumes that are read of one file. */
#define FUZZ_VOLUMES 16

/* The name of this target, as "nrrd". */
extern const gchar *const fuzz_name;

/* Gives the bytes to the parser. Returns a sum of all that it made of them,
 * which is the same each time. Aborts if a call returns both an error and a
 * result, or an error without a message. */
guint32 fuzz_input (const guint8 *bytes, gsize n);

/* Appends valid inputs to start from, as GBytes. */
void fuzz_seeds (GPtrArray *seeds);

/* A format of one file, whose fuzz_input() is in file.c, runs its parser alone
 * on the bytes. It may change them, as far as the one after the last. */
gboolean fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error);

/* Reads up to FUZZ_VOLUMES and the last one into new memory, and returns the
 * sum of their bytes and of the fields. */
guint32 fuzz_read (NdReader *reader);

void fuzz_check_error (const GError *error);

/* The sum of @sum and @n bytes. Aborts if nobody has written one of them, if
 * MemorySanitizer is there to see it. */
guint32 fuzz_sum (guint32 sum, gconstpointer bytes, gsize n);
