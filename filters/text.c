/* Copyright (C) 2026 the ndconv developers
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "filters/text.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/parameters.h"
#include "filters/units.h"

#include <string.h>

/* One filter of the text: a design and its parameters. */
typedef struct
{
  gchar *design;
  NdParameters *parameters;
} Description;

static void
description_free (gpointer data)
{
  Description *description = data;

  g_free (description->design);
  nd_parameters_free (description->parameters);
  g_free (description);
}

typedef enum
{
  KIND_INTEGER,
  KIND_FLOAT,
  KIND_DOUBLE,
  KIND_FRACTION,
  KIND_STRING
} Kind;

typedef struct
{
  const gchar *name;
  Kind kind;
  gdouble lowest, highest; /* of an integer */
} Type;

static const Type types[] = {
  { "int", KIND_INTEGER, G_MININT, G_MAXINT },
  { "i", KIND_INTEGER, G_MININT, G_MAXINT },
  { "gint", KIND_INTEGER, G_MININT, G_MAXINT },
  { "uint", KIND_INTEGER, 0, G_MAXUINT },
  { "u", KIND_INTEGER, 0, G_MAXUINT },
  { "guint", KIND_INTEGER, 0, G_MAXUINT },
  { "gint64", KIND_INTEGER, G_MININT64, (gdouble) G_MAXINT64 },
  { "guint64", KIND_INTEGER, 0, (gdouble) G_MAXUINT64 },
  { "float", KIND_FLOAT },
  { "f", KIND_FLOAT },
  { "gfloat", KIND_FLOAT },
  { "double", KIND_DOUBLE },
  { "d", KIND_DOUBLE },
  { "gdouble", KIND_DOUBLE },
  { "fraction", KIND_FRACTION },
  { "GstFraction", KIND_FRACTION },
  { "string", KIND_STRING },
  { "str", KIND_STRING },
  { "s", KIND_STRING },
  { "gchararray", KIND_STRING },
};

static void
filter_text_skip_spaces (const gchar **at)
{
  while (g_ascii_isspace (**at))
    (*at)++;
}

/* Spaces between fields may be escaped. */
static void
filter_text_skip_blanks (const gchar **at)
{
  while (g_ascii_isspace (**at) || (**at == '\\' && g_ascii_isspace ((*at)[1])))
    (*at)++;
}

static gboolean
filter_text_accept (const gchar **at, gchar c)
{
  if (**at != c)
    return FALSE;
  (*at)++;
  return TRUE;
}

static gchar *
read_word (const gchar **at)
{
  const gchar *start = *at;

  while (g_ascii_isalnum (**at) || (**at && strchr ("_-+/:.", **at)))
    (*at)++;
  return *at == start ? NULL : g_strndup (start, *at - start);
}

static gboolean
is_octal (const gchar *digits)
{
  return digits[0] >= '0' && digits[0] <= '3' && digits[1] >= '0'
      && digits[1] <= '7' && digits[2] >= '0' && digits[2] <= '7';
}

