/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/beams.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

static ND_DEFINE_ENUM (kind_enum, "GstNdBeams",
    { ND_BEAMS_AUTO, "As the field beams of the caps says", "auto" },
    { ND_BEAMS_LINEAR, "Parallel beams", "linear" },
    { ND_BEAMS_PHASED, "Beams of a sector from one point", "phased" },
    { ND_BEAMS_CURVILINEAR, "Beams from a curved face", "curvilinear" },
    { ND_BEAMS_MATRIX, "Beams from one point at two angles", "matrix" },
    { ND_BEAMS_WOBBLER,
        "Planes of a curved face, or of a sector with radius 0, that are "
        "turned",
        "wobbler" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdBeams, __VA_ARGS__)

const NdSetting nd_beams_settings[] = {
  /* Since: 0.9 */
  { "geometry", "Geometry",
      "Shape of the beams; other values than auto take all of the geometry "
      "from the properties",
      FIELD (ENUM, kind, NdBeamsKind, kind_enum, ND_BEAMS_AUTO) },
  { "depth", "Depth", "Depth of the last sample of a beam",
      FIELD (DOUBLE, depth, 0, 1e5, 100), .unit = "mm" },
  { "start-depth", "Start depth", "Depth of the first sample of a beam",
      FIELD (DOUBLE, start_depth, 0, 1e5, 0), .unit = "mm" },
  { "angle", "Angle",
      "Angle from the first to the last beam of a plane: phased, curvilinear, "
      "matrix, wobbler",
      FIELD (DOUBLE, angle, 0, 360, 75), .unit = "degrees" },
  { "radius", "Radius", "Radius of the curved face: curvilinear, wobbler",
      FIELD (DOUBLE, radius, 0, 1e5, 60), .unit = "mm" },
  { "width", "Width", "Distance from the first to the last beam: linear",
      FIELD (DOUBLE, width, 0, 1e5, 40), .unit = "mm" },
  { "elevation-angle", "Elevation angle",
      "Angle from the first to the last plane: matrix, wobbler",
      FIELD (DOUBLE, elevation_angle, 0, 360, 75), .unit = "degrees" },
  { "elevation-radius", "Elevation radius",
      "Distance from the axis that planes are turned around to the face: "
      "wobbler",
      FIELD (DOUBLE, elevation_radius, 0, 1e5, 30), .unit = "mm" },
  { "elevation-width", "Elevation width",
      "Distance from the first to the last of several parallel planes: linear, "
      "phased, curvilinear",
      FIELD (DOUBLE, elevation_width, 0, 1e5, 40), .unit = "mm" },
  { "plane-angles", "Plane angles",
      "The angle of each plane in degrees, which rise or fall, separated by "
      "':': wobbler; empty: from -elevation-angle/2 to elevation-angle/2",
      FIELD (STRING, plane_angles, "") },
};
const guint nd_n_beams_settings = G_N_ELEMENTS (nd_beams_settings);

static const NdSetting *
find_row (const gchar *name)
{
  for (guint i = 0; i < nd_n_beams_settings; i++) {
    if (g_str_equal (nd_beams_settings[i].name, name))
      return &nd_beams_settings[i];
  }
  return NULL;
}

static gboolean
parse_part (gchar *part, NdBeams *beams, GError **error)
{
  gchar *value = strchr (part, '=');
  const NdSetting *row;

  if (value)
    *value++ = '\0';
  row = find_row (g_strstrip (part));
  if (!row || !value) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "'%s' is no part of a geometry of beams: it must be name=value with "
        "the name of a property, for example depth=120",
        part);
    return FALSE;
  }
  return nd_setting_parse (row, g_strstrip (value), beams, error);
}

gboolean
nd_beams_parse (const gchar *text, NdBeams *beams, GError **error)
{
  g_auto (GStrv) parts = NULL;
  g_autoptr (GError) why = NULL;

  if (strlen (text) >= ND_BEAMS_TEXT) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The geometry of the beams has %" G_GSIZE_FORMAT
        " bytes: it must have less than %d",
        strlen (text), ND_BEAMS_TEXT);
    return FALSE;
  }
  parts = g_strsplit (text, ",", -1);
  for (guint i = 0; parts[i]; i++) {
    if (!parse_part (parts[i], beams, &why)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "Caps field 'beams': %s",
          why->message);
      return FALSE;
    }
  }
  if (beams->kind != ND_BEAMS_AUTO)
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_FORMAT,
      "Caps field 'beams' names no geometry: it must begin with geometry=KIND");
  return FALSE;
}

