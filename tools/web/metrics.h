/* Numbers of elements in the text format of Prometheus, and as JSON.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Appends an object with the fields of the property stats of each element of
 * @pipeline that has one, by the name of the element. */
void web_stats_json (GstBin *pipeline, GString *json);

/* Appends the numbers of these as metrics ndconv_FIELD{element="NAME"}, and
 * their texts as labels of ndconv_plan_info. */
void web_stats_metrics (GstBin *pipeline, GString *text);

/* Appends a metric without labels. @type: counter or gauge. */
void web_metric (GString *text, const gchar *name, const gchar *type,
    const gchar *help, gdouble value);

G_END_DECLS
