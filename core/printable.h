/* Text that a file, a peer or a page chose, in a form that is safe to show in a
 * terminal, a log and a message. Data never pass through here.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A new text in valid UTF-8 on one line. Control characters (C0, DEL, C1),
 * format characters such as marks of direction, separators of lines and
 * paragraphs, and bytes that are not UTF-8 become escapes: \n, \x1b, \u202e,
 * \U000e0001. Other text stays as it is, also a backslash, so that a second
 * call changes nothing. NULL gives NULL. Any thread. */
gchar *nd_printable (const gchar *text);

/* The same for @text, which is freed. */
gchar *nd_printable_take (gchar *text);

/* For text of several lines that ndconv wrote itself: keeps "\n". */
gchar *nd_printable_lines (const gchar *text);

G_END_DECLS
