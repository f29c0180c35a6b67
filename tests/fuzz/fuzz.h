/* One hostile file: read as far as possible, or refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

#include <glib.h>

/* Volumes that are read of one file. */
#define FUZZ_VOLUMES 16

/* The format of this target: "nrrd", "metaimage" or "nifti". */
extern const gchar *const fuzz_name;

/* Runs the parser alone on the bytes, which it may change, as far as the one
 * after the last. */
gboolean fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error);

/* Parses the bytes, then reads a file with these bytes. Returns a sum of all
 * that was read. Aborts if a call returns both an error and a result, or an
 * error without a message. */
guint32 fuzz_file (const guint8 *bytes, gsize n);

/* Reads up to FUZZ_VOLUMES and the last one into new memory, and returns the
 * sum of their bytes and of the fields. */
guint32 fuzz_read (NdReader *reader);

void fuzz_check_error (const GError *error);

/* The entry point of libFuzzer. */
int LLVMFuzzerTestOneInput (const guint8 *bytes, size_t n);

/* Appends valid files to start from, as GBytes. */
void fuzz_seeds (GPtrArray *seeds);
