/* Filter text, the value of the elements' property filter:
 * "gaussian,sigma=1.5; box,size=3:3:5".
 *
 * Copyright (C) 2026 the ndconv developers
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* Parses @text, designs its filters over @axes and joins them in one bank.
 *
 * Grammar, a subset of the serialized form of GstStructure:
 *
 *   text       = filter { ";" filter } [ ";" ]
 *   filter     = design { "," name "=" value } [ "," ]
 *   value      = string | list | "(" type ")" ( string | list )
 *   list       = "<" [ item { "," item } [ "," ] ] ">" | "{" ... "}"
 *   item       = [ "(" type ")" ] string, a number, a number with a unit
 *                (filters/units.h) or a fraction as 1/4
 *   string     = letters, digits and _-+/:. | text in double quotes, in which
 *                a backslash escapes a character or begins three octal digits
 *   type       = int, uint, gint64, guint64, float, double, fraction, string
 *                or an abbreviation that GStreamer knows
 *
 * Blanks may stand between all of these. A string without a type is kept as it
 * is, so that size=3:5 has two numbers.
 *
 * Every filter is adjusted by nd_bank_adjust(). If one filter is complex, the
 * bank is complex, and real filters get an imaginary part of 0.
 *
 * Errors: those of nd_design(), nd_filter_normalize() and
 * nd_filter_set_origin(), ND_ERROR_CANCELLED if @cancelled (core/error.h), and
 * ND_ERROR_SETTINGS if @text is NULL, empty or malformed. If @text has several
 * filters, the message has the number of the filter. */
NdBank *nd_bank_from_text (const gchar *text, const NdAxes *axes,
    const gchar *origin, gboolean causal, gboolean normalize,
    const gint *cancelled, GError **error);

/* If @normalize, every filter is scaled to sum 1. Every filter is shifted by
 * @origin (see nd_filter_set_origin(); NULL: 0) and, if @causal, gets the
 * origin in time that reads no later volume. Errors: those of
 * nd_filter_normalize() and nd_filter_set_origin(). */
gboolean nd_bank_adjust (NdBank *bank, const NdAxes *axes, const gchar *origin,
    gboolean causal, gboolean normalize, GError **error);

/* Finds the properties of the bank of nd_bank_from_text() without designing it,
 * like nd_design_info(). Finds every error of the grammar, but not every error
 * of a parameter. */
gboolean nd_bank_info_from_text (const gchar *text, const NdAxes *axes,
    NdBankInfo *info, GError **error);

/* nd_design_find_warning() of the filters of @text. */
gchar *nd_bank_find_warning (const gchar *text, const NdAxes *axes);

G_END_DECLS
