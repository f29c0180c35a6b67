/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/scan.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/units.h"

#include <math.h>
#include <string.h>

/* Bytes of the table for an output sample, and of the sample as a float. */
#define SAMPLE_BYTES 14

/* The axis of memory of depth (0), lateral (1) and elevation (2). */
static guint
axis_of (const NdScan *scan, guint beam_axis)
{
  const guint depth = scan->settings.depth_axis;

  if (beam_axis == 0)
    return depth;
  return beam_axis - (beam_axis <= depth ? 1 : 0);
}

static gboolean
scan_refuse (GError **error, const gchar *sentence)
{
  g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS, sentence);
  return FALSE;
}

static gboolean
parse_size (const gchar *text, gsize size[3], GError **error)
{
  for (guint a = 0; a < 3; a++)
    size[a] = 1;
  if (nd_parse_sizes (text, size, 3) >= 2)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "size is \"%s\": it must be X:Y:Z or X:Y, whole numbers of 1 or more",
      text);
  return FALSE;
}

/* Whether so many samples, and what they are made with, fit in memory. */
static gboolean
check_memory (const NdShape *out, GError **error)
{
  gsize samples;

  if (nd_shape_samples (out, &samples)
      && nd_memory_check (nd_size_mul (samples, SAMPLE_BYTES, 1), NULL))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "The output would have %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
      " x %" G_GSIZE_FORMAT
      " samples, more than the memory holds: set a larger spacing or a smaller "
      "size",
      out->size[0], out->size[1], out->size[2]);
  return FALSE;
}

/* A grid that is chosen has at most this many times the samples of the beams,
 * and a few rows: more are made of beams that are much longer than wide. */
#define MOST_SAMPLES 64
#define FEW_SAMPLES 65536

static gboolean
check_chosen (const NdScan *scan, GError **error)
{
  const gsize *in = scan->in.size, *out = scan->out.size;
  const gdouble samples = (gdouble) out[0] * out[1] * out[2];

  if (samples <= MOST_SAMPLES * (gdouble) in[0] * in[1] * in[2] + FEW_SAMPLES)
    return TRUE;
  return scan_refuse (error,
      "The beams are so narrow or so flat that no spacing suits all axes: set "
      "spacing or size");
}

/* Equal spacing for as many samples as the beams have. */
static gdouble
choose_spacing (const NdScan *scan, const gdouble extent[3])
{
  const gsize *n = scan->in.size;
  const gboolean is_flat = n[axis_of (scan, 2)] == 1;
  const gdouble samples = (gdouble) n[0] * n[1] * n[2];

  if (is_flat)
    return sqrt (extent[0] * extent[1] / samples);
  return cbrt (extent[0] * extent[1] * extent[2] / samples);
}

static gboolean
choose_grid (NdScan *scan, const NdScanSettings *settings, GError **error)
{
  const gboolean has_size = settings->size && *settings->size;
  const gboolean has_spacing = settings->spacing && *settings->spacing;
  NdGeometry *grid = &scan->grid;
  gdouble low[3], high[3], extent[3];

  nd_beam_space_box (scan->space, low, high);
  for (guint a = 0; a < 3; a++)
    extent[a] = high[a] - low[a];
  if (has_size && !parse_size (settings->size, scan->out.size, error))
    return FALSE;
  if (has_spacing && !nd_units_parse_spacing (settings->spacing, grid->spacing))
    return scan_refuse (error,
        "spacing must be 1 to 3 numbers above 0, in mm, separated by ':'");
  for (guint a = 0; a < 3; a++) {
    const gdouble steps = (gdouble) scan->out.size[a] - 1;

    if (!has_spacing)
      grid->spacing[a] = !has_size || steps < 1 || extent[a] == 0
          ? choose_spacing (scan, extent)
          : extent[a] / steps;
    if (!has_size) {
      const gdouble n = floor (extent[a] / grid->spacing[a] + 1e-9) + 1;

      scan->out.size[a] = n < G_MAXUINT32 ? n : G_MAXUINT32;
    }
    grid->origin[a] = a == 1 && scan->out.size[a] > 1 ? low[a]
                                                      : (low[a] + high[a]) / 2
            - (scan->out.size[a] - 1.) / 2 * grid->spacing[a];
    grid->directions[4 * a] = 1;
  }
  grid->known = TRUE;
  if (extent[2] == 0 && scan->out.size[2] > 1)
    return scan_refuse (error,
        "The input is one plane: the size of the output must be X:Y");
  return has_size || has_spacing || check_chosen (scan, error);
}

/* Inverts the matrix from indices to millimetres. FALSE if it is singular. */
static gboolean
invert_grid (const NdGeometry *grid, gdouble inverse[9])
{
  const gdouble *d = grid->directions;
  gdouble cofactors[9], determinant = 0;

  for (guint i = 0; i < 9; i++) {
    const guint r = (i / 3 + 1) % 3, s = (i / 3 + 2) % 3;
    const guint c = (i + 1) % 3, e = (i + 2) % 3;

    cofactors[i] = d[3 * r + c] * d[3 * s + e] - d[3 * r + e] * d[3 * s + c];
  }
  for (guint c = 0; c < 3; c++)
    determinant += d[c] * cofactors[c];
  if (!(fabs (determinant) > 1e-6))
    return FALSE;
  for (guint i = 0; i < 9; i++)
    inverse[i] =
        cofactors[i % 3 * 3 + i / 3] / determinant / grid->spacing[i / 3];
  return TRUE;
}

