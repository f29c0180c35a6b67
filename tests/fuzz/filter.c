/* The text of filters, and the parameters of designs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/axes.h"
#include "filters/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <math.h>
#include <string.h>

const gchar *const fuzz_name = "filter";

static void
init_axes (NdAxes *axes, const gchar *text)
{
  if (!nd_axes_from_text (text, axes, NULL)
      || !nd_axes_set_steps (axes, "0.5:0.5:1", "25", NULL))
    g_error ("the axes are refused");
}

/* The largest whole number of the text, which bounds sizes. Numbers with
 * exponents and units may be anything. */
static guint
find_largest (const gchar *text)
{
  guint largest = 0;

  while (*text) {
    gchar *end;
    const guint64 number = g_ascii_strtoull (text, &end, 10);

    if (!g_ascii_isdigit (*text)) {
      text++;
      continue;
    }
    largest = MAX (largest, MIN (number, G_MAXUINT));
    text = end;
    /* Digits after the point. */
    if (*text == '.')
      for (text++; g_ascii_isdigit (*text); text++)
        ;
    if (g_ascii_isalpha (*text))
      return G_MAXUINT;
  }
  return largest;
}

static guint32
add_bank (guint32 sum, const NdBank *bank, const NdBankInfo *info)
{
  if (nd_bank_responses (bank) != info->n_responses
      || bank->is_complex != info->is_complex)
    g_error ("the bank is not what its description says");
  for (guint i = 0; i < bank->n_filters; i++) {
    const NdFilter *filter = bank->filters[i];
    const gsize n = nd_filter_count (filter);

    for (gsize k = 0; k < n; k++)
      if (!isfinite (filter->coefficients[k]))
        g_error ("a coefficient is not finite");
    sum = fuzz_sum (sum, filter->coefficients, n * sizeof (gdouble));
  }
  return sum;
}

static guint32
try_design (guint32 sum, const gchar *text, const gchar *over, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdBank) bank = NULL;
  NdBankInfo info;
  NdAxes axes;

  init_axes (&axes, over);
  if (!nd_bank_info_from_text (text, &axes, &info, &error)) {
    fuzz_check_error (error);
    return sum;
  }
  bank = nd_bank_from_text (text, &axes, length % 3 == 0 ? "1" : NULL,
      length % 2, length % 5 == 0, NULL, &error);
  if (bank)
    return add_bank (sum, bank, &info);
  fuzz_check_error (error);
  return sum;
}

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  g_autofree gchar *text = g_strndup ((const gchar *) bytes, n);
  g_autoptr (GError) error = NULL;
  NdBankInfo info = { 0 };
  NdAxes axes;
  guint largest;
  guint32 sum;

  /* Target `filterfile` has the files. */
  if (strstr (text, "location"))
    return 0;
  init_axes (&axes, "xyzt");
  if (!nd_bank_info_from_text (text, &axes, &info, &error))
    fuzz_check_error (error);
  sum = fuzz_sum (0, &info.n_responses, sizeof (info.n_responses));
  /* Large designs take long. */
  largest = find_largest (text);
  if (n > 300 || largest > 9)
    return sum;
  sum = try_design (sum, text, "xy", n);
  /* Without a size, each filter would have a large one. */
  return largest > 3 || !strstr (text, "size=") || strchr (text, ';')
      ? sum
      : try_design (sum, text, "xyt", n);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const gchar *const texts[] = {
    "gaussian,sigma=1.5",
    "gaussian,sigma=0.75:0.5;box,size=3:3:5",
    "gaussian,sigma=0.5mm:0.5mm:80ms",
    "gaussian-derivative,sigma=1,order=1:1",
    "laplace,connectivity=8",
    "log,sigma=1",
    "dog,sigma=1,ratio=1.6",
    "sobel,direction=y",
    "scharr,direction=x",
    "box,size=<3,(int)5,\"1\">",
    "coefficients,size=2:1,values=<1,-1>",
    "coefficients,size=(string)2:2,values=<1/4,(fraction)1/2,0,-2.5e-3,>",
    "sphere,radius=2",
    "ellipsoid,radius=2:1",
    "gabor,direction=1:0,center-frequency=1,bandwidth=2,size=5",
    "monomial,size=5,exponents=1:1,center-frequency=1,bandwidth=2",
    "monomial-bank,order=1:2,size=5,center-frequency=1,bandwidth=2",
    "quadrature,size=5,direction=1:0,center-frequency=1,bandwidth=2",
    "quadrature-bank,size=5,center-frequency=0.4/mm,bandwidth=2,snr=5",
    "riesz,direction=x,size=5,center-frequency=1,bandwidth=2,spectrum=1",
    "psf,model=confocal,aperture=0.8,wavelength=0.5,index=1.33,size=5",
    "psf,aperture=0.8,wavelength=520nm,size=5",
    "wiener,size=5,sigma=1,snr=5,localization=1",
    "motion,velocity=1:0,size=3,center-frequency=1,bandwidth=2",
    "motion,velocity=2mm/s:0mm/s,size=3,center-frequency=1,bandwidth=2",
    "exponential,tau=2,size=1:1:5",
    "gamma,order=2,tau=40ms",
    "causal-derivative,tau=2",
    "gaussian,sigma=1,lag=1,lag-snr=5",
    "box , size = \"\\063:3\" , ",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    seeds_append_text (seeds, texts[i], 0);
}
