/* Queries of OpenIGTLink: GET_, STT_, STP_ and RTS_, and the messages that
 * answer GET_CAPABIL and GET_STATUS.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ND_IGTL_NO_QUERY,
  ND_IGTL_GET,
  ND_IGTL_START,
  ND_IGTL_STOP,
  ND_IGTL_ANSWER /* RTS_ */
} NdIgtlQuery;

/* Parses the query @type. @about: the type that it is about, which may be cut
 * ("TRANSFOR"). */
NdIgtlQuery nd_igtl_query_parse (const gchar *type, const gchar **about);

/* Adds the content of a CAPABILITY. @types ends with NULL. */
void nd_igtl_capability_build (const gchar *const *types, GByteArray *out);

/* TRUE if the content of a CAPABILITY names @type. */
gboolean nd_igtl_capability_has (const guint8 *content, gsize size,
    const gchar *type);

/* Adds the content of a STATUS that says that all is well. */
void nd_igtl_status_build (GByteArray *out);

G_END_DECLS
