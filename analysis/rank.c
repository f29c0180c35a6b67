/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/rank.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/axes.h"
#include "filters/text.h"

#include <string.h>

void
nd_footprint_free (NdFootprint *footprint)
{
  if (!footprint)
    return;
  g_free (footprint->runs);
  g_free (footprint);
}

static gboolean
footprint_is_set (const guint8 *mask, gsize i)
{
  return !mask || mask[i];
}

/* Counts samples and runs of @size[0] samples side by side, and writes the runs
 * if @footprint has memory for them. */
static void
find_runs (NdFootprint *footprint, const gsize size[ND_AXES],
    const guint8 *mask, gsize rows)
{
  footprint->n = footprint->n_runs = 0;
  for (gsize row = 0; row < rows; row++) {
    const gsize at = row * size[0];

    for (gsize x = 0; x < size[0]; x++) {
      const gsize first = x;

      if (!footprint_is_set (mask, at + x))
        continue;
      while (x + 1 < size[0] && footprint_is_set (mask, at + x + 1))
        x++;
      footprint->n += x - first + 1;
      if (footprint->runs)
        footprint->runs[footprint->n_runs] = (NdRankRun){
          .first = footprint->low[0] + (gint) first,
          .last = footprint->low[0] + (gint) x,
          .y = footprint->low[1] + (gint) (row % size[1]),
          .z = footprint->low[2] + (gint) (row / size[1] % size[2]),
          .t = footprint->low[3] + (gint) (row / size[1] / size[2]),
        };
      footprint->n_runs++;
    }
  }
}

NdFootprint *
nd_footprint_new (const gsize size[ND_AXES], const guint8 *mask,
    const gint origin[ND_AXES], GError **error)
{
  g_autoptr (NdFootprint) footprint = g_new0 (NdFootprint, 1);
  gsize all = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    all = nd_size_mul (all, size[a], 1);
    if (size[a] == 0 || all > ND_RANK_MAX_SAMPLES) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "The footprint has %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
          ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
          " samples; it must have 1 to %" G_GSIZE_FORMAT,
          size[0], size[1], size[2], size[3], ND_RANK_MAX_SAMPLES);
      return NULL;
    }
    footprint->low[a] = -(gint) (size[a] / 2) - origin[a];
    footprint->high[a] = footprint->low[a] + (gint) size[a] - 1;
    if (footprint->low[a] > 0 || footprint->high[a] < 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "The origin of the footprint is %d along axis %u; it must be from "
          "-(size/2) to (size-1)/2",
          origin[a], a);
      return NULL;
    }
  }
  find_runs (footprint, size, mask, all / size[0]);
  if (footprint->n == 0) {
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The footprint has no sample: one coefficient or more must not be 0");
    return NULL;
  }
  footprint->is_box = footprint->n == all;
  footprint->runs = g_try_new (NdRankRun, footprint->n_runs);
  if (!footprint->runs) {
    nd_memory_set_error (error, footprint->n_runs * sizeof (NdRankRun));
    return NULL;
  }
  find_runs (footprint, size, mask, all / size[0]);
  return g_steal_pointer (&footprint);
}

NdFootprint *
nd_footprint_negate (const NdFootprint *footprint)
{
  g_autoptr (NdFootprint) negated = g_new0 (NdFootprint, 1);

  *negated = *footprint;
  negated->runs = g_try_new (NdRankRun, footprint->n_runs);
  if (!negated->runs)
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    negated->low[a] = -footprint->high[a];
    negated->high[a] = -footprint->low[a];
  }
  for (gsize i = 0; i < footprint->n_runs; i++) {
    const NdRankRun *run = &footprint->runs[footprint->n_runs - 1 - i];

    negated->runs[i] =
        (NdRankRun){ -run->last, -run->first, -run->y, -run->z, -run->t };
  }
  return g_steal_pointer (&negated);
}

/* Text */

/* The text of a filter, which the caller frees. */
static gchar *
filter_text (const gchar *text, gboolean *is_cross)
{
  *is_cross = FALSE;
  while (g_ascii_isspace (*text))
    text++;
  if (g_ascii_isdigit (*text))
    return g_strconcat ("box,size=", text, NULL);
  if (g_str_has_prefix (text, "ball") && !g_ascii_isalnum (text[4]))
    return g_strconcat ("sphere", text + 4, NULL);
  *is_cross = g_str_has_prefix (text, "cross") && !g_ascii_isalnum (text[5]);
  if (*is_cross)
    return g_strconcat ("box", text + 5, NULL);
  return g_strdup (text);
}

