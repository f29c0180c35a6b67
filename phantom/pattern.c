/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "phantom/pattern.h"

#include "core/convert.h"
#include "core/error.h"
#include "core/threads.h"
#include "phantom/beams.h"
#include "phantom/phantom.h"

#include <math.h>
#include <string.h>

static const struct
{
  gdouble min, max;
  gfloat white; /* of the heart */
  guint64 ramp; /* period of the ramp */
  guint shift;  /* noise: unused bits of the hash */
  gfloat noise_scale, noise_offset;
} types[ND_STREAM_TYPES] = {
  [ND_UINT8] = { 0, G_MAXUINT8, 255, 1 << 8, 56, 1, 0 },
  [ND_INT16] = { G_MININT16, G_MAXINT16, 32767, 1 << 15, 48, 1, G_MININT16 },
  [ND_UINT16] = { 0, G_MAXUINT16, 65535, 1 << 16, 48, 1, 0 },
  [ND_FLOAT32] = { -G_MAXFLOAT, G_MAXFLOAT, 255, 1 << 24, 40, 1.0f / (1 << 24),
      0 },
  [ND_INT8] = { G_MININT8, G_MAXINT8, 127, 1 << 7, 56, 1, G_MININT8 },
  /* Rows are float32, which holds whole numbers up to 2^24. */
  [ND_INT32] = { G_MININT32, G_MAXINT32, (1 << 24) - 1, 1 << 24, 40, 1,
      -(1 << 23) },
  [ND_UINT32] = { 0, G_MAXUINT32, (1 << 24) - 1, 1 << 24, 40, 1, 0 },
  [ND_FLOAT16] = { -65504, 65504, 255, 1 << 11, 53, 1.0f / (1 << 11), 0 },
  [ND_FLOAT64] = { -G_MAXFLOAT, G_MAXFLOAT, 255, 1 << 24, 40, 1.0f / (1 << 24),
      0 },
};

static gboolean
pattern_is_whole (NdSampleType type)
{
  return !nd_sample_is_float (type);
}

static gboolean
is_heart (const NdPatternSettings *settings)
{
  return settings->kind == ND_PATTERN_HEART
      || settings->kind == ND_PATTERN_HEART_VELOCITY;
}

static gboolean
is_signal (const NdPatternSettings *settings)
{
  return settings->kind == ND_PATTERN_RF || settings->kind == ND_PATTERN_IQ;
}

static gboolean
has_beams (const NdPatternSettings *settings)
{
  return settings->kind == ND_PATTERN_BEAMS || is_signal (settings);
}

/* Samples that a thread makes at a time. */
#define SAMPLES_OF_TASK 16384

struct _NdPattern
{
  NdPatternSettings settings;
  NdPhantom *phantom;
  NdBeamSpace *space;
  gfloat *rows; /* of values that the type can represent, one a thread */
  gsize row_floats;
  guint n_rows;
};

/* FALSE if there is no memory for one row. */
static gboolean
allocate_rows (NdPattern *self)
{
  const NdPatternSettings *s = &self->settings;

  /* RF is made of IQ. */
  self->row_floats =
      (is_signal (s) ? 2 : s->shape.components) * s->shape.size[0];
  self->n_rows = nd_threads ();
  self->rows =
      g_try_malloc_n (self->row_floats, self->n_rows * sizeof (gfloat));
  if (!self->rows) {
    self->n_rows = 1;
    self->rows = g_try_new (gfloat, self->row_floats);
  }
  return self->rows != NULL;
}

static gboolean
make_beams (NdPattern *self, GError **error)
{
  const NdPatternSettings *s = &self->settings;
  const gsize components = s->kind == ND_PATTERN_IQ ? 2 : 1;
  NdBeams beams = { 0 };

  if (is_signal (s) && s->shape.components != components) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "pattern=%s has %" G_GSIZE_FORMAT " components, not %" G_GSIZE_FORMAT,
        components == 2 ? "iq" : "rf", components, s->shape.components);
    return FALSE;
  }
  nd_beams_geometry (s->shape.size, &beams);
  self->space = nd_beam_space_new (&beams, s->shape.size, error);
  return self->space != NULL;
}