gboolean
nd_beams_to_text (const NdBeams *beams, gchar text[ND_BEAMS_TEXT],
    GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < nd_n_beams_settings; i++) {
    const NdSettingField *field = &nd_beams_settings[i].field;
    gconstpointer at = (const guint8 *) beams + field->offset;
    const gchar *value = NULL;
    gchar number[G_ASCII_DTOSTR_BUF_SIZE];

    if (field->kind == ND_KIND_ENUM)
      value = nd_enum_name (&kind_enum, *(const NdBeamsKind *) at);
    else if (field->kind == ND_KIND_STRING)
      value = *(gchar *const *) at;
    else if (*(const gdouble *) at != field->real_value)
      value = g_ascii_dtostr (number, sizeof (number), *(const gdouble *) at);
    if (value && *value)
      g_string_append_printf (out, "%s%s=%s", out->len ? "," : "",
          nd_beams_settings[i].name, value);
  }
  if (g_strlcpy (text, out->str, ND_BEAMS_TEXT) < ND_BEAMS_TEXT)
    return TRUE;
  *text = '\0';
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "The geometry of the beams takes %" G_GSIZE_FORMAT
      " bytes of text, and caps take less than %d: give plane-angles with "
      "fewer digits",
      out->len, ND_BEAMS_TEXT);
  return FALSE;
}

/* Places */

struct _NdBeamSpace
{
  NdBeamsKind kind;
  gdouble n[3]; /* samples */
  gdouble start, depth, radius, elevation_radius;
  gdouble span[2]; /* lateral and elevation: radians or mm */
  gdouble *planes; /* radians that rise; NULL: even */
  gboolean falls;  /* the first plane is the last of `planes` */
};

static gboolean
space_refuse (GError **error, const gchar *sentence)
{
  g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS, sentence);
  return FALSE;
}

static gboolean
has_planes (const NdBeams *beams)
{
  return beams->kind == ND_BEAMS_WOBBLER && beams->plane_angles
      && *beams->plane_angles;
}

/* Parses the angles of @n planes, which rise afterwards. */
static gboolean
parse_planes (NdBeamSpace *self, const gchar *text, gsize n, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);

  if (g_strv_length (parts) != n) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "plane-angles has %u angles, but the volume has %" G_GSIZE_FORMAT
        " planes: give one for each plane",
        g_strv_length (parts), n);
    return FALSE;
  }
  self->planes = g_new (gdouble, n);
  for (gsize i = 0; i < n; i++) {
    gchar *end;

    self->planes[i] = g_ascii_strtod (g_strstrip (parts[i]), &end);
    if (*end || end == parts[i] || !(fabs (self->planes[i]) < 180))
      return space_refuse (error,
          "plane-angles must be numbers from -180 to 180 degrees, separated by "
          "':'");
    self->planes[i] *= G_PI / 180;
  }
  self->falls = self->planes[0] > self->planes[n - 1];
  for (gsize i = 0; self->falls && i < n / 2; i++) {
    const gdouble plane = self->planes[i];

    self->planes[i] = self->planes[n - 1 - i];
    self->planes[n - 1 - i] = plane;
  }
  for (gsize i = 1; i < n; i++) {
    if (self->planes[i] <= self->planes[i - 1])
      return space_refuse (error,
          "plane-angles must rise, or fall, from each plane to the next");
  }
  return TRUE;
}

