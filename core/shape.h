/* Axes, sample types and shapes of volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/schema.h"

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

/* Samples are in the byte order of the machine.
 *
 * The numbers are public, as values of a property, and never change. A new type
 * gets the next free one. */
typedef enum
{
  ND_UINT8 = 0,
  ND_INT16 = 1,
  ND_UINT16 = 2,
  ND_FLOAT32 = 3,
  ND_SAMPLE_SAME = 4, /* no type: an output is of the type of its input */

  /* Types of streams and files only. */
  ND_INT8 = 5,
  ND_INT32 = 6,
  ND_UINT32 = 7,
  ND_FLOAT16 = 8, /* IEEE 754 binary16 */

  /* Filters compute with it in double precision only. */
  ND_FLOAT64 = 9
} NdSampleType;

/* Filters compute with the types 0 to ND_SAMPLE_TYPES - 1, and in double
 * precision also with ND_FLOAT64. Streams may have all types up to
 * ND_STREAM_TYPES - 1. */
#define ND_SAMPLE_TYPES 4
#define ND_STREAM_TYPES 10

/* The precision of samples between input and output, of coefficients and of
 * sums.
 *
 * The numbers are public, as values of a property, and never change. */
typedef enum
{
  ND_PRECISION_SINGLE = 0, /* float32 */
  ND_PRECISION_DOUBLE = 1  /* float64 */
} NdPrecision;

/* Length of an array that is indexed by precision. */
#define ND_PRECISION_END 2

extern const NdEnum nd_precision_enum;

/* The value of the property: "single" or "double". */
const gchar *nd_precision_name (NdPrecision precision);

/* The cases of a switch for all values that filters do not compute with in
 * single precision. */
#define ND_CASE_NOT_COMPUTED \
  case ND_SAMPLE_SAME:       \
  case ND_INT8:              \
  case ND_INT32:             \
  case ND_UINT32:            \
  case ND_FLOAT16:           \
  case ND_FLOAT64

/* The types of streams; and those of outputs, with ND_SAMPLE_SAME. */
extern const NdEnum nd_sample_enum, nd_output_type_enum;

/* Bytes of one sample. */
gsize nd_sample_size (NdSampleType type);

/* The name in caps and properties, for example "uint8". NULL for
 * ND_SAMPLE_SAME. */
const gchar *nd_sample_name (NdSampleType type);

/* Whether samples are floating point numbers, which may be NaN or infinite. */
gboolean nd_sample_is_float (NdSampleType type);

/* The type that filters compute with if samples are of @type: int16 for int8,
 * float32 for float16, float32 or float64 by @precision for int32, uint32 and
 * float64, otherwise @type itself. */
NdSampleType nd_sample_computed (NdSampleType type, NdPrecision precision);

/* @wanted, or double for samples that float32 cannot hold: of int32 and uint32
 * it would lose bits. */
NdPrecision nd_sample_precision (NdSampleType type, NdPrecision wanted);

/* Sets @type to the type with the name @name, in upper or lower case. FALSE if
 * there is none. */
gboolean nd_sample_from_name (const gchar *name, NdSampleType *type);

/* A volume: size[0] x size[1] x size[2] samples, each of @components numbers,
 * which are innermost in memory. A frame has size[2] = 1. */
typedef struct
{
  gsize components;
  gsize size[3];
} NdShape;

/* Sets @samples to components * x * y * z. FALSE if a factor is 0, or if so
 * many float64 numbers have more bytes than a gssize can count. */
gboolean nd_shape_samples (const NdShape *shape, gsize *samples);

/* Parses 1 to @max positive integers separated by ':', for example
 * "128:128:64", into @values. Returns their number, or 0 if @text is anything
 * else. */
guint nd_parse_sizes (const gchar *text, gsize *values, guint max);

G_END_DECLS
