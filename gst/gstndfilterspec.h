/* The text of the properties `filter` and `origin`, read into a bank.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "filters/nddesign.h"

G_BEGIN_DECLS

/* Filters with ';' between, each a GstStructure string: a design, then its
 * parameters, `gaussian,sigma=1.5; box,size=3:3:5`. A value is a text or
 * numbers with ':' between, or a list of numbers, <1,2.5> or {1,2.5}; a text
 * with anything but letters, digits and _-+/:. in it needs quotes.
 *
 * Designs every filter, or bank of filters, over @axes, normalizes it if
 * @normalize, and gives it the origin of @origin_text (NULL: 0), or in time
 * that of a causal filter if @causal. Where one is complex all are, others with
 * imaginary part 0. Errors are those of nd_design(), nd_filter_normalize() and
 * nd_filter_set_origin(), and ND_ERROR_SETTINGS where @text is missing or
 * cannot be read; all name the property, and the filter's place where there
 * are several. */
NdBank *gst_nd_filter_spec_parse (const gchar * text, const NdAxes * axes,
    const gchar * origin_text, gboolean causal, gboolean normalize,
    GError ** error);

/* What the bank of @text over @axes will be: how many responses, and whether
 * they are complex. FALSE where the text or a design cannot be read; errors of
 * single parameters may be found by gst_nd_filter_spec_parse() alone. */
gboolean gst_nd_filter_spec_count (const gchar * text, const NdAxes * axes,
    NdResponses * responses, GError ** error);

G_END_DECLS
