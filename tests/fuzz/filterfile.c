/* Files of filters: raw samples, .npy, and the formats of recordings.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/axes.h"
#include "filters/filterrecording.h"
#include "filters/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const gchar *const fuzz_name = "filterfile";

static guint32
load (guint32 sum, const gchar *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdBank) bank = NULL;
  NdBankInfo info;
  NdAxes axes;

  nd_axes_from_text ("xyzt", &axes, NULL);
  nd_bank_info_from_text (text, &axes, &info, NULL);
  bank = nd_bank_from_text (text, &axes, NULL, FALSE, FALSE, NULL, &error);
  if (!bank) {
    fuzz_check_error (error);
    return sum;
  }
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

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  const gint fd = memfd_create ("filter", MFD_CLOEXEC);
  g_autofree gchar *text =
      g_strdup_printf ("file,location=\"/proc/self/fd/%d\"", fd);
  g_autofree gchar *raw = g_strdup_printf ("%s,size=%" G_GSIZE_FORMAT ":1:1:1",
      text, MAX (n / 4, 1));
  guint32 sum;

  g_assert_cmpint (write (fd, bytes, n), ==, (gssize) n);
  sum = load (load (0, text), raw);
  close (fd);
  return sum;
}

/* An array of @n numbers of 8 bytes. */
static void
append_npy (GPtrArray *seeds, const gchar *type, const gchar *shape, guint n)
{
  g_autofree gchar *dictionary =
      g_strdup_printf ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
          type, shape);
  g_autoptr (GString) bytes = g_string_new_len ("\x93NUMPY\x01\x00", 8);
  const guint length = 128 - 10;

  g_string_append_c (bytes, length);
  g_string_append_c (bytes, 0);
  g_string_append_printf (bytes, "%-*s\n", length - 1, dictionary);
  for (guint i = 0; i < n; i++) {
    const gdouble value = i + 0.5;

    g_string_append_len (bytes, (const gchar *) &value, sizeof (value));
  }
  g_ptr_array_add (seeds, g_bytes_new (bytes->str, bytes->len));
}

void
fuzz_seeds (GPtrArray *seeds)
{
  nd_filter_use_recordings ();
  append_npy (seeds, "<f8", "(3, 4)", 12);
  append_npy (seeds, ">f8", "(2, 2, 3)", 12);
  append_npy (seeds, "<c16", "(3, 2)", 12);
  append_npy (seeds, "<i8", "(5,)", 5);
  append_npy (seeds, "|u1", "(2, 8)", 2);
  seeds_append_written (seeds, ".nii", FALSE);
  seeds_append_written (seeds, ".nrrd", FALSE);
  seeds_append_written (seeds, ".mha", FALSE);
}
