/* How sequences of volumes say what belongs to single volumes, as keys of a
 * text header:
 *
 *   Seq_Frame0007_Timestamp, Seq_Frame0007_ANYTHING          (PLUS, SUPRA)
 *   axis 3 index values, axis 3 item 0007 ANYTHING           (3D Slicer)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndheader.h"

G_BEGIN_DECLS

typedef struct
{
  NdHeader *header;             /* whose metadata get the fields */
  GArray *stamps;               /* NdField with what Timestamp says */
  gchar *index_values;
} NdSequence;

void nd_sequence_init (NdSequence * sequence, NdHeader * header);
void nd_sequence_clear (NdSequence * sequence);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdSequence, nd_sequence_clear)

/* TRUE where @key is one of these; any other belongs to the whole. */
gboolean nd_sequence_take (NdSequence * sequence, const gchar * key,
    const gchar * value);

/* When recording.volumes is known. Index values are seconds times
 * 10^@exponent, or no times where @index_is_time is FALSE. */
void nd_sequence_settle (NdSequence * sequence, gboolean index_is_time,
    gint exponent);

typedef enum
{
  ND_SEQUENCE_META,             /* Seq_Frame0007_KEY = VALUE */
  ND_SEQUENCE_PLUS,             /* Seq_Frame0007_KEY:=VALUE */
  ND_SEQUENCE_SLICER            /* axis 3 item 0007 KEY:=VALUE */
} NdSequenceStyle;

/* One line: "key = value", or "key:=value" with what NRRD escapes. FALSE where
 * the value is too long for MetaImage's readers, and nothing is written. */
gboolean nd_sequence_write_field (GString * text, NdSequenceStyle style,
    const gchar * key, const gchar * value);

/* In place, what "key:=value" escapes: \n and \\. */
void nd_sequence_unescape (gchar * value);

/* The fields and times of volumes; the number of fields that were too long. */
guint nd_sequence_write (GString * text, NdSequenceStyle style,
    const NdMetadata * metadata);

G_END_DECLS