NdPattern *
nd_pattern_new (const NdPatternSettings *settings, GError **error)
{
  g_autoptr (NdPattern) self = g_new0 (NdPattern, 1);
  gboolean has_value = settings->kind == ND_PATTERN_IMPULSE
      || settings->kind == ND_PATTERN_CONSTANT;
  gdouble min = types[settings->type].min, max = types[settings->type].max;

  self->settings = *settings;
  if (pattern_is_whole (settings->type))
    self->settings.value = rint (settings->value);
  if (has_value
      && !(self->settings.value >= min && self->settings.value <= max)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'value' is %g: it must be from %g to %g, the numbers that "
        "type %s holds",
        settings->value, min, max, nd_sample_name (settings->type));
    return NULL;
  }
  if (settings->kind == ND_PATTERN_HEART_VELOCITY
      && (pattern_is_whole (settings->type)
          || settings->shape.components != 4)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "pattern=heart-velocity has 4 components of type float32, float16 or "
        "float64, not %" G_GSIZE_FORMAT " of type %s",
        settings->shape.components, nd_sample_name (settings->type));
    return NULL;
  }
  if (!allocate_rows (self)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for one row of %" G_GSIZE_FORMAT
        " samples: use a smaller volume-size",
        settings->shape.components * settings->shape.size[0]);
    return NULL;
  }
  if (has_beams (settings) && !make_beams (self, error))
    return NULL;
  if (is_heart (settings)) {
    self->phantom = nd_phantom_new (settings->shape.size, settings->seed,
        settings->noise, error);
    if (!self->phantom)
      return NULL;
  }
  return g_steal_pointer (&self);
}

void
nd_pattern_free (NdPattern *self)
{
  g_clear_pointer (&self->phantom, nd_phantom_free);
  g_clear_pointer (&self->space, nd_beam_space_free);
  g_free (self->rows);
  g_free (self);
}

void
nd_pattern_geometry (const NdPatternSettings *settings, NdGeometry *geometry)
{
  if (is_heart (settings)) {
    nd_phantom_geometry (settings->shape.size, geometry);
    return;
  }
  memset (geometry, 0, sizeof (NdGeometry));
  geometry->known = TRUE;
  for (guint a = 0; a < 3; a++) {
    geometry->spacing[a] = 1;
    geometry->directions[4 * a] = 1;
  }
}

void
nd_pattern_beams (const NdPatternSettings *settings, gchar text[ND_BEAMS_TEXT])
{
  NdBeams beams = { 0 };

  text[0] = '\0';
  if (!has_beams (settings))
    return;
  nd_settings_init (nd_beams_settings, nd_n_beams_settings, &beams);
  nd_beams_geometry (settings->shape.size, &beams);
  nd_beams_to_text (&beams, text, NULL);
  nd_settings_clear (nd_beams_settings, nd_n_beams_settings, &beams);
}

/* The heart, the vessels or greys of beams. */
static void
body_row (const NdPattern *self, guint64 volume, gsize y, gsize z, gfloat *row)
{
  const NdPatternSettings *s = &self->settings;
  gsize n = s->shape.size[0], components = s->shape.components;
  gfloat scale = types[s->type].white / 255;

  if (self->phantom)
    nd_phantom_row (self->phantom, y, z, row);
  else if (self->space)
    nd_beams_row (self->space, n, y, z, row);
  else
    nd_vessels_row (s->shape.size, s->noise, nd_hash_volume (s->seed, volume),
        y, z, row);
  if (pattern_is_whole (s->type)) {
    for (gsize i = 0; i < n; i++)
      row[i] = (gfloat) (gint) (row[i] * scale + 0.5f);
  }
  /* From the end, because the row is read and written in place. */
  if (components > 1) {
    for (gsize i = n; i-- > 0;)
      for (gsize c = components; c-- > 0;)
        row[i * components + c] = row[i];
  }
}

static void
signal_row (const NdPattern *self, gsize y, gsize z, gfloat *row)
{
  const NdPatternSettings *s = &self->settings;
  const gdouble low = types[s->type].min, high = types[s->type].max;
  const gsize n = s->shape.size[0], count = n * s->shape.components;

  nd_beams_row (self->space, n, y, z, row);
  nd_beams_iq (n, y, z, s->shape.size[1], s->noise, nd_hash_volume (s->seed, 0),
      row);
  if (s->kind == ND_PATTERN_RF) {
    /* The real part of z times 1, i, -1, -i. */
    for (gsize x = 0; x < n; x++)
      row[x] = (x % 4 == 1 || x % 4 == 2 ? -1 : 1) * row[2 * x + x % 2];
  }
  for (gsize i = 0; pattern_is_whole (s->type) && i < count; i++)
    row[i] = (gfloat) CLAMP (rint ((low < 0 ? 0 : (high + 1) / 2)
                                 + (high - low - 1) / 2 * row[i]),
        low, high);
}

