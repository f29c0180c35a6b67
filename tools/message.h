/* Messages of ndconv-file.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* @text without control characters, and with the options of the program where
 * readers name the properties of elements. */
gchar *nd_message_text (const gchar *text);

G_END_DECLS
