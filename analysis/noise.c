/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/noise.h"

#include "analysis/denoise.h"

#include <math.h>
#include <string.h>

/* The least differences of a histogram that is used. */
#define MIN_DIFFERENCES 200
/* The least differences whose number is compared with that of a neighbour. */
#define MIN_NEIGHBOURS 50
/* More differences do not improve the median. */
#define MAX_DIFFERENCES (1 << 18)

gsize
nd_noise_every (gsize n)
{
  return 1 + n / MAX_DIFFERENCES;
}

static gdouble
bin_start (guint32 bin)
{
  const guint32 bits = bin << ND_NOISE_SHIFT;
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

/* The number of zeros that noise does not explain. An area of one value, for
 * example around a sector of ultrasound, has zeros and tells nothing about the
 * noise. Noise of rounded samples has about half as many zeros as differences
 * of one step, which have two signs. */
static guint64
unexplained_zeros (const NdNoiseHistogram *histogram)
{
  for (guint32 bin = 1; bin < histogram->n_bins; bin++) {
    const guint32 explained = histogram->bins[bin] / 2;

    if (histogram->bins[bin] > 0)
      return histogram->bins[0] - MIN (histogram->bins[0], explained);
  }
  return 0;
}

/* The range of the values that @bin counts. Differences of integers are far
 * apart: those between two of them are rounded to the nearest. */
static void
bin_range (const NdNoiseHistogram *histogram, guint32 bin, gdouble *from,
    gdouble *to)
{
  const guint32 number = histogram->first + bin - 1;
  guint32 before = bin - 1, after = bin + 1;

  *from = bin_start (number);
  *to = bin_start (number + 1);
  while (before > 0 && histogram->bins[before] == 0)
    before--;
  while (after < histogram->n_bins && histogram->bins[after] == 0)
    after++;
  if (before + 1 == bin || after == bin + 1 || after == histogram->n_bins)
    return;
  *to = (*from + bin_start (histogram->first + after - 1)) / 2;
  *from =
      (*from + (before ? bin_start (histogram->first + before - 1) : 0)) / 2;
}

/* The median of a histogram without @n_ignored zeros. Assumes that values are
 * evenly spread in the range of a bin, except for zeros. */
static gdouble
noise_median (const NdNoiseHistogram *histogram, guint64 n_ignored)
{
  const gdouble half = (histogram->n - n_ignored) / 2.0;
  guint64 below = 0;

  for (guint32 bin = 0; bin < histogram->n_bins; bin++) {
    const guint64 here = histogram->bins[bin] - (bin == 0 ? n_ignored : 0);

    if (below + here >= half && here > 0) {
      gdouble from, to;

      if (bin == 0)
        return 0;
      bin_range (histogram, bin, &from, &to);
      return from + (to - from) * (half - below) / here;
    }
    below += here;
  }
  return 0;
}

typedef struct
{
  gdouble mean, variance, excess; /* kurtosis - 3 */
} Moments;

/* The moments of value + sigma n, clipped, with the density times exp (tilt x).
 * Samples with this tilt are those whose mean is known. */
static Moments
tilted_moments (gdouble value, gdouble sigma, gdouble tilt, gdouble low,
    gdouble high)
{
  const gdouble s2 = sigma * sigma, centre = value + tilt * s2;
  const gdouble a = (low - centre) / sigma, b = (high - centre) / sigma;
  const gdouble at_a = sigma * nd_normal_density (a);
  const gdouble at_b = sigma * nd_normal_density (b);
  const gdouble norm = tilt * (value + centre) / 2;
  const gdouble below =
      nd_normal_probability ((low - value) / sigma) * exp (tilt * low - norm);
  const gdouble above =
      nd_normal_probability ((value - high) / sigma) * exp (tilt * high - norm);
  gdouble m[5], ends_a = at_a, ends_b = at_b, sum;

  /* Inside the range: m[k] = centre m[k - 1] + (k - 1) s2 m[k - 2] + ends. */
  m[0] = 1 - nd_normal_probability (a) - nd_normal_probability (-b);
  for (guint k = 1; k < 5; k++) {
    m[k] = centre * m[k - 1] + (k > 1 ? (k - 1) * s2 * m[k - 2] : 0) + ends_a
        - ends_b;
    ends_a *= low;
    ends_b *= high;
  }
  sum = m[0] + below + above;
  for (guint k = 1; k < 5; k++)
    m[k] = (m[k] + below * pow (low, k) + above * pow (high, k)) / sum;

  const gdouble mean = m[1], variance = MAX (m[2] - mean * mean, 1e-9 * s2);
  const gdouble fourth = m[4] - 4 * mean * m[3] + 6 * mean * mean * m[2]
      - 3 * mean * mean * mean * mean;

  return (Moments){ mean, variance, fourth / (variance * variance) - 3 };
}

/* The moments of clipped samples whose mean is @mean. Newton's method, as the
 * variance is the slope of the mean, or bisection if that leaves the
 * interval. */
static Moments
moments_at (gdouble mean, gdouble value, gdouble sigma, gdouble low,
    gdouble high)
{
  gdouble from = -4 / sigma, to = 4 / sigma, tilt = 0;
  Moments m = tilted_moments (value, sigma, tilt, low, high);

  for (guint i = 0; i < 40 && fabs (m.mean - mean) > 1e-4 * sigma; i++) {
    gdouble next = tilt + (mean - m.mean) / m.variance;

    if (m.mean < mean)
      from = tilt;
    else
      to = tilt;
    if (!(next > from && next < to))
      next = (from + to) / 2;
    tilt = next;
    m = tilted_moments (value, sigma, tilt, low, high);
  }
  return m;
}

/* The standard deviation that the median of |HHH| shows. Each difference has
 * @count samples around @value with noise of @sigma, clipped, whose mean is
 * @mean: they vary more than other samples around that mean, because some are
 * at the end of the range. */
static gdouble
shown_deviation (gdouble mean, gdouble value, gdouble sigma, guint count,
    gdouble low, gdouble high)
{
  const Moments m = moments_at (mean, value, sigma, low, high);
  const gdouble room = .99 * MIN (mean - low, high - mean);
  const gdouble step = MIN (sqrt (m.variance / count), room);
  const gdouble before =
      moments_at (mean - step, value, sigma, low, high).variance;
  const gdouble after =
      moments_at (mean + step, value, sigma, low, high).variance;
  /* The next order in 1 / count of the variance at a known mean. */
  const gdouble curvature = (before - 2 * m.variance + after) / (step * step);
  const gdouble variance = m.variance - m.variance / count * curvature / 2;

  /* The first order of the median of |x| in the excess of a sum (Edgeworth). */
  return sqrt (MAX (variance, m.variance / 4)) * (1 - .106 * m.excess / count);
}

/* sigma of noise before clipping. @deviation and @mean are those of the
 * differences of a part, @true_mean is the mean of all clipped samples at such
 * places. */
static gdouble
undo_clipping (gdouble mean, gdouble true_mean, gdouble deviation, guint count,
    gdouble low, gdouble high)
{
  gdouble sigma = deviation;

  if (deviation < (mean - low) / 5 && deviation < (high - mean) / 5)
    return deviation;
  for (guint i = 0; i < 20; i++) {
    const gdouble value = nd_unclipped_mean (true_mean, sigma, low, high);
    const gdouble ratio =
        deviation / shown_deviation (mean, value, sigma, count, low, high);

    sigma *= ratio;
    if (fabs (ratio - 1) < 1e-4)
      break;
  }
  return sigma;
}

/* The mean of all samples at the places of a part: parts far from most samples
 * have those that noise moved there (Tweedie's formula). */
static gdouble
true_mean (const NdNoiseHistogram *parts, guint i, gdouble deviation,
    guint count, gdouble low, gdouble high)
{
  const gdouble width = (high - low) / ND_NOISE_PARTS;
  const guint before = i > 0 && parts[i - 1].n > MIN_NEIGHBOURS ? i - 1 : i;
  const guint after =
      i + 1 < ND_NOISE_PARTS && parts[i + 1].n > MIN_NEIGHBOURS ? i + 1 : i;
  gdouble slope = 0;

  if (after > before)
    slope = log ((gdouble) parts[after].n / parts[before].n)
        / (width * (after - before));
  return CLAMP (parts[i].sum / parts[i].n
          + deviation * deviation / count * slope,
      low + width / 16, high - width / 16);
}

/* Combines the estimates of all parts. Samples near the middle of the range
 * count most, because clipping changes them least. */
static gdouble
noise_combine (const NdNoiseHistogram *parts, guint count, gdouble low,
    gdouble high)
{
  const gdouble norm = ND_NOISE_MEDIAN * sqrt (count);
  gdouble weights = 0, sum = 0, fallback = 0;
  guint64 most = 0;

  for (guint i = 0; i < ND_NOISE_PARTS; i++) {
    const NdNoiseHistogram *part = &parts[i];
    gdouble deviation, mean, room, weight;

    if (part->n == 0)
      continue;
    deviation = noise_median (part, 0) / norm;
    if (part->n > most) {
      most = part->n;
      fallback = deviation;
    }
    mean = part->sum / part->n;
    room = MIN (mean - low, high - mean);
    if (part->n < MIN_DIFFERENCES || room < deviation)
      continue;
    weight = part->n * MIN (1, pow (room / (3 * MAX (deviation, 1e-9)), 6));
    weights += weight;
    sum += weight
        * undo_clipping (mean,
            true_mean (parts, i, deviation, count, low, high), deviation, count,
            low, high);
  }
  return weights > 0 ? sum / weights : fallback;
}

gdouble
nd_noise_sigma (const NdNoiseHistogram *parts, guint n, const gsize size[3],
    gdouble low, gdouble high)
{
  guint axes = 0;

  for (guint a = 0; a < 3; a++)
    axes += size[a] > 1;
  if (axes == 0)
    return 0;
  if (n > 1)
    return noise_combine (parts, 1 << axes, low, high);
  return noise_median (parts, unexplained_zeros (parts))
      / (ND_NOISE_MEDIAN * sqrt (1 << axes));
}

/* The weight of the counts of earlier volumes. */
#define MEMORY 0.8

gfloat
nd_sample_low (NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
    case ND_UINT16:
      return 0;
    case ND_INT16:
      return G_MININT16;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      break;
  }
  return -INFINITY;
}