static gboolean
check_angles (const NdBeams *beams, GError **error)
{
  const gdouble a = beams->angle, e = beams->elevation_angle;

  if (beams->kind == ND_BEAMS_LINEAR)
    return beams->width > 0
        || space_refuse (error, "geometry=linear needs a width above 0 mm");
  if (!(a > 0 && a < 360))
    return space_refuse (error, "angle must be above 0 and below 360 degrees");
  if (beams->kind == ND_BEAMS_MATRIX && (a >= 180 || !(e > 0 && e < 180)))
    return space_refuse (error,
        "geometry=matrix needs an angle and an elevation-angle above 0 and "
        "below 180 degrees");
  if (beams->kind == ND_BEAMS_WOBBLER && !has_planes (beams)
      && !(e > 0 && e < 360))
    return space_refuse (error,
        "geometry=wobbler needs an elevation-angle above 0 and below 360 "
        "degrees, or plane-angles");
  if (beams->kind == ND_BEAMS_CURVILINEAR && !(beams->radius > 0))
    return space_refuse (error,
        "geometry=curvilinear needs a radius above 0 mm: a sector from one "
        "point is geometry=phased");
  return TRUE;
}

static gboolean
space_check (const NdBeams *beams, const gsize size[3], GError **error)
{
  const gboolean turned =
      beams->kind == ND_BEAMS_MATRIX || beams->kind == ND_BEAMS_WOBBLER;

  if (beams->kind == ND_BEAMS_AUTO)
    return space_refuse (error,
        "The caps have no field 'beams': set geometry, depth and the angles or "
        "widths of the probe");
  if (size[0] < 2 || size[1] < 2 || size[2] < (turned ? 2 : 1)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The beams have %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
        " x %" G_GSIZE_FORMAT
        " samples along depth, lateral and elevation: geometry=%s needs 2 or "
        "more along %s; depth-axis says which axis is the depth",
        size[0], size[1], size[2], nd_enum_name (&kind_enum, beams->kind),
        turned ? "each" : "the first two");
    return FALSE;
  }
  if (!(beams->depth > beams->start_depth)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "depth is %g mm and start-depth %g mm: depth must be larger",
        beams->depth, beams->start_depth);
    return FALSE;
  }
  if (!turned && size[2] > 1 && !(beams->elevation_width > 0))
    return space_refuse (error,
        "Several planes need an elevation-width above 0 mm");
  return check_angles (beams, error);
}

NdBeamSpace *
nd_beam_space_new (const NdBeams *beams, const gsize size[3], GError **error)
{
  const gboolean turned =
      beams->kind == ND_BEAMS_MATRIX || beams->kind == ND_BEAMS_WOBBLER;
  g_autoptr (NdBeamSpace) self = NULL;

  if (!space_check (beams, size, error))
    return NULL;
  self = g_new0 (NdBeamSpace, 1);
  self->kind = beams->kind;
  for (guint a = 0; a < 3; a++)
    self->n[a] = size[a];
  self->start = beams->start_depth;
  self->depth = beams->depth - beams->start_depth;
  if (self->kind == ND_BEAMS_CURVILINEAR || self->kind == ND_BEAMS_WOBBLER)
    self->radius = beams->radius;
  self->elevation_radius = beams->elevation_radius;
  self->span[0] =
      self->kind == ND_BEAMS_LINEAR ? beams->width : beams->angle * G_PI / 180;
  self->span[1] =
      turned ? beams->elevation_angle * G_PI / 180 : beams->elevation_width;
  if (has_planes (beams)
      && !parse_planes (self, beams->plane_angles, size[2], error))
    return NULL;
  return g_steal_pointer (&self);
}

void
nd_beam_space_free (NdBeamSpace *self)
{
  g_free (self->planes);
  g_free (self);
}

/* The angle or place of @index along lateral (0) or elevation (1). */
static gdouble
spread (const NdBeamSpace *self, guint axis, gdouble index)
{
  const gdouble n = self->n[axis + 1];
  gsize low;

  if (n == 1)
    return 0;
  if (axis == 0 || !self->planes)
    return (index / (n - 1) - 0.5) * self->span[axis];
  if (self->falls)
    index = n - 1 - index;
  low = CLAMP (floor (index), 0, n - 2);
  return self->planes[low]
      + (index - low) * (self->planes[low + 1] - self->planes[low]);
}

