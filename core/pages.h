/* Host memory of whole pages, which a device can pin.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* At least *@size bytes, which becomes the size of the whole pages; NULL if
 * there is not enough memory. Free it with free(). */
gpointer nd_pages_new (gsize *size);

G_END_DECLS
