/* Filter text: sizes, values, lists, quotes, several filters; texts that are
 * refused, and their messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/text.h"
#include "tests/filters/designs.h"

#include <glib/gstdio.h>
#include <sys/resource.h>

static NdBank *
parse (const gchar *text, const NdAxes *axes)
{
  g_autoptr (GError) error = NULL;
  NdBankInfo info;
  NdBank *bank =
      nd_bank_from_text (text, axes, NULL, FALSE, FALSE, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (bank);
  g_assert_true (nd_bank_info_from_text (text, axes, &info, NULL));
  g_assert_cmpuint (info.n_responses, ==, nd_bank_responses (bank));
  g_assert_cmpint (info.is_complex, ==, bank->is_complex);
  return bank;
}

/* GStreamer alone reads 3:5 as flags 1:5, and 10:12 in base 16. */
static void
test_sizes (void)
{
  static const struct
  {
    const gchar *text;
    gsize size[4];
  } cases[] = {
    { "box,size=3", { 3, 3, 3, 3 } },
    { "box,size=3:5", { 3, 5, 1, 1 } },
    { "box,size=5:2", { 5, 2, 1, 1 } },
    { "box,size=10:12", { 10, 12, 1, 1 } },
    { "box,size=09:08", { 9, 8, 1, 1 } },
    { "box,size=3:5:7", { 3, 5, 7, 1 } },
    { "box,size=3:5:7:9", { 3, 5, 7, 9 } },
    { "box,size=\"3:5\"", { 3, 5, 1, 1 } },
    { "box,size=(string)3:5", { 3, 5, 1, 1 } },
    { "box,size=(string)\"3:5\"", { 3, 5, 1, 1 } },
    { "box,size=(int)3", { 3, 3, 3, 3 } },
    { "box,size=<3,5>", { 3, 5, 1, 1 } },
    { "box,size={3,5,2,1}", { 3, 5, 2, 1 } },
    { "box , size = 3:5", { 3, 5, 1, 1 } },
    { "box, size= 3:5 ;", { 3, 5, 1, 1 } },
    { "\n box,\n  size=3:5\n", { 3, 5, 1, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (NdBank) bank = parse (cases[i].text, &axes_xyzt);

    g_assert_cmpint (bank->n_filters, ==, 1);
    assert_size (bank->filters[0], cases[i].size[0], cases[i].size[1],
        cases[i].size[2], cases[i].size[3]);
  }
}

static void
test_values (void)
{
  static const gchar *const texts[] = {
    "coefficients,size=2:3,values=<1,-2.5,0,1e3,-1/4,7>",
    "coefficients,size=2:3,values={1,-2.5,0,1e3,-0.25,7}",
    "coefficients,size=2:3,values=1:-2.5:0:1e3:-0.25:7",
    "coefficients,values=\"1:-2.5:0:1000:-0.25:7\",size=<2,3>",
    "coefficients,size=2:3,values=<\"1\",-2.5,0,\"1e3\",-0.25,7>",
    "coefficients,size=2:3,values=<(int)1,(float)-2.5,0.,1000.0,-.25,7>",
  };
  static const gdouble values[] = { 1, -2.5, 0, 1000, -0.25, 7 };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (NdBank) bank = parse (texts[i], &axes_xy);

    assert_size (bank->filters[0], 2, 3, 1, 1);
    for (guint j = 0; j < 6; j++)
      g_assert_cmpfloat (bank->filters[0]->coefficients[j], ==, values[j]);
  }
}

/* Two numbers, the second negative: flags ffffffff to GStreamer. */
static void
test_negative_pair (void)
{
  g_autoptr (NdBank) bank =
      parse ("coefficients,size=2:1,values=1:-1", &axes_xy);

  g_assert_cmpfloat (bank->filters[0]->coefficients[0], ==, 1);
  g_assert_cmpfloat (bank->filters[0]->coefficients[1], ==, -1);
}

static void
test_bank (void)
{
  g_autoptr (NdBank) bank =
      parse (" gaussian,sigma=1.5 ; box,size=3:5;laplace; ", &axes_xy);

  g_assert_cmpint (bank->n_filters, ==, 3);
  g_assert_cmpstr (bank->filters[0]->name, ==, "gaussian");
  assert_size (bank->filters[0], 13, 13, 1, 1);
  g_assert_cmpstr (bank->filters[1]->name, ==, "box");
  assert_size (bank->filters[1], 3, 5, 1, 1);
  g_assert_cmpstr (bank->filters[2]->name, ==, "laplace");
  assert_size (bank->filters[2], 3, 3, 1, 1);
}

/* A name with everything that means something in the text. */
static void
test_file_name (void)
{
  static const guint8 half[] = { 0, 0, 0, 63 };
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-spec-XXXXXX", NULL);
  g_autofree gchar *path =
      g_build_filename (folder, "a; b=c, \"d\" \xc3\xa4.raw", NULL);
  g_autoptr (GString) escaped = g_string_new (path);
  g_autofree gchar *text = NULL;
  g_autoptr (NdBank) bank = NULL;

  g_assert_true (g_file_set_contents (path, (const gchar *) half, 4, NULL));
  g_string_replace (escaped, "\"", "\\\"", 0);
  text =
      g_strdup_printf ("file,location=\"%s\",size=1; box,size=3", escaped->str);
  bank = parse (text, &axes_xy);
  g_assert_cmpint (bank->n_filters, ==, 2);
  g_assert_cmpfloat (bank->filters[0]->coefficients[0], ==, 0.5);
  g_assert_true (strstr (bank->filters[0]->name, path) != NULL);
  g_remove (path);
  g_rmdir (folder);
}

static void
test_settings (void)
{
  g_autoptr (NdBank) bank = nd_bank_from_text (
      "coefficients,size=2:1:1:3,values=<1,2,3,4,5,6>; box,size=5:5:1:4",
      &axes_xyzt, "-1:0:0:1", FALSE, TRUE, NULL, NULL);
  g_autoptr (NdBank) causal = nd_bank_from_text ("box,size=3; box,size=1:1:1:4",
      &axes_xyzt, NULL, TRUE, FALSE, NULL, NULL);

  g_assert_true (bank != NULL);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (bank->filters[i]->origin[0], ==, -1);
    g_assert_cmpint (bank->filters[i]->origin[1], ==, 0);
    g_assert_cmpint (bank->filters[i]->origin[3], ==, 1);
    g_assert_true (ABS (nd_filter_sum (bank->filters[i]) - 1) < 1e-15);
  }
  g_assert_cmpfloat (bank->filters[0]->coefficients[5], ==, 6 / 21.0);

  g_assert_true (causal != NULL);
  g_assert_cmpint (causal->filters[0]->origin[3], ==, -1);
  g_assert_cmpint (causal->filters[1]->origin[3], ==, -2);
  g_assert_cmpint (causal->filters[1]->origin[0], ==, 0);
}

