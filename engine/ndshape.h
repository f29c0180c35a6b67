/* The vocabulary that every room shares: what a sample and a volume are.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Axes in the order of memory: x runs fastest, t slowest. */
typedef enum
{
  ND_AXIS_X,
  ND_AXIS_Y,
  ND_AXIS_Z,
  ND_AXIS_T,
  ND_AXES
} NdAxis;

/* Samples are in the byte order of the machine. */
typedef enum
{
  ND_UINT8,
  ND_INT16,
  ND_UINT16,
  ND_FLOAT32,
  ND_SAMPLE_TYPES
} NdSampleType;

/* Bytes of one sample. */
gsize nd_sample_size (NdSampleType type);

/* "uint8", "int16", "uint16", "float32": as in caps and properties. */
const gchar *nd_sample_name (NdSampleType type);

/* FALSE where @name is none of them; case does not count. */
gboolean nd_sample_from_name (const gchar * name, NdSampleType * type);

/* A volume: size[0] x size[1] x size[2] samples of so many components,
 * components interleaved (innermost). A frame has size[2] = 1. */
typedef struct
{
  gsize components;
  gsize size[3];
} NdShape;

/* components * x * y * z in @samples; FALSE where a factor is 0 or where the
 * bytes of float32 samples would not fit in a gssize. */
gboolean nd_shape_samples (const NdShape * shape, gsize * samples);

/* Sizes read "128:128:64".
 * Parses 1 to @max positive integers with ':' between into
 * @values, and gives their number, or 0 where @text is anything else. */
guint nd_parse_sizes (const gchar * text, gsize * values, guint max);

G_END_DECLS
