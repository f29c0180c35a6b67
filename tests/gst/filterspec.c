/* The text of the properties filter and origin.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#include "engine/nderror.h"
#include "gst/gstndfilterspec.h"

static const NdAxes axes_xy = { 2, {ND_AXIS_X, ND_AXIS_Y} };

static const NdAxes axes_xyzt = { 4,
  {ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T}
};

static NdBank *
parse (const gchar * text, const NdAxes * axes)
{
  g_autoptr (GError) error = NULL;
  NdResponses responses;
  NdBank *bank =
      gst_nd_filter_spec_parse (text, axes, NULL, FALSE, FALSE, &error);

  fail_unless (bank != NULL, "%s: %s", text, error ? error->message : "");
  fail_unless (error == NULL);
  fail_unless (gst_nd_filter_spec_count (text, axes, &responses, NULL),
      "%s", text);
  assert_equals_int (responses.n, nd_bank_responses (bank));
  assert_equals_int (responses.is_complex, bank->is_complex);
  return bank;
}

static void
assert_size (const NdFilter * filter, gsize x, gsize y, gsize z, gsize t)
{
  assert_equals_uint64 (filter->size[0], x);
  assert_equals_uint64 (filter->size[1], y);
  assert_equals_uint64 (filter->size[2], z);
  assert_equals_uint64 (filter->size[3], t);
}

/* GStreamer alone reads 3:5 as flags 1:5, and 10:12 in base 16. */
GST_START_TEST (test_sizes)
{
  static const struct
  {
    const gchar *text;
    gsize size[4];
  } cases[] = {
    {"box,size=3", {3, 3, 3, 3}},
    {"box,size=3:5", {3, 5, 1, 1}},
    {"box,size=5:2", {5, 2, 1, 1}},
    {"box,size=10:12", {10, 12, 1, 1}},
    {"box,size=09:08", {9, 8, 1, 1}},
    {"box,size=3:5:7", {3, 5, 7, 1}},
    {"box,size=3:5:7:9", {3, 5, 7, 9}},
    {"box,size=\"3:5\"", {3, 5, 1, 1}},
    {"box,size=(string)3:5", {3, 5, 1, 1}},
    {"box,size=(string)\"3:5\"", {3, 5, 1, 1}},
    {"box,size=(int)3", {3, 3, 3, 3}},
    {"box,size=<3,5>", {3, 5, 1, 1}},
    {"box,size={3,5,2,1}", {3, 5, 2, 1}},
    {"box , size = 3:5", {3, 5, 1, 1}},
    {"box, size= 3:5 ;", {3, 5, 1, 1}},
    {"\n box,\n  size=3:5\n", {3, 5, 1, 1}},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (NdBank) bank = parse (cases[i].text, &axes_xyzt);

    assert_equals_int (bank->n_filters, 1);
    assert_size (bank->filters[0], cases[i].size[0], cases[i].size[1],
        cases[i].size[2], cases[i].size[3]);
  }
}

GST_END_TEST;

GST_START_TEST (test_values)
{
  static const gchar *const texts[] = {
    "coefficients,size=2:3,values=<1,-2.5,0,1e3,-1/4,7>",
    "coefficients,size=2:3,values={1,-2.5,0,1e3,-0.25,7}",
    "coefficients,size=2:3,values=1:-2.5:0:1e3:-0.25:7",
    "coefficients,values=\"1:-2.5:0:1000:-0.25:7\",size=<2,3>",
    "coefficients,size=2:3,values=<(int)1,(float)-2.5,0.,1000.0,-.25,7>",
  };
  static const gdouble values[] = { 1, -2.5, 0, 1000, -0.25, 7 };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (NdBank) bank = parse (texts[i], &axes_xy);

    assert_size (bank->filters[0], 2, 3, 1, 1);
    for (guint j = 0; j < 6; j++)
      assert_equals_float (bank->filters[0]->coefficients[j], values[j]);
  }
}

GST_END_TEST;

/* Two numbers, the second negative: flags ffffffff to GStreamer. */
GST_START_TEST (test_negative_pair)
{
  g_autoptr (NdBank) bank =
      parse ("coefficients,size=2:1,values=1:-1", &axes_xy);

  assert_equals_float (bank->filters[0]->coefficients[0], 1);
  assert_equals_float (bank->filters[0]->coefficients[1], -1);
}