/* Text in double quotes, after the first one. */
static gchar *
read_quoted (const gchar **at)
{
  g_autoptr (GString) text = g_string_new (NULL);

  while (!filter_text_accept (at, '"')) {
    gboolean escaped = filter_text_accept (at, '\\');

    if (**at == '\0')
      return NULL;
    if (!escaped || **at < '0' || **at > '3') {
      g_string_append_c (text, *(*at)++);
    } else {
      if (!is_octal (*at))
        return NULL;
      g_string_append_c (text,
          ((*at)[0] - '0') * 64 + ((*at)[1] - '0') * 8 + (*at)[2] - '0');
      *at += 3;
    }
  }
  if (!g_utf8_validate (text->str, text->len, NULL))
    return NULL;
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gchar *
read_string (const gchar **at)
{
  return filter_text_accept (at, '"') ? read_quoted (at) : read_word (at);
}

/* A type in parentheses replaces @type. FALSE if it is unknown or malformed. */
static gboolean
read_type (const gchar **at, const Type **type)
{
  g_autofree gchar *name = NULL;

  if (!filter_text_accept (at, '('))
    return TRUE;
  filter_text_skip_spaces (at);
  name = read_word (at);
  filter_text_skip_spaces (at);
  if (!name || !filter_text_accept (at, ')'))
    return FALSE;
  filter_text_skip_spaces (at);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (strcmp (types[i].name, name) == 0) {
      *type = &types[i];
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
parse_double (const gchar *text, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

static gboolean
parse_integer (const gchar *text, gdouble *number)
{
  return text[strcspn (text, ".eEnN")] == '\0' && parse_double (text, number);
}

/* "1/4", or an integer. */
static gboolean
parse_fraction (const gchar *text, gdouble *number)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", 2);
  gdouble denominator = 1;

  if (!parts[0] || !parse_integer (parts[0], number)
      || (parts[1] && !parse_integer (parts[1], &denominator))
      || denominator == 0)
    return FALSE;
  *number /= denominator;
  return TRUE;
}

static gboolean
parse_number (const gchar *text, const Type *type, gdouble *number)
{
  if (!type)
    return parse_double (text, number) || parse_fraction (text, number);
  if (type->kind == KIND_INTEGER)
    return parse_integer (text, number) && *number >= type->lowest
        && *number <= type->highest;
  if (type->kind == KIND_FRACTION)
    return parse_fraction (text, number);
  if (!parse_double (text, number))
    return FALSE;
  if (type->kind == KIND_FLOAT)
    *number = (gfloat) *number;
  return TRUE;
}

/* An item, with the type of its list unless it has its own: its number as text,
 * with a unit if it has one. NULL if it is anything else. */
static gchar *
filter_text_read_number (const gchar **at, const Type *type)
{
  g_autofree gchar *text = NULL;
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  NdDimension dimension;
  const gchar *end;
  gdouble number;

  if (!read_type (at, &type))
    return NULL;
  text = !type || type->kind == KIND_STRING ? read_string (at) : read_word (at);
  if (!text)
    return NULL;
  if (parse_number (text, type, &number))
    return g_strdup (g_ascii_dtostr (digits, sizeof (digits), number));
  if ((!type || type->kind == KIND_STRING)
      && nd_units_parse (text, &number, &dimension, &end) && *end == '\0')
    return g_steal_pointer (&text);
  return NULL;
}

static gboolean
begins_list (const gchar *at)
{
  return *at == '<' || *at == '{';
}

/* Appends the items of a list, or one number, to @numbers, separated by ':'.
 * Sets no error if a list has no end: read_filter() has one for that. */
static gboolean
filter_text_read_numbers (const gchar **at, const Type *type, const gchar *name,
    GString *numbers, GError **error)
{
  const gchar end = **at == '<' ? '>' : '}';
  const gboolean is_list = begins_list (*at);
  guint n = 0;

  if (is_list)
    (*at)++;
  do {
    g_autofree gchar *number = NULL;
    const gchar *start;

    filter_text_skip_spaces (at);
    if (is_list && filter_text_accept (at, end))
      return TRUE;
    start = *at;
    number = filter_text_read_number (at, type);
    if (!number) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "%s has %.*s at index %u (counted from 0); it must be a number", name,
          (int) MIN (strcspn (start, is_list ? ",>}" : ""), 40), start, n);
      return FALSE;
    }
    g_string_append_printf (numbers, "%s%s", n++ > 0 ? ":" : "", number);
    filter_text_skip_spaces (at);
  } while (is_list && filter_text_accept (at, ','));
  return !is_list || filter_text_accept (at, end);
}

static gboolean
filter_text_read_value (const gchar **at, const gchar *name,
    NdParameters *parameters, GError **error)
{
  const gchar *start = *at;
  const Type *type = NULL;
  gboolean known = read_type (at, &type);
  g_autoptr (GString) numbers = NULL;

  if (known && !begins_list (*at) && **at != '['
      && (!type || type->kind == KIND_STRING)) {
    g_autofree gchar *text = read_string (at);

    if (text)
      nd_parameters_set_text (parameters, name, text);
    return text != NULL;
  }
  if (!known || !begins_list (*at)) {
    /* Goes back, because read_number() reads the type itself. */
    *at = start;
    type = NULL;
  }
  numbers = g_string_new (NULL);
  if (!filter_text_read_numbers (at, type, name, numbers, error))
    return FALSE;
  nd_parameters_set_text (parameters, name, numbers->str);
  return TRUE;
}

/* name=value */
static gboolean
read_parameter (const gchar **at, NdParameters *parameters, GError **error)
{
  g_autofree gchar *name = NULL;

  name = read_word (at);
  filter_text_skip_blanks (at);
  if (!name || !filter_text_accept (at, '='))
    return FALSE;
  if (nd_parameters_has (parameters, name)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is given more than once; give it once", name);
    return FALSE;
  }
  filter_text_skip_spaces (at);
  return filter_text_read_value (at, name, parameters, error);
}

/* One filter, all of @text. */
static Description *
read_filter (const gchar *text, GError **error)
{
  Description *description = g_new0 (Description, 1);
  GError *reason = NULL;
  gboolean ok = g_ascii_isalpha (*text);
  const gchar *at = text;

  description->parameters = nd_parameters_new ();
  if (ok)
    description->design = read_word (&at);
  filter_text_skip_blanks (&at);
  while (ok && *at != '\0') {
    ok = filter_text_accept (&at, ',');
    filter_text_skip_blanks (&at);
    if (ok && *at != '\0')
      ok = read_parameter (&at, description->parameters, &reason);
    filter_text_skip_blanks (&at);
  }
  if (ok)
    return description;
  if (reason) {
    g_propagate_prefixed_error (error, reason, "%s: ", description->design);
  } else {
    g_autofree gchar *given = g_utf8_make_valid (text, -1);

    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%.200s\" cannot be read. A filter is a design followed by "
        "parameters, separated by commas, as in gaussian,sigma=1.5 or "
        "coefficients,size=2:1,values=<1,-1>; filters are separated by ';', "
        "and a text with spaces or other special characters needs quotes",
        given);
  }
  description_free (description);
  return NULL;
}

