/* What a recording says beside its samples: key/values of the whole and of
 * single volumes, and the times of volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 volume;               /* of fields of single volumes */
  const gchar *key, *value;
} NdField;

/* Read-only once others have a reference to it. */
typedef struct
{
  gatomicrefcount references;
  GStringChunk *text;
  GArray *fields;               /* NdField: of the whole, as they came */
  GArray *volume_fields;        /* NdField: in ascending order of volumes */
  /* gint64: nanoseconds from the first volume to each, not descending. Empty:
   * not known, the rate says it. */
  GArray *times;
  gint64 origin;                /* nanoseconds, of the first volume */
} NdMetadata;

NdMetadata *nd_metadata_new (void);
NdMetadata *nd_metadata_ref (NdMetadata * metadata);
void nd_metadata_unref (NdMetadata * metadata);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdMetadata, nd_metadata_unref)

void nd_metadata_add (NdMetadata * metadata, const gchar * key,
    const gchar * value);

/* NULL where there is none. */
const gchar *nd_metadata_get (const NdMetadata * metadata, const gchar * key);

/* Fields may come in any order; nd_metadata_sort() is to follow. */
void nd_metadata_add_to_volume (NdMetadata * metadata, guint64 volume,
    const gchar * key, const gchar * value);
void nd_metadata_sort (NdMetadata * metadata);

/* The fields of @volume, and how many there are. */
const NdField *nd_metadata_of_volume (const NdMetadata * metadata,
    guint64 volume, guint * n);

/* Of every @step-th volume from @start on, up to @stop; their numbers and
 * times count from @start. */
NdMetadata *nd_metadata_slice (const NdMetadata * metadata, guint64 start,
    guint64 stop, guint64 step);

/* All of it as one string, of ASCII, and back; NULL where @text is no such
 * string. */
gchar *nd_metadata_to_text (const NdMetadata * metadata);
NdMetadata *nd_metadata_from_text (const gchar * text);

G_END_DECLS