GST_END_TEST;

GST_START_TEST (test_bank)
{
  g_autoptr (NdBank) bank =
      parse (" gaussian,sigma=1.5 ; box,size=3:5;laplace; ", &axes_xy);

  assert_equals_int (bank->n_filters, 3);
  assert_equals_string (bank->filters[0]->name, "gaussian");
  assert_size (bank->filters[0], 13, 13, 1, 1);
  assert_equals_string (bank->filters[1]->name, "box");
  assert_size (bank->filters[1], 3, 5, 1, 1);
  assert_equals_string (bank->filters[2]->name, "laplace");
  assert_size (bank->filters[2], 3, 3, 1, 1);
}

GST_END_TEST;

/* A name with everything that means something in the text. */
GST_START_TEST (test_file_name)
{
  static const guint8 half[] = { 0, 0, 0, 63 };
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-spec-XXXXXX", NULL);
  g_autofree gchar *path =
      g_build_filename (folder, "a; b=c, \"d\" \xc3\xa4.raw", NULL);
  g_autoptr (GString) escaped = g_string_new (path);
  g_autofree gchar *text = NULL;
  g_autoptr (NdBank) bank = NULL;

  fail_unless (g_file_set_contents (path, (const gchar *) half, 4, NULL));
  g_string_replace (escaped, "\"", "\\\"", 0);
  text = g_strdup_printf ("file,location=\"%s\",size=1; box,size=3",
      escaped->str);
  bank = parse (text, &axes_xy);
  assert_equals_int (bank->n_filters, 2);
  assert_equals_float (bank->filters[0]->coefficients[0], 0.5);
  fail_unless (strstr (bank->filters[0]->name, path) != NULL);
  g_remove (path);
  g_rmdir (folder);
}

GST_END_TEST;

GST_START_TEST (test_settings)
{
  g_autoptr (NdBank) bank = gst_nd_filter_spec_parse
      ("coefficients,size=2:1:1:3,values=<1,2,3,4,5,6>; box,size=5:5:1:4",
      &axes_xyzt, "-1:0:0:1", FALSE, TRUE, NULL);
  g_autoptr (NdBank) causal = gst_nd_filter_spec_parse
      ("box,size=3; box,size=1:1:1:4", &axes_xyzt, NULL, TRUE, FALSE, NULL);

  fail_unless (bank != NULL);
  for (guint i = 0; i < 2; i++) {
    assert_equals_int (bank->filters[i]->origin[0], -1);
    assert_equals_int (bank->filters[i]->origin[1], 0);
    assert_equals_int (bank->filters[i]->origin[3], 1);
    fail_unless (ABS (nd_filter_sum (bank->filters[i]) - 1) < 1e-15);
  }
  assert_equals_float (bank->filters[0]->coefficients[5], 6 / 21.0);

  fail_unless (causal != NULL);
  assert_equals_int (causal->filters[0]->origin[3], -1);
  assert_equals_int (causal->filters[1]->origin[3], -2);
  assert_equals_int (causal->filters[1]->origin[0], 0);
}

GST_END_TEST;