static gdouble
spread_back (const NdBeamSpace *self, guint axis, gdouble place)
{
  const gdouble n = self->n[axis + 1];
  gsize low = 0, high = n - 1;
  gdouble index;

  if (n == 1)
    return 0;
  if (axis == 0 || !self->planes)
    return (place / self->span[axis] + 0.5) * (n - 1);
  while (high - low > 1) {
    const gsize middle = (low + high) / 2;

    if (self->planes[middle] <= place)
      low = middle;
    else
      high = middle;
  }
  index = low
      + (place - self->planes[low]) / (self->planes[high] - self->planes[low]);
  return self->falls ? n - 1 - index : index;
}

void
nd_beam_space_position (const NdBeamSpace *self, const gdouble index[3],
    gdouble place[3])
{
  const gdouble d = self->start + index[0] / (self->n[0] - 1) * self->depth;
  const gdouble t = spread (self, 0, index[1]), p = spread (self, 1, index[2]);

  place[0] = t;
  place[1] = d;
  place[2] = p;
  switch (self->kind) {
    case ND_BEAMS_AUTO:
    case ND_BEAMS_LINEAR:
      break;
    case ND_BEAMS_MATRIX: {
      const gdouble u = tan (t), v = tan (p), r = sqrt (1 + u * u + v * v);

      place[0] = d * u / r;
      place[1] = d / r;
      place[2] = d * v / r;
      break;
    }
    case ND_BEAMS_PHASED:
    case ND_BEAMS_CURVILINEAR:
    case ND_BEAMS_WOBBLER:
      place[0] = (self->radius + d) * sin (t);
      place[1] = (self->radius + d) * cos (t) - self->radius;
      break;
  }
  if (self->kind == ND_BEAMS_WOBBLER) {
    const gdouble r = self->elevation_radius + place[1];

    place[1] = r * cos (p) - self->elevation_radius;
    place[2] = r * sin (p);
  }
}

/* A place this far beyond the last sample, in samples, is on it. */
#define TOLERANCE 1e-6

gboolean
nd_beam_space_index (const NdBeamSpace *self, const gdouble place[3],
    gdouble index[3])
{
  gdouble x = place[0], y = place[1], d = y, t = x, p = place[2];

  if (self->kind == ND_BEAMS_WOBBLER) {
    p = atan2 (place[2], y + self->elevation_radius);
    y = hypot (place[2], y + self->elevation_radius) - self->elevation_radius;
  }
  if (self->kind == ND_BEAMS_MATRIX) {
    d = sqrt (x * x + y * y + place[2] * place[2]);
    t = atan2 (x, y);
    p = atan2 (place[2], y);
  } else if (self->kind != ND_BEAMS_LINEAR) {
    d = hypot (x, y + self->radius) - self->radius;
    t = atan2 (x, y + self->radius);
  }
  index[0] = (d - self->start) / self->depth * (self->n[0] - 1);
  index[1] = spread_back (self, 0, t);
  index[2] = spread_back (self, 1, p);
  for (guint a = 0; a < 3; a++) {
    if (!(index[a] >= -TOLERANCE && index[a] <= self->n[a] - 1 + TOLERANCE))
      return FALSE;
    index[a] = CLAMP (index[a], 0, self->n[a] - 1);
  }
  return TRUE;
}

/* Places along an axis of angles that the box is found from, with 0 among
 * them. */
#define BOX_STEPS 90

void
nd_beam_space_box (const NdBeamSpace *self, gdouble low[3], gdouble high[3])
{
  const guint planes = self->n[2] > 1 ? BOX_STEPS : 0;

  for (guint a = 0; a < 3; a++) {
    low[a] = INFINITY;
    high[a] = -INFINITY;
  }
  for (guint i = 0; i < 2 * (BOX_STEPS + 1) * (planes + 1); i++) {
    const guint beam = i / 2 % (BOX_STEPS + 1), plane = i / 2 / (BOX_STEPS + 1);
    const gdouble index[3] = { i % 2 * (self->n[0] - 1),
      beam * (self->n[1] - 1) / BOX_STEPS,
      planes ? plane * (self->n[2] - 1) / planes : 0 };
    gdouble place[3];

    nd_beam_space_position (self, index, place);
    for (guint a = 0; a < 3; a++) {
      low[a] = MIN (low[a], place[a]);
      high[a] = MAX (high[a], place[a]);
    }
  }
}
