/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndtensors.h"

#include "core/error.h"
#include <string.h>

/* NNStreamer's header of a flexible tensor: 32 bit numbers in the byte order of
 * the machine. */
#define HEADER_BYTES 128
#define MAGIC 0xfeedcced
#define VERSION_MASK 0xfffff000
#define VERSION_1 0xde001000
#define RANK 16

enum
{
  AT_MAGIC,
  AT_VERSION,
  AT_TYPE,
  AT_DIMENSIONS,
  AT_FORMAT = AT_DIMENSIONS + RANK,
  NUMBERS
};

/* By NNStreamer's numbers. */
static const gchar *const types[] = { "int32", "uint32", "int16", "uint16",
  "int8", "uint8", "float64", "float32", "int64", "uint64", "float16" };

/* Caps */

/* Part @index of a list with ',' or '.' between its parts, or NULL. */
static gchar *
take_part (const gchar *text, guint index)
{
  g_auto (GStrv) parts = text ? g_strsplit_set (text, ",.", -1) : NULL;

  if (!parts || index >= g_strv_length (parts))
    return NULL;
  return g_strstrip (g_strdup (parts[index]));
}

static GError *new_error (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

static GError *
new_error (const gchar *format, ...)
{
  va_list arguments;
  GError *error;

  va_start (arguments, format);
  error = g_error_new_valist (ND_ERROR, ND_ERROR_FORMAT, format, arguments);
  va_end (arguments);
  return error;
}

/* Whether tensor @index is one of @n. */
static gboolean
tensors_check_index (gint index, guint n, GError **error)
{
  if (index < 0 && n > 1)
    *error = new_error ("The stream has %u tensors (num_tensors): the property "
                        "'tensor-index' must say which of them, counted from "
                        "0, is the volume",
        n);
  else if (index >= 0 && (guint) index >= n)
    *error = new_error ("Property 'tensor-index' is %d, but the stream has %u "
                        "tensors, counted from 0",
        index, n);
  else
    return TRUE;
  return FALSE;
}

/* Caps of tensor @index of a static stream. */
static GstCaps *
select_tensor (const GstStructure *s, guint index)
{
  GstStructure *one = gst_structure_copy (s);
  g_autofree gchar *type =
      take_part (gst_structure_get_string (s, "types"), index);
  g_autofree gchar *dimensions =
      take_part (gst_structure_get_string (s, "dimensions"), index);

  gst_structure_set (one, "num_tensors", G_TYPE_INT, 1, NULL);
  gst_structure_remove_fields (one, "types", "dimensions", NULL);
  if (type)
    gst_structure_set (one, "types", G_TYPE_STRING, type, NULL);
  if (dimensions)
    gst_structure_set (one, "dimensions", G_TYPE_STRING, dimensions, NULL);
  return gst_caps_new_full (one, NULL);
}

static void
tensors_forget (GstNdTensors *self)
{
  self->n_tensors = 0;
  self->flexible = FALSE;
  g_clear_pointer (&self->other, gst_structure_free);
  gst_clear_caps (&self->caps);
  g_queue_clear_full (&self->held, (GDestroyNotify) gst_event_unref);
}

static gboolean
is_flexible (const GstStructure *s)
{
  const gchar *format = gst_structure_get_string (s, "format");

  return format && g_ascii_strcasecmp (format, "flexible") == 0;
}

static GstPadProbeReturn
take_caps (GstNdTensors *self, GstPad *pad, GstElement *element,
    GstPadProbeInfo *info)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  const GstStructure *s;
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) one = NULL;
  GstCaps *caps;
  gint n = 1, index;

  gst_event_parse_caps (event, &caps);
  /* Caps of this probe. */
  if (self->caps && gst_caps_is_equal (caps, self->caps))
    return GST_PAD_PROBE_OK;
  tensors_forget (self);
  s = gst_caps_get_structure (caps, 0);
  if (!gst_structure_has_name (s, "other/tensors"))
    return GST_PAD_PROBE_OK;
  if (is_flexible (s)) {
    self->flexible = TRUE;
    self->other = gst_structure_copy (s);
    gst_pad_store_sticky_event (pad, event);
    return GST_PAD_PROBE_DROP;
  }
  gst_structure_get_int (s, "num_tensors", &n);
  if (n <= 1)
    return GST_PAD_PROBE_OK;
  index = self->get_index (element);
  if (!tensors_check_index (index, n, &error)) {
    self->fail (element, error);
    return GST_PAD_PROBE_OK;
  }
  self->n_tensors = n;
  one = select_tensor (s, index);
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (one);
  gst_event_unref (event);
  return GST_PAD_PROBE_OK;
}