static void
noise_row (const NdPattern *self, guint64 n, gsize y, gsize z, gfloat *row)
{
  const NdPatternSettings *s = &self->settings;
  gsize count = s->shape.size[0] * s->shape.components;
  guint64 key =
      nd_hash_volume (s->seed, n) + (z * s->shape.size[1] + y) * count;
  guint shift = types[s->type].shift;
  gfloat scale = types[s->type].noise_scale;
  gfloat offset = types[s->type].noise_offset;

  for (gsize i = 0; i < count; i++)
    row[i] = (gfloat) (gint32) (nd_hash (key + i) >> shift) * scale + offset;
}

static void
ramp_row (const NdPattern *self, guint64 n, gsize y, gsize z, gfloat *row)
{
  const NdPatternSettings *s = &self->settings;
  guint32 mask = types[s->type].ramp - 1;
  guint32 start = (guint32) (n + y + z);
  guint32 components = s->shape.components;

  for (guint32 x = 0; x < s->shape.size[0]; x++)
    for (guint32 c = 0; c < components; c++)
      *row++ = (gfloat) (gint32) ((start + x + c) & mask);
}

static void
value_row (const NdPattern *self, guint64 n, gsize y, gsize z, gfloat *row)
{
  const NdPatternSettings *s = &self->settings;
  const gsize *size = s->shape.size;
  gsize first = 0, count = size[0] * s->shape.components;

  if (s->kind == ND_PATTERN_IMPULSE) {
    memset (row, 0, count * sizeof (gfloat));
    if (n % s->period != s->period / 2 || y != size[1] / 2 || z != size[2] / 2)
      return;
    first = size[0] / 2 * s->shape.components;
    count = first + s->shape.components;
  }
  for (gsize i = first; i < count; i++)
    row[i] = (gfloat) s->value;
}

/* Heart beats from one volume to the next. */
static gdouble
get_beats (const NdPatternSettings *s)
{
  return (gdouble) s->rate_d / s->rate_n * s->heart_rate / 60;
}

#define STORE(type)                               \
  do {                                            \
    for (gsize i = 0; i < count; i++)             \
      ((type *) out)[i] = (type) (gint32) row[i]; \
  } while (0)

/* Values at the ends of the range are rounded up in a float. */
static gint64
whole_within (gfloat value, gint64 low, gint64 high)
{
  return CLAMP ((gint64) value, low, high);
}

static void
store_row (const gfloat *row, gsize count, NdSampleType type, gpointer out)
{
  switch (type) {
    case ND_UINT8:
      STORE (guint8);
      break;
    case ND_INT16:
      STORE (gint16);
      break;
    case ND_UINT16:
      STORE (guint16);
      break;
    case ND_INT8:
      STORE (gint8);
      break;
    case ND_INT32:
      for (gsize i = 0; i < count; i++)
        ((gint32 *) out)[i] = whole_within (row[i], G_MININT32, G_MAXINT32);
      break;
    case ND_UINT32:
      for (gsize i = 0; i < count; i++)
        ((guint32 *) out)[i] = whole_within (row[i], 0, G_MAXUINT32);
      break;
    case ND_FLOAT16:
      for (gsize i = 0; i < count; i++)
        ((guint16 *) out)[i] = nd_float_to_half (row[i]);
      break;
    case ND_FLOAT64:
      for (gsize i = 0; i < count; i++)
        ((gdouble *) out)[i] = row[i];
      break;
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      memcpy (out, row, count * sizeof (gfloat));
      break;
  }
}

static void
make_row (const NdPattern *self, guint64 n, gsize y, gsize z, gfloat *row)
{
  const NdPatternSettings *s = &self->settings;

  switch (s->kind) {
    case ND_PATTERN_HEART:
    case ND_PATTERN_VESSELS:
    case ND_PATTERN_BEAMS:
      body_row (self, n, y, z, row);
      break;
    case ND_PATTERN_HEART_VELOCITY:
      nd_phantom_velocity_row (self->phantom, get_beats (s), y, z, row);
      break;
    case ND_PATTERN_RF:
    case ND_PATTERN_IQ:
      signal_row (self, y, z, row);
      break;
    case ND_PATTERN_NOISE:
      noise_row (self, n, y, z, row);
      break;
    case ND_PATTERN_RAMP:
      ramp_row (self, n, y, z, row);
      break;
    case ND_PATTERN_IMPULSE:
    case ND_PATTERN_CONSTANT:
      value_row (self, n, y, z, row);
      break;
  }
}

