/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndfilterspec.h"

#include <string.h>

#include "engine/nderror.h"

/* Copies one filter of @text, up to the ';' behind it, and marks its values as
 * strings. Left to itself, GStreamer reads size=3:5 as the GstFlagSet 1:5
 * (flags 3 of mask 5), in 1.22 even in quotes. Lists and values with a type of
 * their own stay as they are. */
static gchar *
take_filter (const gchar ** text, guint * n_values)
{
  GString *filter = g_string_new (NULL);
  gboolean quoted = FALSE;
  const gchar *at;

  *n_values = 0;
  for (at = *text; *at != '\0' && (quoted || *at != ';'); at++) {
    g_string_append_c (filter, *at);
    if (*at == '\\' && at[1] != '\0') {
      g_string_append_c (filter, *++at);
    } else if (*at == '"') {
      quoted = !quoted;
    } else if (*at == '=' && !quoted) {
      (*n_values)++;
      while (g_ascii_isspace (at[1]))
        at++;
      if (at[1] == '\0' || strchr ("(<{[", at[1]) == NULL)
        g_string_append (filter, "(string)");
    }
  }
  *text = *at == ';' ? at + 1 : at;
  return g_strstrip (g_string_free (filter, FALSE));
}

static GstStructure *
read_filter (const gchar ** text, GError ** error)
{
  const gchar *start = *text;
  guint n_values;
  g_autofree gchar *filter = take_filter (text, &n_values);
  g_autoptr (GstStructure) structure = NULL;

  /* GStreamer asserts that a name begins with a letter. */
  if (g_ascii_isalpha (*filter))
    structure = gst_structure_from_string (filter, NULL);
  if (structure == NULL) {
    gsize length = *text - start;
    g_autofree gchar *given = NULL;

    if (length > 0 && start[length - 1] == ';')
      length--;
    given = g_utf8_make_valid (start, MIN (length, 200));
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "\"%s\" cannot be read. A filter is a design, then parameters with "
        "commas before them, as in gaussian,sigma=1.5 or "
        "coefficients,size=2:1,values=<1,-1>; filters have ';' between, and "
        "a text with spaces or other special characters needs quotes.",
        g_strstrip (given));
    return NULL;
  }
  /* GstStructure keeps the last of several values without a word. */
  if (n_values != (guint) gst_structure_n_fields (structure)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s: a parameter is given more than once; give each once.",
        gst_structure_get_name (structure));
    return NULL;
  }
  return g_steal_pointer (&structure);
}

/* The structures in @text, one and more. */
static GPtrArray *
read_bank (const gchar * text, GError ** error)
{
  g_autoptr (GPtrArray) structures =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  g_autofree gchar *rest = g_strdup (text ? text : "");
  const gchar *at = g_strstrip (rest);

  if (*at == '\0') {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The property filter is missing; set it to a filter, as in "
        "filter=gaussian,sigma=1.5.");
    return NULL;
  }
  while (*at != '\0') {
    GstStructure *structure = read_filter (&at, error);

    if (structure == NULL) {
      g_prefix_error (error, "Property filter, number %u: ",
          structures->len + 1);
      return NULL;
    }
    g_ptr_array_add (structures, structure);
  }
  return g_steal_pointer (&structures);
}

static gboolean
get_number (const GValue * value, gdouble * number)
{
  GValue transformed = G_VALUE_INIT;

  if (G_VALUE_HOLDS_STRING (value)) {
    const gchar *text = g_value_get_string (value);
    gchar *end;

    *number = g_ascii_strtod (text, &end);
    return end != text && *end == '\0';
  }
  if (!G_VALUE_HOLDS_INT (value) && !G_VALUE_HOLDS_UINT (value)
      && !G_VALUE_HOLDS_INT64 (value) && !G_VALUE_HOLDS_UINT64 (value)
      && !G_VALUE_HOLDS_FLOAT (value) && !G_VALUE_HOLDS_DOUBLE (value)
      && !GST_VALUE_HOLDS_FRACTION (value))
    return FALSE;
  g_value_init (&transformed, G_TYPE_DOUBLE);
  g_value_transform (value, &transformed);
  *number = g_value_get_double (&transformed);
  return TRUE;
}

/* An array or a list, or else a single value as a list of itself. */
static gboolean
get_numbers (const GValue * value, GArray * numbers, GError ** error)
{
  gboolean array = GST_VALUE_HOLDS_ARRAY (value);
  gboolean list = GST_VALUE_HOLDS_LIST (value);
  guint n = array ? gst_value_array_get_size (value)
      : list ? gst_value_list_get_size (value) : 1;

  for (guint i = 0; i < n; i++) {
    const GValue *item = array ? gst_value_array_get_value (value, i)
        : list ? gst_value_list_get_value (value, i) : value;
    gdouble number;

    if (!get_number (item, &number)) {
      g_autofree gchar *text = gst_value_serialize (item);

      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "has %.40s at index %u (counted from 0), where a number must stand.",
          text, i);
      return FALSE;
    }
    g_array_append_val (numbers, number);
  }
  return TRUE;
}