static NdAxes
footprint_axes (const gboolean *single)
{
  NdAxes axes = { 0 };

  nd_axes_from_text ("xyzt", &axes, NULL);
  for (guint a = 0; a < ND_AXES; a++)
    axes.single[a] = a == ND_AXIS_T || (single && single[a]);
  return axes;
}

gboolean
nd_footprint_check_text (const gchar *text, GError **error)
{
  const NdAxes axes = footprint_axes (NULL);
  gboolean is_cross;
  g_autofree gchar *filter = filter_text (text ? text : "", &is_cross);
  NdBankInfo info;

  if (!nd_bank_info_from_text (filter, &axes, &info, error)) {
    g_prefix_error (error, "footprint: ");
    return FALSE;
  }
  if (info.n_responses == 1 && !info.is_complex)
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
      "The footprint must be one real filter: box, ball, cross or file, for "
      "example");
  return FALSE;
}

/* Leaves the samples whose offsets are 0 along all axes but one. */
static void
keep_cross (guint8 *mask, const gsize size[ND_AXES], gsize n)
{
  for (gsize i = 0; i < n; i++) {
    gsize at = i, off = 0;

    for (guint a = 0; a < ND_AXES; a++) {
      off += at % size[a] != size[a] / 2;
      at /= size[a];
    }
    mask[i] = off <= 1;
  }
}

NdFootprint *
nd_footprint_from_text (const gchar *text, const gchar *origin, gboolean causal,
    const gboolean single[ND_AXES], const gint *cancelled, GError **error)
{
  const NdAxes axes = footprint_axes (single);
  g_autoptr (NdBank) bank = NULL;
  g_autofree guint8 *mask = NULL;
  gboolean is_cross;
  g_autofree gchar *filter = filter_text (text ? text : "", &is_cross);
  const NdFilter *coefficients;
  gint shift[ND_AXES];
  gsize n;

  if (!nd_footprint_check_text (text, error))
    return NULL;
  bank =
      nd_bank_from_text (filter, &axes, origin, FALSE, FALSE, cancelled, error);
  if (!bank) {
    g_prefix_error (error, "footprint: ");
    return NULL;
  }
  coefficients = bank->filters[0];
  n = nd_filter_count (coefficients);
  mask = g_try_malloc (n);
  if (!mask) {
    nd_memory_set_error (error, n);
    return NULL;
  }
  for (gsize i = 0; i < n; i++)
    mask[i] = coefficients->coefficients[i] != 0;
  if (is_cross)
    keep_cross (mask, coefficients->size, n);
  memcpy (shift, coefficients->origin, sizeof (shift));
  if (causal)
    shift[ND_AXIS_T] = (coefficients->size[ND_AXIS_T] - 1) / 2;
  return nd_footprint_new (coefficients->size, mask, shift, error);
}

/* Operations */

static gsize
rank_of (gdouble percentile, gsize n)
{
  const gdouble rank = (gdouble) n * percentile / 100;

  return rank >= n ? n - 1 : (gsize) rank;
}

NdRankPlan
nd_rank_plan (NdRankOperation operation, gdouble percentile, gsize n)
{
  const NdRankPass erode = { FALSE, 0 }, dilate = { TRUE, n - 1 };

  switch (operation) {
    case ND_RANK_MEDIAN:
      return (NdRankPlan){ { { FALSE, n / 2 } }, 1, FALSE, ND_RANK_LAST };
    case ND_RANK_PERCENTILE:
      return (NdRankPlan){ { { FALSE, rank_of (percentile, n) } }, 1, FALSE,
        ND_RANK_LAST };
    case ND_RANK_MINIMUM:
    case ND_RANK_ERODE:
      return (NdRankPlan){ { erode }, 1, FALSE, ND_RANK_LAST };
    case ND_RANK_MAXIMUM:
      return (NdRankPlan){ { { FALSE, n - 1 } }, 1, FALSE, ND_RANK_LAST };
    case ND_RANK_DILATE:
      return (NdRankPlan){ { dilate }, 1, FALSE, ND_RANK_LAST };
    case ND_RANK_OPEN:
      return (NdRankPlan){ { erode, dilate }, 2, TRUE, ND_RANK_LAST };
    case ND_RANK_CLOSE:
      return (NdRankPlan){ { dilate, erode }, 2, TRUE, ND_RANK_LAST };
    case ND_RANK_TOPHAT:
      return (NdRankPlan){ { erode, dilate }, 2, TRUE, ND_RANK_IN_MINUS };
    case ND_RANK_BLACKHAT:
      return (NdRankPlan){ { dilate, erode }, 2, TRUE, ND_RANK_MINUS_IN };
    case ND_RANK_GRADIENT:
      break;
  }
  return (NdRankPlan){ { erode, dilate }, 2, FALSE, ND_RANK_DIFFERENCE };
}