static gboolean
read_grid (NdScan *scan, const NdScanSettings *settings,
    const NdGeometry *geometry, GError **error)
{
  if (!geometry->known)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_FORMAT,
        "inverse=true needs the spacing and origin of the volumes in the caps, "
        "in mm from the middle of the probe");
  else if (!settings->size || !*settings->size)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "inverse=true needs size, the samples of the beams along x, y and z, "
        "for example 256:96:96");
  else if (!invert_grid (geometry, scan->to_index))
    g_set_error_literal (error, ND_ERROR, ND_ERROR_FORMAT,
        "The directions of the volumes in the caps lie in one plane: they must "
        "be three independent axes");
  else if (parse_size (settings->size, scan->out.size, error)) {
    scan->grid = *geometry;
    return TRUE;
  }
  return FALSE;
}

gboolean
nd_scan_init (NdScan *scan, const NdBeams *beams,
    const NdScanSettings *settings, const NdShape *in,
    const NdGeometry *geometry, GError **error)
{
  const NdShape *beam_shape = settings->inverse ? &scan->out : &scan->in;
  gsize size[3];

  *scan = (NdScan){ .settings = *settings, .in = *in, .out = *in };
  scan->settings.spacing = scan->settings.size = NULL;
  if (settings->inverse && beams->kind == ND_BEAMS_AUTO)
    return scan_refuse (error,
        "inverse=true needs the geometry of the beams to make: set geometry to "
        "another value than auto, depth and the angles or widths of the probe");
  if (settings->inverse && !read_grid (scan, settings, geometry, error))
    return FALSE;
  for (guint a = 0; a < 3; a++)
    size[a] = beam_shape->size[axis_of (scan, a)];
  scan->space = nd_beam_space_new (beams, size, error);
  if (!scan->space)
    return FALSE;
  if ((!settings->inverse && !choose_grid (scan, settings, error))
      || !check_memory (&scan->out, error)) {
    nd_scan_clear (scan);
    return FALSE;
  }
  return TRUE;
}

void
nd_scan_clear (NdScan *scan)
{
  g_clear_pointer (&scan->space, nd_beam_space_free);
}

static gboolean
index_of_beams (const NdScan *scan, const gsize at[3], gdouble index[3])
{
  const NdGeometry *grid = &scan->grid;
  gdouble place[3], beam[3];

  for (guint a = 0; a < 3; a++)
    place[a] = grid->origin[a] + at[a] * grid->spacing[a];
  if (!nd_beam_space_index (scan->space, place, beam))
    return FALSE;
  for (guint a = 0; a < 3; a++)
    index[axis_of (scan, a)] = beam[a];
  return TRUE;
}

/* A flat volume is as thick as it has to be. */
static gboolean
index_of_grid (const NdScan *scan, const gsize at[3], gdouble index[3])
{
  const NdGeometry *grid = &scan->grid;
  gdouble place[3], beam[3];

  for (guint a = 0; a < 3; a++)
    beam[a] = at[axis_of (scan, a)];
  nd_beam_space_position (scan->space, beam, place);
  for (guint a = 0; a < 3; a++) {
    const gdouble last = scan->in.size[a] - 1.;

    index[a] = 0;
    for (guint b = 0; b < 3 && last > 0; b++)
      index[a] += scan->to_index[3 * a + b] * (place[b] - grid->origin[b]);
    if (!(index[a] >= -1e-6 && index[a] <= last + 1e-6))
      return FALSE;
    index[a] = CLAMP (index[a], 0, last);
  }
  return TRUE;
}

gboolean
nd_scan_index (const NdScan *scan, const gsize at[3], gdouble index[3])
{
  return scan->settings.inverse ? index_of_grid (scan, at, index)
                                : index_of_beams (scan, at, index);
}

/* The reference */

static void
find_weights (const NdScan *scan, gdouble index, gsize size, gint64 at[4],
    gdouble weights[4])
{
  const gint64 last = size - 1;
  const gint64 below = CLAMP ((gint64) index, 0, MAX (last - 1, 0));
  const gdouble share = index - below;
  gint first, n;

  nd_scan_reach (scan->settings.interpolation, &first, &n);
  memset (weights, 0, 4 * sizeof (gdouble));
  if (n == 4) {
    nd_cubic_weights (share, weights);
  } else {
    weights[0] = 1 - share;
    weights[1] = share;
  }
  for (gint k = 0; k < 4; k++)
    at[k] = CLAMP (below + first + k, 0, last);
}

static gdouble
interpolate (const NdScan *scan, const gdouble index[3], const gdouble *in,
    gsize component)
{
  const NdShape *shape = &scan->in;
  gint64 at[3][4];
  gdouble w[3][4], sum = 0;

  for (guint a = 0; a < 3; a++)
    find_weights (scan, index[a], shape->size[a], at[a], w[a]);
  for (guint k = 0; k < 64; k++) {
    const guint i = k % 4, j = k / 4 % 4, l = k / 16;
    const gdouble weight = w[0][i] * w[1][j] * w[2][l];

    if (weight != 0)
      sum += weight
          * in[((at[2][l] * shape->size[1] + at[1][j]) * shape->size[0]
                   + at[0][i])
                  * shape->components
              + component];
  }
  return sum;
}

void
nd_scan_reference (const NdScan *scan, const gdouble *in, gdouble *out)
{
  const NdShape *shape = &scan->out;
  gsize at[3];

  for (at[2] = 0; at[2] < shape->size[2]; at[2]++)
    for (at[1] = 0; at[1] < shape->size[1]; at[1]++)
      for (at[0] = 0; at[0] < shape->size[0]; at[0]++) {
        gdouble index[3];
        const gboolean inside = nd_scan_index (scan, at, index);

        for (gsize c = 0; c < shape->components; c++)
          *out++ = inside ? interpolate (scan, index, in, c)
                          : scan->settings.border_value;
      }
}
