/* One hostile file: opened and read as far as it goes, or refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

#include "formats/ndheader.h"

/* Volumes that are read of one file. */
#define FUZZ_VOLUMES 16

/* What a target is for: "nrrd", "metaimage", "nifti". */
extern const gchar *const fuzz_name;

/* The parser alone, on bytes as they come. */
gboolean fuzz_parse (NdHeader * header, const guint8 * bytes, gsize n,
    GError ** error);

/* Parses the bytes, then reads the file with these bytes. An error and a
 * result exclude each other, and an error has words; anything else aborts. */
void fuzz_file (const guint8 * bytes, gsize n);

/* As libFuzzer calls it. */
int LLVMFuzzerTestOneInput (const guint8 * bytes, size_t n);

/* Appends good files to begin with: GBytes. */
void fuzz_seeds (GPtrArray * seeds);