/* Buffers */

/* @to gets everything of @from but the memory. */
static GstBuffer *
copy_without_memory (GstBuffer *from)
{
  GstBuffer *to = gst_buffer_new ();

  gst_buffer_copy_into (to, from, GST_BUFFER_COPY_METADATA, 0, -1);
  return to;
}

/* The caps of a flexible tensor that begins with these numbers. */
static GstCaps *
caps_of_header (const GstNdTensors *self, const guint32 numbers[NUMBERS],
    GError **error)
{
  GstStructure *s;
  g_autoptr (GString) dimensions = g_string_new (NULL);

  if (numbers[AT_MAGIC] != MAGIC
      || (numbers[AT_VERSION] & VERSION_MASK) != VERSION_1
      || numbers[AT_TYPE] >= G_N_ELEMENTS (types) || numbers[AT_FORMAT] > 1) {
    *error = new_error ("A buffer of format=flexible does not begin with the "
                        "header of a dense tensor: upstream must send "
                        "NNStreamer's header of 128 bytes");
    return NULL;
  }
  for (guint i = 0; i < RANK && numbers[AT_DIMENSIONS + i] > 0; i++)
    g_string_append_printf (dimensions, i ? ":%u" : "%u",
        numbers[AT_DIMENSIONS + i]);
  s = gst_structure_copy (self->other);
  gst_structure_set (s, "format", G_TYPE_STRING, "static", "num_tensors",
      G_TYPE_INT, 1, "types", G_TYPE_STRING, types[numbers[AT_TYPE]],
      "dimensions", G_TYPE_STRING, dimensions->str, NULL);
  if (!gst_structure_has_field (s, "framerate"))
    gst_structure_set (s, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  return gst_caps_new_full (s, NULL);
}

/* The samples after the header. Sends caps if they changed. */
static GstMemory *
open_flexible (GstNdTensors *self, GstPad *pad, GstMemory *memory,
    GError **error)
{
  guint32 numbers[NUMBERS];
  g_autoptr (GstCaps) caps = NULL;
  GstMapInfo map;

  if (gst_memory_get_sizes (memory, NULL, NULL) <= HEADER_BYTES
      || !gst_memory_map (memory, &map, GST_MAP_READ)) {
    *error = new_error ("A buffer of format=flexible has %" G_GSIZE_FORMAT
                        " bytes: it must have a header of 128 bytes and the "
                        "samples",
        gst_memory_get_sizes (memory, NULL, NULL));
    return NULL;
  }
  memcpy (numbers, map.data, sizeof (numbers));
  gst_memory_unmap (memory, &map);
  caps = caps_of_header (self, numbers, error);
  if (!caps)
    return NULL;
  if (!self->caps || !gst_caps_is_equal (caps, self->caps)) {
    gst_caps_replace (&self->caps, caps);
    gst_pad_send_event (pad, gst_event_new_caps (caps));
    while (!g_queue_is_empty (&self->held))
      gst_pad_send_event (pad, g_queue_pop_head (&self->held));
  }
  return gst_memory_is_type (memory, GST_ALLOCATOR_SYSMEM)
      ? gst_memory_share (memory, HEADER_BYTES, -1)
      : gst_memory_copy (memory, HEADER_BYTES, -1);
}

/* A buffer with the one tensor, or NULL with an error. */
static GstBuffer *
take_tensor (GstNdTensors *self, GstPad *pad, GstElement *element,
    GstBuffer *buffer, GError **error)
{
  const guint n = gst_buffer_n_memory (buffer);
  const gint index = self->get_index (element);
  GstMemory *memory;
  GstBuffer *one;

  if (!self->flexible && n != self->n_tensors) {
    *error = new_error ("A buffer has %u memories, but its caps say %u "
                        "tensors: each tensor must have a memory of its own",
        n, self->n_tensors);
    return NULL;
  }
  if (!tensors_check_index (index, n, error))
    return NULL;
  memory = gst_buffer_peek_memory (buffer, MAX (index, 0));
  if (self->flexible)
    memory = open_flexible (self, pad, memory, error);
  else
    gst_memory_ref (memory);
  if (!memory)
    return NULL;
  one = copy_without_memory (buffer);
  gst_buffer_append_memory (one, memory);
  return one;
}

/* Replaces a buffer, which is taken. NULL after an error. */
static GstBuffer *
tensors_replace (GstNdTensors *self, GstPad *pad, GstElement *element,
    GstBuffer *buffer)
{
  g_autoptr (GError) error = NULL;
  GstBuffer *one = take_tensor (self, pad, element, buffer, &error);

  if (!one)
    self->fail (element, error);
  gst_buffer_unref (buffer);
  return one;
}

/* Events that must not overtake caps, which are not known before the first
 * flexible buffer. The pad has them already: it refuses buffers without. */
static GstPadProbeReturn
hold_event (GstNdTensors *self, GstPad *pad, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      return GST_PAD_PROBE_OK;
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_EOS:
      g_queue_clear_full (&self->held, (GDestroyNotify) gst_event_unref);
      return GST_PAD_PROBE_OK;
    default:
      break;
  }
  if (GST_EVENT_IS_STICKY (event))
    gst_pad_store_sticky_event (pad, event);
  g_queue_push_tail (&self->held, event);
  return GST_PAD_PROBE_HANDLED;
}