static const struct
{
  const gchar *text, *origin;
  gboolean normalize;
  gboolean check;               /* found before the axes are known */
  const gchar *words;
} refused[] = {
  /* missing */
  {NULL, NULL, FALSE, TRUE, "missing|gaussian,sigma=1.5"},
  {"", NULL, FALSE, TRUE, "missing|gaussian,sigma=1.5"},
  {"  \n", NULL, FALSE, TRUE, "missing"},
  /* cannot be read */
  {";", NULL, FALSE, TRUE, "cannot be read"},
  {"box,size=3;;box,size=3", NULL, FALSE, TRUE, "number 2|cannot be read"},
  {"gaussian sigma=1", NULL, FALSE, TRUE, "\"gaussian sigma=1\"|commas"},
  {"gaussian,sigma", NULL, FALSE, TRUE, "\"gaussian,sigma\""},
  {"gaussian,sigma=", NULL, FALSE, TRUE, "\"gaussian,sigma=\""},
  {"gaussian,sigma=1,5", NULL, FALSE, TRUE, "\"gaussian,sigma=1,5\""},
  {"3box,size=3", NULL, FALSE, TRUE, "\"3box,size=3\""},
  {",size=3", NULL, FALSE, TRUE, "cannot be read"},
  {"box,size=3; file,location=a b.npy; box,size=3", NULL, FALSE, TRUE,
      "number 2|\"file,location=a b.npy\"|quotes"},
  {"coefficients,size=1,values=1>", NULL, FALSE, TRUE, "cannot be read"},
  {"file,location=\"a.npy", NULL, FALSE, TRUE, "cannot be read"},
  {"box,size=3,size=5", NULL, FALSE, TRUE, "box|more than once"},
  /* no such design */
  {"box,size=3; gauss,sigma=1", NULL, FALSE, TRUE,
      "number 2 of 2|gauss|gaussian, box"},
  /* parameters */
  {"gaussian,sgma=1", NULL, FALSE, FALSE, "gaussian: sgma|sigma, size"},
  {"box,size=3; gaussian", NULL, FALSE, FALSE, "number 2 of 2|sigma|missing"},
  {"gaussian,sigma=true", NULL, FALSE, FALSE, "sigma|true"},
  {"gaussian,sigma=(boolean)true", NULL, FALSE, FALSE,
      "sigma has true at index 0"},
  {"gaussian,sigma=[1,2]", NULL, FALSE, FALSE, "sigma has [ 1, 2 ]|number"},
  {"coefficients,size=3:1,values=<1,NaN,2>", NULL, FALSE, FALSE,
      "values|index 1|finite"},
  {"coefficients,size=3:1,values=<1,2,one>", NULL, FALSE, FALSE,
      "values has one at index 2"},
  {"coefficients,size=2:1,values=<<1>,<2>>", NULL, FALSE, FALSE,
      "values|index 0"},
  {"coefficients,size=3:1,values=<1,2>", NULL, FALSE, FALSE,
      "values|2 numbers|3"},
  {"coefficients,size=3:1,values=<>", NULL, FALSE, FALSE, "values"},
  {"file,location=/no/such/kernel.npy", NULL, FALSE, FALSE,
      "/no/such/kernel.npy"},
  /* the other properties */
  {"laplace", NULL, TRUE, FALSE, "laplace|normalize"},
  {"box,size=5; box,size=3", "2:0", FALSE, FALSE,
      "number 2 of 2|origin|-1 to 1"},
  {"box,size=5", "0:zero", FALSE, FALSE, "origin|0:zero"},
};

GST_START_TEST (test_refused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) check_error = NULL;
  g_auto (GStrv) words = g_strsplit (refused[__i__].words, "|", -1);
  NdResponses responses;
  gboolean checked;

  fail_unless (gst_nd_filter_spec_parse (refused[__i__].text, &axes_xy,
          refused[__i__].origin, FALSE, refused[__i__].normalize,
          &error) == NULL);
  fail_unless (error != NULL && error->domain == ND_ERROR);
  GST_INFO ("%s", error->message);
  fail_unless (strstr (error->message, "roperty filter") != NULL, "%s",
      error->message);
  for (guint i = 0; words[i]; i++)
    fail_unless (strstr (error->message, words[i]) != NULL,
        "\"%s\" not in \"%s\"", words[i], error->message);

  checked = gst_nd_filter_spec_count (refused[__i__].text, &axes_xy,
      &responses, &check_error);
  fail_if (checked && refused[__i__].check);
  fail_unless (checked == (check_error == NULL));
  if (check_error)
    assert_equals_string (check_error->message, error->message);
}

GST_END_TEST;

static Suite *
filterspec_suite (void)
{
  Suite *suite = suite_create ("filterspec");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_sizes);
  tcase_add_test (tests, test_values);
  tcase_add_test (tests, test_negative_pair);
  tcase_add_test (tests, test_bank);
  tcase_add_test (tests, test_file_name);
  tcase_add_test (tests, test_settings);
  tcase_add_loop_test (tests, test_refused, 0, G_N_ELEMENTS (refused));
  return suite;
}

GST_CHECK_MAIN (filterspec);
