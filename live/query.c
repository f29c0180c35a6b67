/* Queries, and the messages that answer them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/query.h"

#include "live/bytes.h"
#include "live/message.h"

#define STATUS_OK 1
#define STATUS_NAME_SIZE 20

NdIgtlQuery
nd_igtl_query_parse (const gchar *type, const gchar **about)
{
  static const gchar *const prefixes[] = {
    [ND_IGTL_GET] = "GET_",
    [ND_IGTL_START] = "STT_",
    [ND_IGTL_STOP] = "STP_",
    [ND_IGTL_ANSWER] = "RTS_",
  };

  for (guint i = 1; i < G_N_ELEMENTS (prefixes); i++) {
    if (g_str_has_prefix (type, prefixes[i])) {
      *about = type + strlen (prefixes[i]);
      return i;
    }
  }
  *about = type;
  return ND_IGTL_NO_QUERY;
}

void
nd_igtl_capability_build (const gchar *const *types, GByteArray *out)
{
  for (; *types; types++)
    nd_put_text (out, *types, ND_IGTL_TYPE_SIZE);
}

gboolean
nd_igtl_capability_has (const guint8 *content, gsize size, const gchar *type)
{
  for (; size >= ND_IGTL_TYPE_SIZE;
       content += ND_IGTL_TYPE_SIZE, size -= ND_IGTL_TYPE_SIZE) {
    g_autofree gchar *name = nd_igtl_text (content, ND_IGTL_TYPE_SIZE);

    if (strcmp (name, type) == 0)
      return TRUE;
  }
  return FALSE;
}

void
nd_igtl_status_build (GByteArray *out)
{
  nd_put_u16 (out, STATUS_OK);
  nd_put_u64 (out, 0);
  nd_put_text (out, "OK", STATUS_NAME_SIZE);
  nd_put_u8 (out, 0);
}
