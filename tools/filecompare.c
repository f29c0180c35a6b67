/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/filecompare.h"

#include "core/convert.h"
#include "core/error.h"
#include "core/memory.h"

#include <math.h>

/* SSIM: the side of a window, and the constants of its authors. */
#define WINDOW 7
#define K1 0.01
#define K2 0.03

/* Sums over the rectangle from the first sample: of a, b, a^2, b^2, a b. */
typedef struct
{
  gdouble sum[5];
} Sums;

/* Memory that is used for all volumes. */
typedef struct
{
  gpointer volume_a, volume_b;
  gdouble *a, *b; /* the samples */
  Sums *table;    /* of a slice */
} Work;

static void
work_clear (Work *work)
{
  g_free (work->volume_a);
  g_free (work->volume_b);
  g_free (work->a);
  g_free (work->b);
  g_free (work->table);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear);

static gboolean
work_init (Work *work, const NdRecording *a, const NdRecording *b,
    GError **error)
{
  const gsize bytes_a = nd_recording_volume_size (a);
  const gsize bytes_b = nd_recording_volume_size (b);
  const gsize n = bytes_a / nd_sample_size (a->type);
  const gsize rows = a->shape.size[1] + 1;

  work->volume_a = g_try_malloc (bytes_a);
  work->volume_b = g_try_malloc (bytes_b);
  work->a = g_try_new (gdouble, n);
  work->b = g_try_new (gdouble, n);
  work->table =
      g_try_malloc0 (nd_size_mul (a->shape.size[0] + 1, rows, sizeof (Sums)));
  if (work->volume_a && work->volume_b && work->a && work->b && work->table)
    return TRUE;
  nd_memory_set_error (error, nd_size_mul (n, 2 * sizeof (gdouble), 1));
  return FALSE;
}

static void
to_doubles (gdouble *doubles, gconstpointer volume,
    const NdRecording *recording, gsize n)
{
  for (gsize i = 0; i < n; i++)
    doubles[i] = nd_sample_value (volume, i, recording->type);
}

static void
add_samples (NdDifference *difference, const gdouble *a, const gdouble *b,
    gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gdouble d = a[i] - b[i];

    difference->samples++;
    if (!isfinite (d)) {
      difference->not_finite++;
      continue;
    }
    difference->maximum = MAX (difference->maximum, fabs (d));
    difference->squares += d * d;
    difference->low = MIN (difference->low, a[i]);
    difference->high = MAX (difference->high, a[i]);
  }
}