typedef struct
{
  const NdPattern *self;
  guint64 n;
  guint8 *out;
  gsize count;  /* samples of a row */
  gsize n_rows; /* of the volume */
  gsize rows_of_task;
} Volume;

static void
make_rows (gsize task, guint worker, gpointer data)
{
  const Volume *v = data;
  const NdPatternSettings *s = &v->self->settings;
  const gsize bytes = v->count * nd_sample_size (s->type);
  const gsize first = task * v->rows_of_task;
  const gsize end = MIN (first + v->rows_of_task, v->n_rows);
  gfloat *row = v->self->rows + worker * v->self->row_floats;

  for (gsize i = first; i < end; i++) {
    make_row (v->self, v->n, i % s->shape.size[1], i / s->shape.size[1], row);
    store_row (row, v->count, s->type, v->out + i * bytes);
  }
}

void
nd_pattern_volume (NdPattern *self, guint64 n, gpointer data)
{
  const NdPatternSettings *s = &self->settings;
  Volume v = { self, n, data, .n_rows = s->shape.size[1] * s->shape.size[2] };
  gsize n_tasks;

  v.count = s->shape.size[0] * s->shape.components;
  v.rows_of_task = MAX (SAMPLES_OF_TASK / v.count, 1);
  n_tasks = (v.n_rows + v.rows_of_task - 1) / v.rows_of_task;
  if (self->phantom)
    nd_phantom_set_time (self->phantom, n,
        fmod ((gdouble) n * s->rate_d / s->rate_n * s->heart_rate / 60, 1.0));
  if (nd_threads () <= self->n_rows) {
    nd_parallel_for (n_tasks, make_rows, &v);
  } else {
    for (gsize i = 0; i < n_tasks; i++)
      make_rows (i, 0, &v);
  }
}

const NdVessel nd_vessels[ND_VESSELS] = {
  { 0.55, 2.2, 0.4, 0.55, 2.2, 1.97, 0.16 },
  { 0.7, 0.9, 0, 0.5, 1.1, 2.6, 0.12 },
  { 0.35, 2.8, 3.4, 0.75, 0.8, 0.3, 0.1 },
  { 0.8, 1.2, 2.9, 0.3, 3.1, 0.8, 0.08 },
  { 0.6, 1.7, 4.6, 0.8, 1.3, 5.3, 0.07 },
};

/* Indices in units of half of the shortest axis, from the middle. */
static gdouble
vessels_place (const gsize size[3], guint axis, gsize index)
{
  const gsize least = MIN (MIN (size[0], size[1]), MAX (size[2], 1));
  const gsize unit = size[2] > 1 ? least : MIN (size[0], size[1]);

  return (2.0 * index + 1 - size[axis]) / unit;
}

void
nd_vessels_row (const gsize size[3], gdouble noise, guint64 key, gsize y,
    gsize z, gfloat *row)
{
  const gdouble v = vessels_place (size, 1, y), w = vessels_place (size, 2, z);

  for (gsize x = 0; x < size[0]; x++)
    row[x] = 0;
  for (guint i = 0; i < ND_VESSELS; i++) {
    const NdVessel *t = &nd_vessels[i];
    const gdouble middle = t->a * sin (t->f * w + t->p);
    const gdouble dy = v - t->b * sin (t->g * w + t->q);
    /* The direction of the line, per unit of z. */
    const gdouble tx = t->a * t->f * cos (t->f * w + t->p);
    const gdouble ty = t->b * t->g * cos (t->g * w + t->q);
    const gdouble along = 1 + tx * tx + ty * ty;

    for (gsize x = 0; x < size[0]; x++) {
      const gdouble dx = vessels_place (size, 0, x) - middle;
      const gdouble dot = dx * tx + dy * ty;
      const gdouble square = MAX (dx * dx + dy * dy - dot * dot / along, 0);

      row[x] = MAX (row[x], exp (-2 * square / (t->radius * t->radius)));
    }
  }
  key += (z * size[1] + y) * size[0];
  for (gsize x = 0; x < size[0]; x++) {
    const gdouble u = (nd_hash (key + x) >> 11) * 0x1p-52 - 1;

    row[x] = CLAMP ((40 + 200 * row[x]) * (1 + 0.4 * noise * u), 0, 255);
  }
}
