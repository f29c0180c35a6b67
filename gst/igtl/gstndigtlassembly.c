/* Assembles volumes from the samples of messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlassembly.h"

#include "gst/base/gstndpool.h"
#include "live/samples.h"
#include "live/volume.h"

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
drop_buffer (GstNdIgtlAssembly *assembly)
{
  if (assembly->buffer)
    gst_buffer_unmap (assembly->buffer, &assembly->map);
  gst_clear_buffer (&assembly->buffer);
}

void
gst_nd_igtl_assembly_free (GstNdIgtlAssembly *assembly)
{
  drop_buffer (assembly);
  nd_igtl_subvolumes_free (assembly->subvolumes);
  g_free (assembly->scratch);
  g_free (assembly);
}

static gboolean
new_buffer (GstNdIgtlAssembly *assembly, GstBufferPool *pool, gsize size)
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
  drop_buffer (assembly);
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
  return new_buffer (assembly, pool, size) ? assembly->map.data : NULL;
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
complete (GstNdIgtlAssembly *assembly, GstBuffer **volume)
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
    return complete (assembly, volume);
  }
  result = nd_igtl_subvolumes_add (assembly->subvolumes, image, timestamp);
  if (result == ND_IGTL_SUBVOLUME_ANEW) {
    begin_anew (assembly, lost);
    result = nd_igtl_subvolumes_add (assembly->subvolumes, image, timestamp);
  }
  if (!assembly->buffer
      && !new_buffer (assembly, pool, nd_igtl_image_volume_size (image))) {
    nd_igtl_subvolumes_reset (assembly->subvolumes);
    return GST_ND_IGTL_NO_MEMORY;
  }
  to_native (image, assembly->scratch);
  nd_igtl_subvolumes_copy (image, sample_size (image), assembly->map.data,
      assembly->scratch);
  return result == ND_IGTL_SUBVOLUME_COMPLETE ? complete (assembly, volume)
                                              : GST_ND_IGTL_SUBVOLUME;
}

void
gst_nd_igtl_assembly_refuse (GstNdIgtlAssembly *assembly)
{
  assembly->receiving = FALSE;
  if (!nd_igtl_subvolumes_pending (assembly->subvolumes))
    drop_buffer (assembly);
}

gboolean
gst_nd_igtl_assembly_is_pending (const GstNdIgtlAssembly *assembly)
{
  return assembly->receiving || assembly->buffer != NULL;
}
