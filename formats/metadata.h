/* The metadata of a recording: key/values of the recording and of single
 * volumes, and the times of volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 volume; /* used by fields of single volumes */
  const gchar *key, *value;
} NdField;

/* Must not be changed while others have a reference. */
typedef struct
{
  gatomicrefcount references;
  NdList *fields;        /* NdField of the recording, in file order */
  NdList *volume_fields; /* NdField of volumes, in ascending order */
  /* gint64: nanoseconds from the first volume to each, not descending. If
   * empty, the rate determines the times. */
  NdList *times;
  gint64 origin; /* time of the first volume, nanoseconds */

  /* Of metadata.c. */
  gpointer text; /* the blocks of the texts */
  const gchar **keys;
  gboolean failed; /* a text could not be added */
} NdMetadata;

/* What is added counts in @budget, which may be NULL, until
 * nd_metadata_settle(). */
NdMetadata *nd_metadata_new (NdBudget *budget);

/* Ends the use of the budget. FALSE if there was no memory for a field or a
 * time, which is then missing. */
gboolean nd_metadata_settle (NdMetadata *metadata);
NdMetadata *nd_metadata_ref (NdMetadata *metadata);
void nd_metadata_unref (NdMetadata *metadata);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdMetadata, nd_metadata_unref)

/* Adds a field of the whole recording. Both texts are copied; without memory
 * the field is lost. */
void nd_metadata_add (NdMetadata *metadata, const gchar *key,
    const gchar *value);

/* A copy that lives as long as the metadata; NULL without memory. */
const gchar *nd_metadata_keep (NdMetadata *metadata, const gchar *text);

/* NULL if there is no such key. */
const gchar *nd_metadata_get (const NdMetadata *metadata, const gchar *key);

/* Fields may come in any order. Call nd_metadata_sort() after the last one. */
void nd_metadata_add_to_volume (NdMetadata *metadata, guint64 volume,
    const gchar *key, const gchar *value);
void nd_metadata_sort (NdMetadata *metadata);

/* The fields of @volume, and their number. */
const NdField *nd_metadata_of_volume (const NdMetadata *metadata,
    guint64 volume, guint *n);

/* Appends the volumes of @next, whose times have the same origin. The fields of
 * the recording remain those of @metadata. */
void nd_metadata_append (NdMetadata *metadata, const NdMetadata *next);

/* The metadata of every @step-th volume from @start up to, but without, @stop.
 * Numbers and times of volumes count from @start. */
NdMetadata *nd_metadata_slice (const NdMetadata *metadata, guint64 start,
    guint64 stop, guint64 step);

/* Bytes in which any format's header holds all of it. */
gsize nd_metadata_header_size (const NdMetadata *metadata);

/* Converts all metadata to an ASCII string, which g_free() frees, and back;
 * NULL if @text is malformed, or without memory. */
gchar *nd_metadata_to_text (const NdMetadata *metadata);
NdMetadata *nd_metadata_from_text (const gchar *text);

G_END_DECLS