/* The text of one filter, up to the next ';' outside quotes. */
static gchar *
take_filter (const gchar **text)
{
  gboolean quoted = FALSE;
  const gchar *at;
  gchar *filter;

  for (at = *text; *at != '\0' && (quoted || *at != ';'); at++) {
    if (*at == '\\' && at[1] != '\0')
      at++;
    else if (*at == '"')
      quoted = !quoted;
  }
  filter = g_strstrip (g_strndup (*text, at - *text));
  *text = *at == ';' ? at + 1 : at;
  return filter;
}

static void
prefix_number (GError **error, guint i, guint n)
{
  if (n > 1)
    g_prefix_error (error, "filter number %u of %u: ", i + 1, n);
}

/* One Description for each filter of @text. */
static GPtrArray *
filter_text_read_text (const gchar *text, GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func (description_free);
  g_autofree gchar *rest = g_strdup (text ? text : "");
  const gchar *at = g_strstrip (rest);

  while (*at != '\0')
    g_ptr_array_add (texts, take_filter (&at));
  if (texts->len == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The filter is missing; give a design and its parameters, as in "
        "gaussian,sigma=1.5");
    return NULL;
  }
  for (guint i = 0; i < texts->len; i++) {
    Description *filter = read_filter (texts->pdata[i], error);

    if (!filter) {
      prefix_number (error, i, texts->len);
      return NULL;
    }
    g_ptr_array_add (filters, filter);
  }
  return g_steal_pointer (&filters);
}

static gboolean
adjust (NdFilter *filter, const NdAxes *axes, const gchar *origin,
    gboolean causal, gboolean normalize, GError **error)
{
  if ((normalize && !nd_filter_normalize (filter, error))
      || (origin && !nd_filter_set_origin (filter, origin, axes, error)))
    return FALSE;
  if (causal)
    nd_filter_set_causal (filter);
  return TRUE;
}

gboolean
nd_bank_adjust (NdBank *bank, const NdAxes *axes, const gchar *origin,
    gboolean causal, gboolean normalize, GError **error)
{
  for (guint i = 0; i < bank->n_filters; i++) {
    if (!adjust (bank->filters[i], axes, origin, causal, normalize, error))
      return FALSE;
  }
  return TRUE;
}

