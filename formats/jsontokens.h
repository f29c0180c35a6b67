/* The names and values of JSON, one after the other, without a tree: for texts
 * of which a few values are wanted and that may have millions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_JSON_WORD 64

typedef enum
{
  ND_JSON_END, /* of the text, or where it is no JSON */
  ND_JSON_VALUE,
  ND_JSON_OPEN, /* an object or a list */
  ND_JSON_CLOSE
} NdJsonToken;

typedef struct
{
  const gchar *at, *end;
  guint depth;               /* of objects and lists */
  gchar name[ND_JSON_WORD];  /* of the value or object; "" in a list */
  gchar value[ND_JSON_WORD]; /* without quotes; a longer one is cut off */
  gboolean quoted;
} NdJsonTokens;

/* Begins to read the @n bytes of @text, which must outlive @tokens. */
void nd_json_tokens_init (NdJsonTokens *tokens, const gchar *text, gsize n);

/* Goes to the next value, or to the begin or end of an object or list, which
 * changes the depth. Escapes in texts stay as they are. */
NdJsonToken nd_json_tokens_next (NdJsonTokens *tokens);

G_END_DECLS
