/* Assembles volumes from the samples of messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlassembly.h"

#include "core/error.h"
#include "gst/base/gstndpool.h"
#include "live/image.h"

#include <string.h>

struct _GstNdIgtlAssembly
{
  GstBuffer *buffer; /* the volume, mapped; or NULL */
  GstMapInfo map;
  guint8 *scratch; /* samples of a subvolume, for a copy to their place */
  gsize scratch_size;
  gboolean receiving; /* samples are on their way */
  NdIgtlSubvolumes *subvolumes;
};

GstNdIgtlAssembly *
gst_nd_igtl_assembly_new (void)
{
  GstNdIgtlAssembly *assembly = g_new0 (GstNdIgtlAssembly, 1);

  assembly->subvolumes = nd_igtl_subvolumes_new ();
  return assembly;
}

static void
igtl_assembly_drop_buffer (GstNdIgtlAssembly *assembly)
{
  if (assembly->buffer)
    gst_buffer_unmap (assembly->buffer, &assembly->map);
  gst_clear_buffer (&assembly->buffer);
}

void
gst_nd_igtl_assembly_free (GstNdIgtlAssembly *assembly)
{
  igtl_assembly_drop_buffer (assembly);
  nd_igtl_subvolumes_free (assembly->subvolumes);
  g_free (assembly->scratch);
  g_free (assembly);
}

static gboolean
igtl_assembly_new_buffer (GstNdIgtlAssembly *assembly, GstBufferPool *pool,
    gsize size)
{
  GstBufferPoolAcquireParams params = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
  };
  GstBuffer *buffer = NULL;

  if (pool
      && gst_buffer_pool_acquire_buffer (pool, &buffer, &params) != GST_FLOW_OK)
    buffer = NULL;
  if (!buffer && !(buffer = gst_nd_buffer_new (size)))
    return FALSE;
  if (!gst_buffer_map (buffer, &assembly->map, GST_MAP_WRITE)) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  assembly->buffer = buffer;
  return TRUE;
}

static guint8 *
get_scratch (GstNdIgtlAssembly *assembly, gsize size)
{
  if (size > assembly->scratch_size) {
    g_free (assembly->scratch);
    assembly->scratch = g_try_malloc (size);
    assembly->scratch_size = assembly->scratch ? size : 0;
  }
  return assembly->scratch;
}

static void
begin_anew (GstNdIgtlAssembly *assembly, gboolean *lost)
{
  *lost = nd_igtl_subvolumes_pending (assembly->subvolumes);
  nd_igtl_subvolumes_reset (assembly->subvolumes);
  igtl_assembly_drop_buffer (assembly);
}

guint8 *
gst_nd_igtl_assembly_begin (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, GstBufferPool *pool, gboolean *lost)
{
  const gsize size = nd_igtl_image_subvolume_size (image);

  *lost = FALSE;
  assembly->receiving = TRUE;
  if (!nd_igtl_image_is_whole (image))
    return get_scratch (assembly, size);
  /* Whole volumes need no such memory, and may be as large as the limit. */
  g_clear_pointer (&assembly->scratch, g_free);
  assembly->scratch_size = 0;
  begin_anew (assembly, lost);
  return igtl_assembly_new_buffer (assembly, pool, size) ? assembly->map.data
                                                         : NULL;
}

static gsize
sample_size (const NdIgtlImage *image)
{
  return nd_igtl_scalar_size (image->scalar) * image->components;
}

static void
to_native (const NdIgtlImage *image, guint8 *samples)
{
  nd_igtl_samples_to_native (samples, image->scalar, image->big_endian,
      nd_igtl_image_subvolume_size (image)
          / nd_igtl_scalar_size (image->scalar));
}

static GstNdIgtlAssembled
igtl_assembly_complete (GstNdIgtlAssembly *assembly, GstBuffer **volume)
{
  gst_buffer_unmap (assembly->buffer, &assembly->map);
  *volume = g_steal_pointer (&assembly->buffer);
  return GST_ND_IGTL_COMPLETE;
}

