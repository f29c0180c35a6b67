/* Keys of a text header that belong to single volumes of a sequence:
 *
 *   Seq_Frame0007_Timestamp, Seq_Frame0007_ANYTHING          (PLUS, SUPRA)
 *   axis 3 index values, axis 3 item 0007 ANYTHING           (3D Slicer)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* Keys of a recording whose volumes are not ordered by time, but for example by
 * phase: name and unit of the index, and its type if it is not "numeric". The
 * value of each volume is its field ND_INDEX. */
#define ND_INDEX_NAME "IndexName"
#define ND_INDEX_UNIT "IndexUnit"
#define ND_INDEX_TYPE "IndexType"
#define ND_INDEX "Index"

typedef struct
{
  NdHeader *header;    /* its metadata receive the fields */
  NdList *stamps;      /* NdField with the values of Timestamp */
  gchar *index_values; /* in the text of the header */
} NdSequence;

void nd_sequence_init (NdSequence *sequence, NdHeader *header);
void nd_sequence_clear (NdSequence *sequence);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdSequence, nd_sequence_clear)

/* Stores the field and returns TRUE if @key belongs to a volume; otherwise it
 * belongs to the recording. */
gboolean nd_sequence_take (NdSequence *sequence, const gchar *key,
    gchar *value);

/* Completes the metadata; recording.volumes must be known. Index values are
 * times in units of 10^@exponent seconds if @index_is_time. */
void nd_sequence_settle (NdSequence *sequence, gboolean index_is_time,
    gint exponent);

typedef enum
{
  ND_SEQUENCE_META,   /* Seq_Frame0007_KEY = VALUE */
  ND_SEQUENCE_PLUS,   /* Seq_Frame0007_KEY:=VALUE */
  ND_SEQUENCE_SLICER, /* axis 3 item 0007 KEY:=VALUE, indexed by time */
  ND_SEQUENCE_INDEXED /* the same, indexed by the field ND_INDEX */
} NdSequenceStyle;

/* TRUE if the volumes of @metadata can be written ND_SEQUENCE_INDEXED: each of
 * them has an index. */
gboolean nd_sequence_has_index (const NdMetadata *metadata);

/* Appends one line: "key = value", or "key:=value" with the escapes of NRRD.
 * FALSE, without a line, if the value is too long for readers of MetaImage. */
gboolean nd_sequence_write_field (GString *text, NdSequenceStyle style,
    const gchar *key, const gchar *value);

/* Replaces the escapes of "key:=value", \n and \\, in place. */
void nd_sequence_unescape (gchar *value);

/* Appends the fields and times of volumes. Returns the number of fields that
 * were left out, because they are too long. */
guint nd_sequence_write (GString *text, NdSequenceStyle style,
    const NdMetadata *metadata);

G_END_DECLS