gfloat
nd_sample_high (NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return G_MAXUINT8;
    case ND_UINT16:
      return G_MAXUINT16;
    case ND_INT16:
      return G_MAXINT16;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      break;
  }
  return INFINITY;
}

void
nd_clipping_reset (NdClipping *clipping)
{
  clipping->seen = clipping->expected = 0;
  clipping->is_active = FALSE;
}

void
nd_clipping_clear (NdClipping *clipping)
{
  g_clear_pointer (&clipping->table, g_free);
}

static void
fill_table (NdClipping *clipping, gdouble sigma, gfloat low, gfloat high)
{
  if (clipping->sigma == sigma && clipping->table)
    return;
  if (!clipping->table)
    clipping->table = g_new (gfloat, ND_CLIPPING_TABLE + 1);
  clipping->sigma = sigma;
  clipping->low = low;
  clipping->high = high;
  clipping->span = MIN ((high - low) / 2, 6 * sigma);
  nd_unclip_table (sigma, low, high, clipping->span, ND_CLIPPING_TABLE,
      clipping->table);
}

void
nd_clipping_add (NdClipping *clipping, gdouble seen, gdouble expected,
    gdouble sigma, gfloat low, gfloat high)
{
  clipping->seen = MEMORY * clipping->seen + seen;
  clipping->expected = MEMORY * clipping->expected + expected;
  clipping->is_active = clipping->seen > clipping->expected / 2;
  if (clipping->is_active)
    fill_table (clipping, sigma, low, high);
}
