/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/bmode.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* Of the Kaiser windows: ripples of about 1e-5 and 1e-4. */
#define HILBERT_BETA 10
#define LOW_PASS_BETA 8

gdouble
nd_bmode_full_scale (NdSampleType type, gdouble *middle)
{
  *middle = 0;
  switch (type) {
    case ND_UINT8:
      *middle = 128;
      return 127;
    case ND_INT8:
      return 127;
    case ND_UINT16:
      *middle = 32768;
      return 32767;
    case ND_INT16:
      return 32767;
    case ND_UINT32:
      *middle = 0x1p31;
      return 0x1p31 - 1;
    case ND_INT32:
      return 0x1p31 - 1;
    case ND_FLOAT16:
    case ND_FLOAT32:
    case ND_FLOAT64:
    case ND_SAMPLE_SAME:
      break;
  }
  return 1;
}

static gdouble
white_of (NdSampleType type)
{
  if (type == ND_UINT16)
    return G_MAXUINT16;
  if (type == ND_INT16)
    return G_MAXINT16;
  return type == ND_INT8 ? G_MAXINT8 : 255;
}

/* The modified Bessel function of order 0. */
static gdouble
bessel (gdouble x)
{
  gdouble sum = 1, term = 1;

  for (guint k = 1; term > 1e-17 * sum; k++) {
    term *= x * x / (4. * k * k);
    sum += term;
  }
  return sum;
}

static gdouble
kaiser (gint m, gdouble beta)
{
  const gdouble u = m / (ND_BMODE_REACH + 1.);

  return bessel (beta * sqrt (1 - u * u)) / bessel (beta);
}

static void
design_hilbert (gdouble taps[ND_BMODE_TAPS])
{
  for (gint m = -ND_BMODE_REACH; m <= ND_BMODE_REACH; m++)
    taps[m + ND_BMODE_REACH] =
        m % 2 ? -2 / (G_PI * m) * kaiser (m, HILBERT_BETA) : 0;
}

/* @cutoff in cycles a sample; the sum of the taps is @gain. */
static void
design_low_pass (gdouble cutoff, gdouble gain, gdouble taps[ND_BMODE_TAPS])
{
  gdouble sum = 0;

  for (gint m = -ND_BMODE_REACH; m <= ND_BMODE_REACH; m++) {
    const gdouble sinc =
        m ? sin (2 * G_PI * cutoff * m) / (G_PI * m) : 2 * cutoff;

    sum += taps[m + ND_BMODE_REACH] = sinc * kaiser (m, LOW_PASS_BETA);
  }
  for (guint k = 0; k < ND_BMODE_TAPS; k++)
    taps[k] *= gain / sum;
}

static gboolean
bmode_refuse (GError **error, const gchar *sentence)
{
  g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS, sentence);
  return FALSE;
}

static gboolean
check_lines (const NdBmodeSettings *settings, const NdShape *in, GError **error)
{
  const gdouble f = settings->center_frequency;

  if (in->components > 2) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %" G_GSIZE_FORMAT
        " components: ndbmode takes RF of one, or IQ of two",
        in->components);
    return FALSE;
  }
  if (f > 0 && !(settings->sampling_frequency > 2 * f))
    return bmode_refuse (error,
        "center-frequency needs a sampling-frequency of more than twice as "
        "much");
  if (in->components == 1 && settings->decimation > 1 && f == 0)
    return bmode_refuse (error,
        "decimation of RF needs center-frequency and sampling-frequency");
  if (settings->decimation > in->size[0])
    return bmode_refuse (error,
        "decimation must not be larger than the number of samples of a line");
  return TRUE;
}

/* Fills @n gains of the output samples with those of settings->tgc. */
static gboolean
parse_tgc (const gchar *text, gdouble *gains, gsize n, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ":", -1);
  const guint points = g_strv_length (parts);
  g_autofree gdouble *values = g_new0 (gdouble, points + 2);

  for (guint i = 0; i < points; i++) {
    gchar *end;

    values[i] = g_ascii_strtod (g_strstrip (parts[i]), &end);
    if (*end || end == parts[i] || !(fabs (values[i]) <= 1000))
      return bmode_refuse (error,
          "tgc must be gains in dB from the first to the last sample of a "
          "line, separated by ':', for example 0:6:12");
  }
  for (gsize i = 0; i < n; i++) {
    const gdouble at = n > 1 && points > 1 ? (points - 1.) * i / (n - 1.) : 0;
    const guint low = at;

    gains[i] = points > 1
        ? values[low] + (at - low) * (values[low + 1] - values[low])
        : values[0];
  }
  return TRUE;
}

gboolean
nd_bmode_check (const NdBmodeSettings *settings, const NdShape *in,
    GError **error)
{
  return check_lines (settings, in, error)
      && parse_tgc (settings->tgc, NULL, 0, error);
}