static NdBank *
filter_text_design (const Description *description, const NdAxes *axes,
    const gchar *origin, gboolean causal, gboolean normalize, GError **error)
{
  g_autoptr (NdBank) bank =
      nd_design (description->design, description->parameters, axes, error);

  if (!bank || !nd_bank_adjust (bank, axes, origin, causal, normalize, error))
    return NULL;
  return g_steal_pointer (&bank);
}

/* Adds the coefficients of @bank to @total. Filters of a text, which a page may
 * send, share a quarter of the memory. */
static gboolean
check_total (const NdBank *bank, gsize *total, GError **error)
{
  for (guint i = 0; i < bank->n_filters; i++)
    *total += nd_filter_count (bank->filters[i]);
  if (*total <= nd_usable_memory () / 4 / sizeof (gdouble))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "The filters up to this one have %" G_GSIZE_FORMAT
      " coefficients, more than a quarter of the memory holds: use fewer or "
      "smaller ones",
      *total);
  return FALSE;
}

/* All filters of @banks, which have none then, in one bank. */
static NdBank *
filter_text_join (const GPtrArray *banks, gboolean is_complex)
{
  static const gsize one[ND_AXES] = { 1, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdBank *joined;

  for (guint i = 0; i < banks->len; i++) {
    const NdBank *bank = banks->pdata[i];

    for (guint j = 0; j < bank->n_filters; j++) {
      g_ptr_array_add (filters, g_steal_pointer (&bank->filters[j]));
      if (is_complex && !bank->is_complex)
        g_ptr_array_add (filters, nd_filter_new ("0", one));
    }
  }
  joined = nd_bank_new (filters);
  joined->is_complex = is_complex;
  return joined;
}

NdBank *
nd_bank_from_text (const gchar *text, const NdAxes *axes, const gchar *origin,
    gboolean causal, gboolean normalize, const gint *cancelled, GError **error)
{
  g_autoptr (GPtrArray) filters = filter_text_read_text (text, error);
  g_autoptr (GPtrArray) banks =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_bank_free);
  gboolean is_complex = FALSE;
  gsize total = 0;

  for (guint i = 0; filters && i < filters->len; i++) {
    const Description *filter = filters->pdata[i];
    NdBank *bank;

    nd_parameters_set_cancelled (filter->parameters, cancelled);
    bank = filter_text_design (filter, axes, origin, causal, normalize, error);
    if (bank)
      g_ptr_array_add (banks, bank);
    if (!bank || (filters->len > 1 && !check_total (bank, &total, error))) {
      prefix_number (error, i, filters->len);
      return NULL;
    }
    is_complex = is_complex || bank->is_complex;
  }
  return filters ? filter_text_join (banks, is_complex) : NULL;
}

gchar *
nd_bank_find_warning (const gchar *text, const NdAxes *axes)
{
  g_autoptr (GPtrArray) filters = filter_text_read_text (text, NULL);
  gchar *warning = NULL;

  for (guint i = 0; filters && i < filters->len && !warning; i++) {
    const Description *filter = filters->pdata[i];

    warning = nd_design_find_warning (filter->design, filter->parameters, axes);
  }
  return warning;
}

gboolean
nd_bank_info_from_text (const gchar *text, const NdAxes *axes, NdBankInfo *info,
    GError **error)
{
  g_autoptr (GPtrArray) filters = filter_text_read_text (text, error);

  *info = (NdBankInfo){ 0 };
  for (guint i = 0; filters && i < filters->len; i++) {
    const Description *filter = filters->pdata[i];
    NdBankInfo more = { 0 };

    if (!nd_design_info (filter->design, filter->parameters, axes, &more,
            error)) {
      prefix_number (error, i, filters->len);
      return FALSE;
    }
    info->n_responses += more.n_responses;
    info->is_complex |= more.is_complex;
    info->tensor_axes = filters->len == 1 ? more.tensor_axes : 0;
  }
  return filters != NULL;
}
