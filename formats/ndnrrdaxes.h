/* The axes of an NRRD file: their kinds, space, directions and units, and what
 * they say of the geometry and the rate. Of ndnrrd.c and ndnrrdaxes.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndfields.h"
#include "formats/ndheader.h"
#include "formats/ndsequence.h"

G_BEGIN_DECLS

#define MAX_AXES 16

/* From FIELD_CONTENT on they are only passed on. */
typedef enum
{
  FIELD_BYTE_SKIP,
  FIELD_DATA_FILE,
  FIELD_DIMENSION,
  FIELD_ENCODING,
  FIELD_ENDIAN,
  FIELD_KINDS,
  FIELD_LABELS,
  FIELD_LINE_SKIP,
  FIELD_SIZES,
  FIELD_SPACE,
  FIELD_SPACE_DIMENSION,
  FIELD_SPACE_DIRECTIONS,
  FIELD_SPACE_ORIGIN,
  FIELD_SPACE_UNITS,
  FIELD_SPACINGS,
  FIELD_TYPE,
  FIELD_UNITS,
  FIELD_CONTENT,
  FIELD_MEASUREMENT_FRAME,
  FIELD_SAMPLE_UNITS
} NdNrrdField;

typedef enum
{
  AXIS_UNKNOWN,
  AXIS_SPACE,
  AXIS_LIST,                    /* time, or any other order of volumes */
  AXIS_RANGE                    /* components, or the responses of a bank */
} NdNrrdAxisKind;

typedef struct
{
  guint64 size;
  NdNrrdAxisKind kind;
  gboolean is_time;             /* of kind "time" */
  gboolean directed;            /* it has a direction */
  gdouble direction[4];
  gdouble spacing;              /* NaN: not said */
  const gchar *label, *unit;    /* NULL: not said */
} NdNrrdAxis;

typedef struct
{
  NdFields fields;
  NdHeader *header;
  NdSequence sequence;
  GPtrArray *listed;            /* names behind "data file: LIST" */
  guint n_axes;
  NdNrrdAxis axes[MAX_AXES];
  guint space_dimension;        /* 0: not said */
  gdouble sign[3];
  gdouble origin[4];
  GPtrArray *strings;           /* labels and units */
  const NdNrrdAxis *space[3];   /* x, y, z; NULL: not there */
  const NdNrrdAxis *list;
} NdNrrdParser;

/* nd_fields_refuse() */
gboolean nd_nrrd_refuse (NdNrrdParser * parser, NdNrrdField field,
    const gchar * must, GError ** error);

/* Which axis is which, behind sizes: header->recording's shape, responses and
 * volumes. ND_ERROR_FORMAT. */
gboolean nd_nrrd_parse_axes (NdNrrdParser * parser, GError ** error);

/* The geometry, of parsed axes. ND_ERROR_FORMAT. */
gboolean nd_nrrd_set_geometry (NdNrrdParser * parser, GError ** error);

/* The rate, of parsed axes; TRUE where the list axis is time. Its unit is
 * 10^@exponent seconds. */
gboolean nd_nrrd_set_rate (NdNrrdParser * parser, gint * exponent);

G_END_DECLS
