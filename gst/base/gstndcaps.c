/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndcaps.h"

#include "core/error.h"
#include "filters/units.h"
#include "gst/base/gstndcuda.h"

#include <math.h>
#include <string.h>

/* C, X, Y, Z, K */
#define RANK 5
#define NNSTREAMER_RANK_LIMIT 16

static gboolean
caps_parse_dimensions (const gchar *text, gsize dims[RANK], GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  gboolean ended = FALSE;
  guint i;

  for (i = 0; i < RANK; i++)
    dims[i] = 1;
  for (i = 0; parts[i]; i++) {
    const gchar *part = g_strstrip (parts[i]);
    guint64 value;

    if (i >= NNSTREAMER_RANK_LIMIT
        || !g_ascii_string_to_unsigned (part, 10, 0, G_MAXUINT32, &value, NULL)
        || (ended && value != 0)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "Caps field 'dimensions' is \"%s\": it must be up to %d whole "
          "numbers separated by ':', components:x:y:z, with nothing after a 0",
          text, NNSTREAMER_RANK_LIMIT);
      return FALSE;
    }
    ended |= value == 0;
    if (value <= 1)
      continue;
    if (i >= RANK) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "Caps field 'dimensions' is \"%s\": ranks above %d are not "
          "supported, volumes are components:x:y:z",
          text, RANK);
      return FALSE;
    }
    dims[i] = value;
  }
  if (i == 0 || *parts[0] == '0') {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps field 'dimensions' is \"%s\": it must start with a size of 1 or "
        "more",
        text);
    return FALSE;
  }
  return TRUE;
}

static void
caps_parse_numbers (const GstStructure *s, const gchar *field, gdouble *values,
    guint n, gboolean *known)
{
  const gchar *text = gst_structure_get_string (s, field);
  g_auto (GStrv) parts = text ? g_strsplit (text, ":", -1) : NULL;
  gdouble parsed[9];

  if (!parts || g_strv_length (parts) != n) {
    *known = FALSE;
    return;
  }
  for (guint i = 0; i < n; i++) {
    gchar *end;

    parsed[i] = g_ascii_strtod (parts[i], &end);
    if (end == parts[i] || *end != '\0' || !isfinite (parsed[i])) {
      *known = FALSE;
      return;
    }
  }
  memcpy (values, parsed, n * sizeof (gdouble));
}

/* Without origin the geometry begins at 0; without directions it is along the
 * axes. */
static void
caps_parse_geometry (const GstStructure *s, NdGeometry *geometry)
{
  const gchar *spacing = gst_structure_get_string (s, "spacing");

  for (guint a = 0; a < 3; a++)
    geometry->directions[4 * a] = 1;
  geometry->known = spacing && strchr (spacing, ':') != strrchr (spacing, ':')
      && nd_units_parse_spacing (spacing, geometry->spacing);
  if (gst_structure_has_field (s, "origin"))
    caps_parse_numbers (s, "origin", geometry->origin, 3, &geometry->known);
  if (gst_structure_has_field (s, "directions"))
    caps_parse_numbers (s, "directions", geometry->directions, 9,
        &geometry->known);
}

static gboolean
caps_parse_beams (const GstStructure *s, gchar beams[ND_BEAMS_TEXT],
    GError **error)
{
  const gchar *text = gst_structure_get_string (s, "beams");

  if (!text || g_strlcpy (beams, text, ND_BEAMS_TEXT) < ND_BEAMS_TEXT)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "Caps field 'beams' has %" G_GSIZE_FORMAT
      " bytes: it must have less than %d",
      strlen (text), ND_BEAMS_TEXT);
  return FALSE;
}