static const struct
{
  const gchar *text, *origin;
  gboolean normalize;
  gboolean check; /* found before the axes are known */
  const gchar *words;
} refused[] = {
  /* missing */
  { NULL, NULL, FALSE, TRUE, "missing|gaussian,sigma=1.5" },
  { "", NULL, FALSE, TRUE, "missing|gaussian,sigma=1.5" },
  { "  \n", NULL, FALSE, TRUE, "missing" },
  /* cannot be read */
  { ";", NULL, FALSE, TRUE, "cannot be read" },
  { "box,size=3;;box,size=3", NULL, FALSE, TRUE,
      "filter number 2 of 3|cannot be read" },
  { "gaussian sigma=1", NULL, FALSE, TRUE, "\"gaussian sigma=1\"|commas" },
  { "gaussian,sigma", NULL, FALSE, TRUE, "\"gaussian,sigma\"" },
  { "gaussian,sigma=", NULL, FALSE, TRUE, "\"gaussian,sigma=\"" },
  { "gaussian,sigma=1,5", NULL, FALSE, TRUE, "\"gaussian,sigma=1,5\"" },
  { "3box,size=3", NULL, FALSE, TRUE, "\"3box,size=3\"" },
  { ",size=3", NULL, FALSE, TRUE, "cannot be read" },
  { "box,size=3; file,location=a b.npy; box,size=3", NULL, FALSE, TRUE,
      "filter number 2 of 3|\"file,location=a b.npy\"|quotes" },
  { "coefficients,size=1,values=1>", NULL, FALSE, TRUE, "cannot be read" },
  { "file,location=\"a.npy", NULL, FALSE, TRUE, "cannot be read" },
  { "box,size=3,size=5", NULL, FALSE, TRUE, "box|more than once" },
  /* no such design */
  { "box,size=3; gauss,sigma=1", NULL, FALSE, TRUE,
      "filter number 2 of 2|gauss|gaussian, box" },
  /* parameters */
  { "gaussian,sgma=1", NULL, FALSE, FALSE, "gaussian: sgma|sigma, size" },
  { "box,size=3; gaussian", NULL, FALSE, FALSE,
      "filter number 2 of 2|sigma|missing" },
  { "gaussian,sigma=true", NULL, FALSE, FALSE, "sigma|true" },
  { "gaussian,sigma=(boolean)true", NULL, FALSE, FALSE,
      "sigma has (boolean)true at index 0" },
  { "gaussian,sigma=[1,2]", NULL, FALSE, FALSE, "sigma has [1,2]|number" },
  { "coefficients,size=3:1,values=<1,NaN,2>", NULL, FALSE, FALSE,
      "values|index 1|finite" },
  { "coefficients,size=3:1,values=<1,2,one>", NULL, FALSE, FALSE,
      "values has one at index 2" },
  { "coefficients,size=2:1,values=<<1>,<2>>", NULL, FALSE, FALSE,
      "values|index 0" },
  { "coefficients,size=3:1,values=<1,2>", NULL, FALSE, FALSE,
      "values|2 numbers|3" },
  { "coefficients,size=3:1,values=<>", NULL, FALSE, FALSE, "values" },
  { "file,location=/no/such/kernel.npy", NULL, FALSE, FALSE,
      "/no/such/kernel.npy" },
  /* the other properties */
  { "laplace", NULL, TRUE, FALSE, "laplace|normalize" },
  { "box,size=5; box,size=3", "2:0", FALSE, FALSE,
      "filter number 2 of 2|origin|-1 to 1" },
  { "box,size=5", "0:zero", FALSE, FALSE, "origin|0:zero" },
};