GstNdIgtlAssembled
gst_nd_igtl_assembly_end (GstNdIgtlAssembly *assembly, const NdIgtlImage *image,
    guint64 timestamp, GstBufferPool *pool, GstBuffer **volume, gboolean *lost)
{
  NdIgtlSubvolume result;

  *lost = assembly->receiving = FALSE;
  if (nd_igtl_image_is_whole (image)) {
    to_native (image, assembly->map.data);
    return igtl_assembly_complete (assembly, volume);
  }
  result = nd_igtl_subvolumes_add (assembly->subvolumes, image, timestamp);
  if (result == ND_IGTL_SUBVOLUME_ANEW) {
    begin_anew (assembly, lost);
    result = nd_igtl_subvolumes_add (assembly->subvolumes, image, timestamp);
  }
  if (!assembly->buffer
      && !igtl_assembly_new_buffer (assembly, pool,
          nd_igtl_image_volume_size (image))) {
    nd_igtl_subvolumes_reset (assembly->subvolumes);
    return GST_ND_IGTL_NO_MEMORY;
  }
  to_native (image, assembly->scratch);
  nd_igtl_subvolumes_copy (image, sample_size (image), assembly->map.data,
      assembly->scratch);
  return result == ND_IGTL_SUBVOLUME_COMPLETE
      ? igtl_assembly_complete (assembly, volume)
      : GST_ND_IGTL_SUBVOLUME;
}

void
gst_nd_igtl_assembly_refuse (GstNdIgtlAssembly *assembly)
{
  assembly->receiving = FALSE;
  if (!nd_igtl_subvolumes_pending (assembly->subvolumes))
    igtl_assembly_drop_buffer (assembly);
}

gboolean
gst_nd_igtl_assembly_is_pending (const GstNdIgtlAssembly *assembly)
{
  return assembly->receiving || assembly->buffer != NULL;
}

/* Chooses among devices, and says which ones there are.
 */

#define NAMES_MAX 64
#define PATIENCE (5 * G_TIME_SPAN_SECOND)

