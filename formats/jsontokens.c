/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/jsontokens.h"

#include <string.h>

void
nd_json_tokens_init (NdJsonTokens *tokens, const gchar *text, gsize n)
{
  memset (tokens, 0, sizeof (*tokens));
  tokens->at = text;
  tokens->end = text + n;
}

/* Reads a word in quotes or without; FALSE at the end of the text. */
static gboolean
read_word (NdJsonTokens *tokens, gchar *word)
{
  const gboolean quoted = *tokens->at == '"';
  gsize n = 0;

  tokens->quoted = quoted;
  tokens->at += quoted;
  for (; tokens->at < tokens->end; tokens->at++) {
    const gchar c = *tokens->at;

    if (quoted ? c == '"' : c == '\0' || strchr (",:[]{}\" \t\r\n", c) != NULL)
      break;
    if (n < ND_JSON_WORD - 1)
      word[n++] = c;
    if (quoted && c == '\\' && tokens->at + 1 < tokens->end) {
      tokens->at++;
      if (n < ND_JSON_WORD - 1)
        word[n++] = *tokens->at;
    }
  }
  word[n] = '\0';
  tokens->at += quoted && tokens->at < tokens->end;
  return tokens->at < tokens->end;
}

static void
skip_space (NdJsonTokens *tokens)
{
  while (tokens->at < tokens->end && *tokens->at != '\0'
      && strchr (" \t\r\n,", *tokens->at))
    tokens->at++;
}

NdJsonToken
nd_json_tokens_next (NdJsonTokens *tokens)
{
  *tokens->name = '\0';
  for (;;) {
    skip_space (tokens);
    if (tokens->at == tokens->end || *tokens->at == '\0')
      return ND_JSON_END;
    if (strchr ("[{", *tokens->at)) {
      tokens->at++;
      tokens->depth++;
      return ND_JSON_OPEN;
    }
    if (strchr ("]}", *tokens->at)) {
      tokens->at++;
      tokens->depth -= tokens->depth > 0;
      return ND_JSON_CLOSE;
    }
    if (*tokens->at == ':') {
      tokens->at++;
      g_strlcpy (tokens->name, tokens->value, sizeof (tokens->name));
      continue;
    }
    if (!read_word (tokens, tokens->value))
      return ND_JSON_VALUE;
    skip_space (tokens);
    if (tokens->at == tokens->end || *tokens->at != ':')
      return ND_JSON_VALUE;
  }
}