gboolean
gst_nd_volume_info_from_caps (GstNdVolumeInfo *info, const GstCaps *caps,
    GError **error)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (s, "format");
  const gchar *types = gst_structure_get_string (s, "types");
  const gchar *dimensions = gst_structure_get_string (s, "dimensions");
  g_autofree gchar *type = NULL;
  gsize dims[RANK];
  gint n_tensors = 1;

  *info = (GstNdVolumeInfo){ .rate_d = 1 };
  if (!gst_structure_has_name (s, GST_ND_TENSORS)
      || (format && g_ascii_strcasecmp (format, "static") != 0)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The caps are %s%s%s: volumes must be " GST_ND_TENSORS
        ", format=static",
        gst_structure_get_name (s), format ? ", format=" : "",
        format ? format : "");
    return FALSE;
  }
  gst_structure_get_int (s, "num_tensors", &n_tensors);
  if (n_tensors != 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps field 'num_tensors' is %d: it must be 1, a volume is one tensor "
        "in each buffer",
        n_tensors);
    return FALSE;
  }
  type = types ? g_strstrip (g_strdup (types)) : NULL;
  if (!type || !nd_sample_from_name (type, &info->type)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps field 'types' is \"%s\": it must be uint8, int8, uint16, int16, "
        "uint32, int32, float16, float32 or float64",
        types ? types : "missing");
    return FALSE;
  }
  if (!dimensions) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps field 'dimensions' is missing: it must be components:x:y:z");
    return FALSE;
  }
  if (!caps_parse_dimensions (dimensions, dims, error))
    return FALSE;
  info->shape.components = dims[0];
  memcpy (info->shape.size, dims + 1, sizeof (info->shape.size));
  info->responses = dims[4];
  if (gst_nd_volume_info_size (info) == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps field 'dimensions' is \"%s\": a volume of this size does not fit "
        "in memory",
        dimensions);
    return FALSE;
  }
  if (gst_structure_get_fraction (s, "framerate", &info->rate_n, &info->rate_d)
      && info->rate_n < 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps field 'framerate' is %d/%d: it must not be negative",
        info->rate_n, info->rate_d);
    return FALSE;
  }
  caps_parse_geometry (s, &info->geometry);
  return caps_parse_beams (s, info->beams, error);
}

static gchar *
dimensions_to_string (const NdShape *shape, guint responses, guint min_rank)
{
  const gsize dims[RANK] = { shape->components, shape->size[0], shape->size[1],
    shape->size[2], responses };
  GString *text = g_string_new (NULL);
  guint rank = RANK;

  while (rank > min_rank && dims[rank - 1] == 1)
    rank--;
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (text, i ? ":%" G_GSIZE_FORMAT : "%" G_GSIZE_FORMAT,
        dims[i]);
  return g_string_free (text, FALSE);
}

void
gst_nd_structure_set_dimensions (GstStructure *s, const NdShape *shape,
    guint responses)
{
  g_autofree gchar *exact = dimensions_to_string (shape, responses, 1);
  g_autofree gchar *padded = dimensions_to_string (shape, responses, 4);
  g_auto (GValue) list = G_VALUE_INIT;
  g_auto (GValue) value = G_VALUE_INIT;

  if (strcmp (exact, padded) == 0) {
    gst_structure_set (s, "dimensions", G_TYPE_STRING, exact, NULL);
    return;
  }
  g_value_init (&list, GST_TYPE_LIST);
  g_value_init (&value, G_TYPE_STRING);
  g_value_set_string (&value, exact);
  gst_value_list_append_value (&list, &value);
  g_value_set_string (&value, padded);
  gst_value_list_append_value (&list, &value);
  gst_structure_set_value (s, "dimensions", &list);
}

/* g_ascii_dtostr() writes 17 digits, which restore a double exactly. */
static void
set_numbers (GstStructure *s, const gchar *field, const gdouble *values,
    guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < n; i++) {
    g_ascii_dtostr (number, sizeof (number), values[i]);
    g_string_append_printf (text, i ? ":%s" : "%s", number);
  }
  gst_structure_set (s, field, G_TYPE_STRING, text->str, NULL);
}

GstCaps *
gst_nd_volume_info_to_caps (const GstNdVolumeInfo *info)
{
  GstStructure *s = gst_structure_new (GST_ND_TENSORS, "format", G_TYPE_STRING,
      "static", "num_tensors", G_TYPE_INT, 1, "types", G_TYPE_STRING,
      nd_sample_name (info->type), "framerate", GST_TYPE_FRACTION, info->rate_n,
      info->rate_d, NULL);

  gst_nd_structure_set_dimensions (s, &info->shape, info->responses);
  if (info->geometry.known) {
    set_numbers (s, "spacing", info->geometry.spacing, 3);
    set_numbers (s, "origin", info->geometry.origin, 3);
    set_numbers (s, "directions", info->geometry.directions, 9);
  }
  if (*info->beams)
    gst_structure_set (s, "beams", G_TYPE_STRING, info->beams, NULL);
  return gst_caps_new_full (s, NULL);
}