static GstPadProbeReturn
tensors_probe (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstNdTensors *self = data;
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  GstBuffer *one;

  if (!element)
    return GST_PAD_PROBE_OK;
  if (info->type
      & (GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
          | GST_PAD_PROBE_TYPE_EVENT_FLUSH)) {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

    /* FLUSH_START, for example, comes on another thread. */
    if (!GST_EVENT_IS_SERIALIZED (event))
      return GST_PAD_PROBE_OK;
    if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
      return take_caps (self, pad, element, info);
    return self->flexible && !self->caps ? hold_event (self, pad, event)
                                         : GST_PAD_PROBE_OK;
  }
  if (self->n_tensors == 0 && !self->flexible)
    return GST_PAD_PROBE_OK;
  one = tensors_replace (self, pad, element, GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_DATA (info) = one;
  if (one)
    return GST_PAD_PROBE_OK;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  return GST_PAD_PROBE_HANDLED;
}

void
gst_nd_tensors_install (GstNdTensors *self, GstPad *pad)
{
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH
          | GST_PAD_PROBE_TYPE_BUFFER,
      tensors_probe, self, NULL);
}

void
gst_nd_tensors_clear (GstNdTensors *self)
{
  tensors_forget (self);
}

/* Caps of the one tensor that the element sees of a stream of @s. */
static GstCaps *
one_of (const GstNdTensors *self, GstElement *element, const GstStructure *s)
{
  GstStructure *one;

  if (!is_flexible (s))
    return select_tensor (s, MAX (self->get_index (element), 0));
  one = gst_structure_copy (s);
  gst_structure_set (one, "format", G_TYPE_STRING, "static", "num_tensors",
      G_TYPE_INT, 1, NULL);
  gst_structure_remove_fields (one, "types", "dimensions", NULL);
  return gst_caps_new_full (one, NULL);
}

GstCaps *
gst_nd_tensors_select (const GstNdTensors *self, GstElement *element,
    const GstCaps *caps)
{
  g_autoptr (GstCaps) several =
      gst_caps_from_string (GST_ND_SEVERAL_TENSORS_CAPS);
  GstCaps *selected = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);

    if (gst_caps_is_subset (one, several)) {
      g_autoptr (GstCaps) from = one;

      one = one_of (self, element, gst_caps_get_structure (from, 0));
    }
    gst_caps_append (selected, one);
  }
  return selected;
}

GstCaps *
gst_nd_tensors_extend (GstCaps *caps)
{
  gboolean has_tensors = FALSE;

  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    has_tensors |= gst_structure_has_name (gst_caps_get_structure (caps, i),
        "other/tensors");
  if (!has_tensors)
    return caps;
  caps = gst_caps_make_writable (caps);
  gst_caps_append (caps, gst_caps_from_string (GST_ND_SEVERAL_TENSORS_CAPS));
  return caps;
}
