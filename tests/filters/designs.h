/* Helpers for the tests of filter designs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"
#include "filters/design.h"

#include <string.h>

static const NdAxes axes_xy = { 2, { ND_AXIS_X, ND_AXIS_Y } };
static const NdAxes axes_xyz = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } };
static const NdAxes axes_xyt = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T } };

static const NdAxes axes_xyzt = { 4,
  { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T } };

static const NdAxes *const all_axes[] = { &axes_xy, &axes_xyz, &axes_xyt,
  &axes_xyzt };

/* Parses parameters separated by spaces: "sigma=1.5 size=3:3". */
static inline NdParameters *
make_parameters (const gchar *text)
{
  NdParameters *parameters = nd_parameters_new ();
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);

  for (guint i = 0; parts[i] && *parts[i]; i++) {
    g_auto (GStrv) pair = g_strsplit (parts[i], "=", 2);

    nd_parameters_set_text (parameters, pair[0], pair[1]);
  }
  return parameters;
}

static inline NdBank *
try_bank (const gchar *design, const NdAxes *axes, const gchar *text,
    GError **error)
{
  g_autoptr (NdParameters) parameters = make_parameters (text);

  return nd_design (design, parameters, axes, error);
}

/* Makes a design that must succeed, and checks that the count of responses
 * announced before the design is right. */
static inline NdBank *
make_bank (const gchar *design, const NdAxes *axes, const gchar *text)
{
  g_autoptr (NdParameters) parameters = make_parameters (text);
  g_autoptr (GError) error = NULL;
  NdBank *bank = nd_design (design, parameters, axes, &error);
  NdBankInfo info;

  g_assert_no_error (error);
  g_assert_nonnull (bank);
  g_assert_true (nd_design_info (design, parameters, axes, &info, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (nd_bank_responses (bank), ==, info.n_responses);
  g_assert_cmpint (bank->is_complex, ==, info.is_complex);
  return bank;
}

/* One real filter. */
static inline NdFilter *
only_filter (const NdBank *bank)
{
  g_assert_cmpuint (bank->n_filters, ==, 1);
  return nd_filter_copy (bank->filters[0]);
}

static inline NdFilter *
try_design (const gchar *design, const NdAxes *axes, const gchar *text,
    GError **error)
{
  g_autoptr (NdBank) bank = try_bank (design, axes, text, error);

  return bank ? only_filter (bank) : NULL;
}

static inline NdFilter *
make_design (const gchar *design, const NdAxes *axes, const gchar *text)
{
  g_autoptr (NdBank) bank = make_bank (design, axes, text);

  return only_filter (bank);
}

/* The design must fail with @code, and the message must contain every word of
 * @words (separated by '|'). */
static inline void
assert_refused (const gchar *design, const NdAxes *axes, const gchar *text,
    gint code, const gchar *words)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) parts = g_strsplit (words, "|", -1);

  g_assert_null (try_bank (design, axes, text, &error));
  g_assert_error (error, ND_ERROR, code);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, design));
  for (guint i = 0; parts[i]; i++) {
    if (strstr (error->message, parts[i]) == NULL)
      g_error ("\"%s\" not in \"%s\"", parts[i], error->message);
  }
}

static inline void
assert_size (const NdFilter *filter, gsize x, gsize y, gsize z, gsize t)
{
  g_assert_cmpuint (filter->size[0], ==, x);
  g_assert_cmpuint (filter->size[1], ==, y);
  g_assert_cmpuint (filter->size[2], ==, z);
  g_assert_cmpuint (filter->size[3], ==, t);
}

/* One array per axis, freed at the end of its scope. */
typedef struct
{
  gdouble *a[ND_AXES];
} Factors;

static inline void
factors_clear (Factors *factors)
{
  for (guint a = 0; a < ND_AXES; a++)
    g_clear_pointer (&factors->a[a], g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Factors, factors_clear)

/* The position of coefficient @i along every axis. */
static inline void
get_position (const NdFilter *filter, gsize i, gsize at[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++) {
    at[a] = i % filter->size[a];
    i /= filter->size[a];
  }
}