void
gst_nd_igtl_devices_init (GstNdIgtlDevices *devices, const gchar *chosen)
{
  *devices = (GstNdIgtlDevices){ .chosen = *chosen ? g_strdup (chosen) : NULL,
    .names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
}

void
gst_nd_igtl_devices_clear (GstNdIgtlDevices *devices)
{
  g_hash_table_unref (devices->names);
  g_free (devices->chosen);
}

gboolean
gst_nd_igtl_devices_is_wanted (GstNdIgtlDevices *devices, const gchar *name)
{
  if (g_hash_table_size (devices->names) < NAMES_MAX
      || g_hash_table_contains (devices->names, name))
    g_hash_table_insert (devices->names, g_strdup (name),
        GUINT_TO_POINTER (devices->n_waits));
  if (!devices->chosen)
    devices->chosen = g_strdup (name);
  return strcmp (devices->chosen, name) == 0;
}

void
gst_nd_igtl_devices_wait (GstNdIgtlDevices *devices)
{
  if (devices->waiting != 0)
    return;
  devices->waiting = g_get_monotonic_time ();
  devices->n_waits++;
}

void
gst_nd_igtl_devices_end_wait (GstNdIgtlDevices *devices)
{
  devices->waiting = 0;
  devices->told = FALSE;
}

gint64
gst_nd_igtl_devices_deadline (const GstNdIgtlDevices *devices)
{
  return devices->waiting == 0 || devices->told ? 0
                                                : devices->waiting + PATIENCE;
}

/* The names of the devices that came in wait @first or later. */
static gchar *
igtl_assembly_list (const GstNdIgtlDevices *devices, guint first)
{
  g_autoptr (GList) names = g_hash_table_get_keys (devices->names);
  GString *text = g_string_new (NULL);

  names = g_list_sort (names, (GCompareFunc) strcmp);
  for (GList *link = names; link; link = link->next) {
    const gpointer wait = g_hash_table_lookup (devices->names, link->data);

    if (GPOINTER_TO_UINT (wait) >= first)
      g_string_append_printf (text, text->len ? ", \"%s\"" : "\"%s\"",
          (const gchar *) link->data);
  }
  return g_string_free (text, FALSE);
}

gchar *
gst_nd_igtl_devices_list (const GstNdIgtlDevices *devices)
{
  return igtl_assembly_list (devices, 0);
}

static gboolean
igtl_assembly_came (const GstNdIgtlDevices *devices, const gchar *name)
{
  const gpointer wait = g_hash_table_lookup (devices->names, name);

  return GPOINTER_TO_UINT (wait) == devices->n_waits;
}

GError *
gst_nd_igtl_devices_tell (GstNdIgtlDevices *devices)
{
  const gchar *chosen = devices->chosen;
  g_autofree gchar *names = igtl_assembly_list (devices, devices->n_waits);

  devices->told = TRUE;
  if (chosen && igtl_assembly_came (devices, chosen))
    return g_error_new (ND_ERROR, ND_ERROR_NOT_FOUND,
        "No whole volume of device \"%s\" arrived in 5 s, although its "
        "messages began to: bytes-received, crc-errors, messages-refused and "
        "volumes-incomplete in stats tell why",
        chosen);
  if (*names)
    return g_error_new (ND_ERROR, ND_ERROR_NOT_FOUND,
        "No IMAGE of device \"%s\" arrived in 5 s, only those of %s: set "
        "device-name to one of these, or leave it empty for the first device",
        chosen, names);
  return g_error_new (ND_ERROR, ND_ERROR_NOT_FOUND,
      "No IMAGE arrived in 5 s: the peer must send IMAGE messages; see whether "
      "its source of images runs");
}

/* Keeps the last field of each key until a volume takes them.
 */

#define FIELDS_MAX 256
#define KEY_MAX 255
#define VALUE_MAX 65536

void
gst_nd_igtl_waiting_init (GstNdIgtlWaiting *waiting)
{
  *waiting = (GstNdIgtlWaiting){ g_hash_table_new_full (g_str_hash, g_str_equal,
      g_free, g_free) };
}

void
gst_nd_igtl_waiting_clear (GstNdIgtlWaiting *waiting)
{
  g_hash_table_unref (waiting->texts);
}

void
gst_nd_igtl_waiting_add (GstNdIgtlWaiting *waiting, const gchar *key,
    const gchar *value)
{
  waiting->arrived++;
  if (strlen (key) > KEY_MAX || strlen (value) > VALUE_MAX
      || (g_hash_table_size (waiting->texts) == FIELDS_MAX
          && !g_hash_table_contains (waiting->texts, key)))
    waiting->dropped++;
  else if (!g_hash_table_insert (waiting->texts, g_strdup (key),
               g_strdup (value)))
    waiting->superseded++;
}

static void
clear_text (gpointer data)
{
  GstNdIgtlText *text = data;

  g_free (text->key);
  g_free (text->value);
}

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (((const GstNdIgtlText *) a)->key,
      ((const GstNdIgtlText *) b)->key);
}

GArray *
gst_nd_igtl_waiting_steal (GstNdIgtlWaiting *waiting)
{
  GArray *texts = g_array_new (FALSE, FALSE, sizeof (GstNdIgtlText));
  GHashTableIter iter;
  GstNdIgtlText text;

  g_array_set_clear_func (texts, clear_text);
  g_hash_table_iter_init (&iter, waiting->texts);
  while (g_hash_table_iter_next (&iter, (gpointer *) &text.key,
      (gpointer *) &text.value)) {
    g_hash_table_iter_steal (&iter);
    g_array_append_val (texts, text);
  }
  g_array_sort (texts, compare_texts);
  return texts;
}