static gdouble
similarity (const gdouble sum[5], gdouble n, gdouble c1, gdouble c2)
{
  const gdouble ma = sum[0] / n, mb = sum[1] / n;
  const gdouble va = sum[2] / n - ma * ma, vb = sum[3] / n - mb * mb;
  const gdouble covariance = sum[4] / n - ma * mb;

  return (2 * ma * mb + c1) * (2 * covariance + c2)
      / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

/* Adds the SSIM of all windows of a slice of @width x @height with samples
 * @step apart, by a table of sums, whose first row and column are 0. */
static void
add_windows (NdDifference *difference, Sums *table, const gdouble *a,
    const gdouble *b, gsize width, gsize height, gsize step, gdouble c1,
    gdouble c2)
{
  const gsize w = MIN (WINDOW, width), h = MIN (WINDOW, height);

  for (gsize y = 0; y < height; y++) {
    gdouble row[5] = { 0 };

    for (gsize x = 0; x < width; x++) {
      const gdouble p = a[(y * width + x) * step],
                    q = b[(y * width + x) * step];
      const gdouble terms[5] = { p, q, p * p, q * q, p * q };

      for (guint k = 0; k < 5; k++) {
        row[k] += terms[k];
        table[(y + 1) * (width + 1) + x + 1].sum[k] =
            table[y * (width + 1) + x + 1].sum[k] + row[k];
      }
    }
  }
  for (gsize y = h; y <= height; y++) {
    for (gsize x = w; x <= width; x++) {
      gdouble sum[5];

      for (guint k = 0; k < 5; k++)
        sum[k] = table[y * (width + 1) + x].sum[k]
            - table[(y - h) * (width + 1) + x].sum[k]
            - table[y * (width + 1) + x - w].sum[k]
            + table[(y - h) * (width + 1) + x - w].sum[k];
      difference->similarity += similarity (sum, (gdouble) (w * h), c1, c2);
      difference->windows++;
    }
  }
}

static void
add_similarity (NdDifference *difference, const Work *work,
    const NdShape *shape)
{
  const gdouble *a = work->a, *b = work->b;
  const gdouble range = MAX (difference->high - difference->low, 1e-300);
  const gsize slice = shape->size[0] * shape->size[1] * shape->components;

  /* No SSIM, because a NaN would make all later sums NaN. */
  if (difference->not_finite > 0)
    return;
  for (gsize z = 0; z < shape->size[2]; z++) {
    for (gsize c = 0; c < shape->components; c++)
      add_windows (difference, work->table, a + z * slice + c,
          b + z * slice + c, shape->size[0], shape->size[1], shape->components,
          K1 * range * K1 * range, K2 * range * K2 * range);
  }
}

static void
print_difference (const gchar *name, const NdDifference *difference)
{
  const gdouble n = (gdouble) (difference->samples - difference->not_finite);
  const gdouble rms = n > 0 ? sqrt (difference->squares / n) : NAN;
  const gdouble range = difference->high - difference->low;

  g_print ("%-9s  maximum %.6g  RMS %.6g  PSNR ", name, difference->maximum,
      rms);
  if (rms > 0)
    g_print ("%.2f dB", 20 * log10 (range / rms));
  else
    g_print ("infinite");
  if (difference->windows > 0)
    g_print ("  SSIM %.4f",
        difference->similarity / (gdouble) difference->windows);
  if (difference->not_finite > 0)
    g_print ("  not finite %" G_GUINT64_FORMAT, difference->not_finite);
  g_print ("\n");
}

static void
add_up (NdDifference *all, const NdDifference *one)
{
  all->samples += one->samples;
  all->not_finite += one->not_finite;
  all->maximum = MAX (all->maximum, one->maximum);
  all->squares += one->squares;
  all->low = MIN (all->low, one->low);
  all->high = MAX (all->high, one->high);
  all->windows += one->windows;
  all->similarity += one->similarity;
}

static gboolean
check_shapes (const NdRecording *a, const NdRecording *b, GError **error)
{
  gboolean same = a->shape.components == b->shape.components
      && a->responses == b->responses;

  for (guint i = 0; i < 3; i++)
    same = same && a->shape.size[i] == b->shape.size[i];
  if (!same)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The volumes are %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        "x%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
        "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
        " components: only recordings of equal shape can be compared",
        a->shape.size[0], a->shape.size[1], a->shape.size[2],
        a->shape.components, b->shape.size[0], b->shape.size[1],
        b->shape.size[2], b->shape.components);
  return same;
}

gboolean
nd_recordings_compare (NdReader *a, NdReader *b, gboolean *equal,
    GError **error)
{
  static const NdDifference nothing = { .low = INFINITY, .high = -INFINITY };
  const NdRecording *of_a = nd_reader_recording (a);
  const NdRecording *of_b = nd_reader_recording (b);
  const guint64 volumes = MIN (of_a->volumes, of_b->volumes);
  const gsize bytes = nd_recording_volume_size (of_a);
  const gsize n = bytes / nd_sample_size (of_a->type);
  g_auto (Work) work = { NULL };
  NdDifference all = nothing;
  NdShape shape = of_a->shape;

  if (!check_shapes (of_a, of_b, error))
    return FALSE;
  shape.size[2] *= of_a->responses;
  if (!work_init (&work, of_a, of_b, error))
    return FALSE;
  for (guint64 v = 0; v < volumes; v++) {
    NdDifference one = nothing;
    gchar name[32];

    if (!nd_reader_read (a, work.volume_a, error)
        || !nd_reader_read (b, work.volume_b, error))
      return FALSE;
    to_doubles (work.a, work.volume_a, of_a, n);
    to_doubles (work.b, work.volume_b, of_b, n);
    add_samples (&one, work.a, work.b, n);
    add_similarity (&one, &work, &shape);
    g_snprintf (name, sizeof (name), "%" G_GUINT64_FORMAT, v);
    print_difference (name, &one);
    add_up (&all, &one);
  }
  print_difference ("all", &all);
  if (of_a->volumes != of_b->volumes)
    g_print ("warning    %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
             " volumes: the first %" G_GUINT64_FORMAT " are compared\n",
        of_a->volumes, of_b->volumes, volumes);
  *equal =
      of_a->volumes == of_b->volumes && all.maximum == 0 && all.not_finite == 0;
  return TRUE;
}