static void
test_refused (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL, count_error = NULL;
  g_auto (GStrv) words = g_strsplit (refused[i].words, "|", -1);
  NdBankInfo info;
  gboolean found;

  g_assert_null (nd_bank_from_text (refused[i].text, &axes_xy,
      refused[i].origin, FALSE, refused[i].normalize, NULL, &error));
  g_assert_nonnull (error);
  g_assert_true (error->domain == ND_ERROR);
  g_test_message ("%s", error->message);
  for (guint j = 0; words[j]; j++) {
    if (strstr (error->message, words[j]) == NULL)
      g_error ("\"%s\" not in \"%s\"", words[j], error->message);
  }

  found =
      nd_bank_info_from_text (refused[i].text, &axes_xy, &info, &count_error);
  g_assert_false (found && refused[i].check);
  g_assert_true (found == (count_error == NULL));
  if (count_error != NULL)
    g_assert_cmpstr (count_error->message, ==, error->message);
}

/* Many filters of a few letters must not take all memory. */
static void
test_many (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_test_skip ("a sanitizer needs more memory than the limit");
#else
  const struct rlimit limit = { (rlim_t) 256 << 20, RLIM_INFINITY };
  g_autoptr (GString) text = g_string_new ("box,size=1024:1024");
  g_autoptr (GError) error = NULL;

  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
    return;
  }
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
  for (guint i = 0; i < 9; i++)
    g_string_append (text, ";box,size=1024:1024");
  g_assert_null (nd_bank_from_text (text->str, &axes_xy, NULL, FALSE, FALSE,
      NULL, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
  g_assert_nonnull (strstr (error->message, "a quarter of the memory"));
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sizes", test_sizes);
  g_test_add_func ("/values", test_values);
  g_test_add_func ("/negative-pair", test_negative_pair);
  g_test_add_func ("/bank", test_bank);
  g_test_add_func ("/file-name", test_file_name);
  g_test_add_func ("/settings", test_settings);
  g_test_add_func ("/many", test_many);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path = g_strdup_printf ("/refused/%u", i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refused);
  }
  return g_test_run ();
}
