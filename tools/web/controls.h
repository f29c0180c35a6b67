/* The properties of an element as controls of a page: their description, their
 * values as text, and changes that the page asks for.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Appends an object with the names, ranges, values of enums and blurbs of the
 * properties that a page may show. */
void web_controls_describe (GstElement *element, GString *json);

/* Appends an object with the values of these properties as text. */
void web_controls_values (GstElement *element, GString *json);

/* Sets a property to the value that @text names. Errors, as sentences: there is
 * no such property, it does not change while playing, the value is malformed or
 * out of range, or it names a file. The element may still refuse the value
 * later, with a warning on its bus. */
gboolean web_controls_set (GstElement *element, const gchar *name,
    const gchar *text, GError **error);

/* Gives the properties of @to the values of those of @from, an element of the
 * same type that draws the output of a filter, so that @to draws the input. */
void web_controls_copy (GstElement *from, GstElement *to);

G_END_DECLS