gsize
gst_nd_volume_info_size (const GstNdVolumeInfo *info)
{
  return nd_recording_volume_size (info);
}

gboolean
gst_nd_caps_have_alternate_fields (const GstCaps *caps)
{
  return gst_caps_get_size (caps) > 0
      && gst_caps_features_contains (gst_caps_get_features (caps, 0),
          "format:Interlaced");
}

/* The choice of output caps, and their change while the stream plays.
 */

static GstCaps *
caps_fixate (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
    GstCaps *other)
{
  const GstBaseTransformClass *base =
      g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  GstPad *pad = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;

  return base->fixate_caps (trans, direction, caps,
      gst_nd_cuda_choose_caps (pad, other));
}

GstCaps *
gst_nd_downstream_fixate (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *other)
{
  if (direction == GST_PAD_SINK && gst_caps_is_equal (caps, other)) {
    g_autoptr (GstCaps) possible =
        GST_BASE_TRANSFORM_GET_CLASS (trans)->transform_caps (trans, direction,
            caps, NULL);

    if (!gst_caps_is_empty (possible) && !gst_caps_is_subset (other, possible))
      gst_caps_replace (&other, possible);
  }
  return caps_fixate (trans, direction, caps, other);
}

static gboolean
is_accepted (GstBaseTransform *trans, GstCaps *possible)
{
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (trans->srcpad, possible);
  g_autoptr (GstCaps) chosen =
      gst_caps_intersect_full (peer, possible, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty (chosen))
    return FALSE;
  chosen = caps_fixate (trans, GST_PAD_SINK, in, g_steal_pointer (&chosen));
  return gst_pad_peer_query_accept_caps (trans->srcpad, chosen);
}

gboolean
gst_nd_downstream_accepts (GstBaseTransform *trans, GstCaps *possible,
    GError **error)
{
  g_autofree gchar *text = NULL;

  if (is_accepted (trans, possible))
    return TRUE;
  text = gst_caps_to_string (possible);
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The new settings change the output caps to \"%.300s\", which the "
      "elements downstream do not accept: choose settings that keep the output "
      "caps, or link elements that accept the new ones",
      text);
  return FALSE;
}

GstFlowReturn
gst_nd_downstream_result (GstBaseTransform *trans, GstFlowReturn ret)
{
  return ret == GST_FLOW_NOT_NEGOTIATED
          && gst_pad_needs_reconfigure (trans->srcpad)
      ? GST_FLOW_OK
      : ret;
}

/* The metadata of a recording, in an event before the first volume. All
 * elements between the file that is read and the file that is written pass it
 * on. The event is not sticky, because gdppay stores only 16 bits of the type
 * of an event: after gdpdepay a sticky event would be one that must not come
 * before caps.
 */

#define NAME "ndconv-recording"

GstEvent *
gst_nd_metadata_to_event (const NdMetadata *metadata, guint64 volumes)
{
  gchar *text = nd_metadata_to_text (metadata);
  GValue value = G_VALUE_INIT;
  GstStructure *structure;

  if (!text)
    return NULL;
  structure = gst_structure_new (NAME, "volumes", G_TYPE_UINT64, volumes, NULL);
  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_structure_take_value (structure, "metadata", &value);
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, structure);
}

NdMetadata *
gst_nd_metadata_from_event (GstEvent *event, guint64 *volumes)
{
  const GstStructure *structure = gst_event_get_structure (event);
  const gchar *text;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CUSTOM_DOWNSTREAM_STICKY
      || !gst_event_has_name (event, NAME))
    return NULL;
  text = gst_structure_get_string (structure, "metadata");
  if (!text || !gst_structure_get_uint64 (structure, "volumes", volumes))
    return NULL;
  return nd_metadata_from_text (text);
}

GstEvent *
gst_nd_metadata_to_live_event (const NdMetadata *metadata)
{
  GstEvent *event = gst_nd_metadata_to_event (metadata, 0);

  if (event)
    gst_structure_set (gst_event_writable_structure (event), "live",
        G_TYPE_BOOLEAN, TRUE, NULL);
  return event;
}

gboolean
gst_nd_metadata_is_live (GstEvent *event)
{
  gboolean live = FALSE;

  gst_structure_get_boolean (gst_event_get_structure (event), "live", &live);
  return live;
}