static NdParameters *
get_parameters (const GstStructure * structure, GError ** error)
{
  g_autoptr (NdParameters) parameters = nd_parameters_new ();

  for (gint i = 0; i < gst_structure_n_fields (structure); i++) {
    const gchar *name = gst_structure_nth_field_name (structure, i);
    const GValue *value = gst_structure_get_value (structure, name);
    g_autoptr (GArray) numbers = NULL;

    if (G_VALUE_HOLDS_STRING (value)) {
      nd_parameters_set_text (parameters, name, g_value_get_string (value));
      continue;
    }
    numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
    if (!get_numbers (value, numbers, error)) {
      g_prefix_error (error, "%s: %s ", gst_structure_get_name (structure),
          name);
      return NULL;
    }
    nd_parameters_set_numbers (parameters, name, (gdouble *) numbers->data,
        numbers->len);
  }
  return g_steal_pointer (&parameters);
}

static gboolean
adjust (NdFilter * filter, const NdAxes * axes, const gchar * origin_text,
    gboolean causal, gboolean normalize, GError ** error)
{
  if ((normalize && !nd_filter_normalize (filter, error))
      || (origin_text
          && !nd_filter_set_origin (filter, origin_text, axes, error)))
    return FALSE;
  if (causal)
    nd_filter_set_causal (filter);
  return TRUE;
}

static NdBank *
design (const GstStructure * structure, const NdAxes * axes,
    const gchar * origin_text, gboolean causal, gboolean normalize,
    GError ** error)
{
  g_autoptr (NdParameters) parameters = get_parameters (structure, error);
  g_autoptr (NdBank) bank = NULL;

  if (parameters == NULL)
    return NULL;
  bank = nd_design (gst_structure_get_name (structure), parameters, axes,
      error);
  for (guint i = 0; bank && i < bank->n_filters; i++) {
    if (!adjust (bank->filters[i], axes, origin_text, causal, normalize, error))
      return NULL;
  }
  return g_steal_pointer (&bank);
}

static void
prefix_place (GError ** error, guint i, guint n)
{
  if (n == 1)
    g_prefix_error (error, "Property filter: ");
  else
    g_prefix_error (error, "Property filter, number %u of %u: ", i + 1, n);
}

/* All of @banks in one. */
static NdBank *
join (const GPtrArray * banks, gboolean is_complex)
{
  static const gsize one[ND_AXES] = { 1, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdBank *joined;

  for (guint i = 0; i < banks->len; i++) {
    const NdBank *bank = banks->pdata[i];

    for (guint j = 0; j < bank->n_filters; j++) {
      g_ptr_array_add (filters, nd_filter_copy (bank->filters[j]));
      if (is_complex && !bank->is_complex)
        g_ptr_array_add (filters, nd_filter_new ("0", one));
    }
  }
  joined = nd_bank_new (filters);
  joined->is_complex = is_complex;
  return joined;
}

NdBank *
gst_nd_filter_spec_parse (const gchar * text, const NdAxes * axes,
    const gchar * origin_text, gboolean causal, gboolean normalize,
    GError ** error)
{
  g_autoptr (GPtrArray) structures = read_bank (text, error);
  g_autoptr (GPtrArray) banks =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_bank_free);
  gboolean is_complex = FALSE;

  if (structures == NULL)
    return NULL;
  for (guint i = 0; i < structures->len; i++) {
    NdBank *bank = design (structures->pdata[i], axes, origin_text, causal,
        normalize, error);

    if (bank == NULL) {
      prefix_place (error, i, structures->len);
      return NULL;
    }
    is_complex = is_complex || bank->is_complex;
    g_ptr_array_add (banks, bank);
  }
  return join (banks, is_complex);
}

gboolean
gst_nd_filter_spec_count (const gchar * text, const NdAxes * axes,
    NdResponses * responses, GError ** error)
{
  g_autoptr (GPtrArray) structures = read_bank (text, error);

  *responses = (NdResponses) {
  0};
  if (structures == NULL)
    return FALSE;
  for (guint i = 0; i < structures->len; i++) {
    g_autoptr (NdParameters) parameters = get_parameters (structures->pdata[i],
        error);
    NdResponses more = { 0 };

    if (parameters == NULL
        || !nd_design_count (gst_structure_get_name (structures->pdata[i]),
            parameters, axes, &more, error)) {
      prefix_place (error, i, structures->len);
      return FALSE;
    }
    responses->n += more.n;
    responses->is_complex |= more.is_complex;
  }
  return TRUE;
}
