/* The axes of an NRRD file: kinds, space, directions and units, and the
 * geometry and the rate that follow from them. For formats/nrrd.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"
#include "formats/headertext.h"
#include "formats/sequence.h"

G_BEGIN_DECLS

#define MAX_AXES 16

/* Fields from FIELD_CONTENT on are only kept as metadata. */
typedef enum
{
  FIELD_AXIS_MAXS,
  FIELD_AXIS_MINS,
  FIELD_BYTE_SKIP,
  FIELD_CENTERS,
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
  AXIS_LIST, /* time, or another order of volumes */
  AXIS_RANGE /* components, or the responses of a bank */
} NdNrrdAxisKind;

typedef struct
{
  guint64 size;
  NdNrrdAxisKind kind;
  gboolean is_time;  /* of kind "time" */
  gboolean directed; /* it has a direction */
  gboolean node;     /* samples lie on the ends of the axis, not within */
  gdouble direction[4];
  gdouble spacing, min, max; /* NaN: absent */
  const gchar *label, *unit; /* NULL: absent */
} NdNrrdAxis;

typedef struct
{
  NdFields fields;
  NdHeader *header;
  NdSequence sequence;
  NdList *listed; /* gchar *: names after "data file: LIST" */
  guint n_axes;
  NdNrrdAxis axes[MAX_AXES];
  guint space_dimension; /* 0: absent */
  gdouble sign[3];
  gdouble origin[4];
  GPtrArray *strings;          /* labels and units */
  const gchar *space_units[4]; /* NULL: absent */
  const NdNrrdAxis *space[3];  /* x, y, z; NULL: absent */
  const NdNrrdAxis *list;
  gboolean fourth; /* it follows three others of the same kind */
} NdNrrdParser;

/* Assigns the axes, whose sizes are known, and sets shape, responses and
 * volumes of header->recording. ND_ERROR_FORMAT. */
gboolean nd_nrrd_parse_axes (NdNrrdParser *parser, GError **error);

/* Sets the geometry from parsed axes, as ITK does: axes without a direction
 * point to Left, Posterior, Superior. ND_ERROR_FORMAT. */
gboolean nd_nrrd_set_geometry (NdNrrdParser *parser, GError **error);

/* Sets the rate and the time of the first volume from parsed axes. TRUE if the
 * list axis is said to be time, in units of 10^@exponent seconds. */
gboolean nd_nrrd_set_rate (NdNrrdParser *parser, gint *exponent);

G_END_DECLS