NdShape
nd_bmode_shape (const NdBmodeSettings *settings, const NdShape *in)
{
  NdShape out = *in;

  out.components = settings->output == ND_BMODE_IQ ? 2 : 1;
  out.size[0] = (in->size[0] - 1) / settings->decimation + 1;
  return out;
}

static void
fill_mixer (NdBmode *self, gdouble cycles)
{
  for (gsize i = 0; i < self->in.size[0]; i++) {
    /* Of large indices only the rest counts. */
    const gdouble turn = fmod (i * cycles, 1) * 2 * G_PI;

    self->mixer[2 * i] = cos (turn);
    self->mixer[2 * i + 1] = -sin (turn);
  }
}

gboolean
nd_bmode_init (NdBmode *self, const NdBmodeSettings *settings,
    const NdShape *in, NdSampleType type, GError **error)
{
  const gdouble cycles = settings->center_frequency > 0
      ? settings->center_frequency / settings->sampling_frequency
      : 0;
  gdouble full, cutoff = 0.5 / settings->decimation;

  if (!check_lines (settings, in, error))
    return FALSE;
  *self = (NdBmode){ .output = settings->output,
    .in = *in,
    .out = nd_bmode_shape (settings, in),
    .decimation = settings->decimation,
    .is_complex = in->components == 2,
    .mixes = cycles > 0,
    .white = white_of (settings->output_type),
    .dynamic_range = settings->dynamic_range };
  full = nd_bmode_full_scale (type, &self->middle);
  self->hilbert = !self->is_complex && !self->mixes;
  self->filters = !self->is_complex || self->decimation > 1;
  if (self->hilbert)
    design_hilbert (self->taps);
  else if (self->filters)
    design_low_pass (self->is_complex ? cutoff : MIN (cutoff, cycles),
        self->is_complex ? 1 : 2, self->taps);
  self->gain = nd_memory_new (self->out.size[0], sizeof (gdouble), error);
  if (self->gain)
    self->mixer = nd_memory_new (in->size[0], 2 * sizeof (gdouble), error);
  if (!self->mixer) {
    nd_bmode_clear (self);
    return FALSE;
  }
  fill_mixer (self, cycles);
  if (!parse_tgc (settings->tgc, self->gain, self->out.size[0], error)) {
    nd_bmode_clear (self);
    return FALSE;
  }
  for (gsize i = 0; i < self->out.size[0]; i++)
    self->gain[i] += settings->gain
        - (settings->output == ND_BMODE_GREY ? 20 * log10 (full) : 0);
  return TRUE;
}

void
nd_bmode_clear (NdBmode *self)
{
  g_clear_pointer (&self->gain, g_free);
  g_clear_pointer (&self->mixer, g_free);
}

/* The reference */

static void
read_sample (const NdBmode *self, const gdouble *in, gint64 i, gdouble z[2])
{
  gdouble re, im = 0;

  z[0] = z[1] = 0;
  if (i < 0 || (gsize) i >= self->in.size[0])
    return;
  re = in[i * self->in.components] - self->middle;
  if (self->is_complex)
    im = in[i * 2 + 1] - self->middle;
  z[0] = re;
  z[1] = im;
  if (self->mixes) {
    const gdouble *m = self->mixer + 2 * i;

    z[0] = re * m[0] - im * m[1];
    z[1] = re * m[1] + im * m[0];
  }
}

void
nd_bmode_reference (const NdBmode *self, const gdouble *in, gdouble *out)
{
  for (gsize i = 0; i < self->out.size[0]; i++) {
    const gint64 at = i * self->decimation;
    const gdouble factor = pow (10, self->gain[i] / 20);
    gdouble z[2], sum[2] = { 0, 0 }, grey;

    read_sample (self, in, at, z);
    for (gint k = 0; self->filters && k < ND_BMODE_TAPS; k++) {
      gdouble x[2];

      read_sample (self, in, at + k - ND_BMODE_REACH, x);
      sum[0] += self->taps[k] * x[0];
      sum[1] += self->taps[k] * x[1];
    }
    if (self->hilbert) {
      z[1] = sum[0];
    } else if (self->filters) {
      z[0] = sum[0];
      z[1] = sum[1];
    }
    if (self->output == ND_BMODE_IQ) {
      out[2 * i] = factor * z[0];
      out[2 * i + 1] = factor * z[1];
    } else if (self->output == ND_BMODE_ENVELOPE) {
      out[i] = factor * hypot (z[0], z[1]);
    } else {
      grey = 1
          + (20 * log10 (hypot (z[0], z[1])) + self->gain[i])
              / self->dynamic_range;
      out[i] = grey > 0 ? MIN (grey, 1) * self->white : 0;
    }
  }
}
