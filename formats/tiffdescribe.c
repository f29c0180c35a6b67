/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffdescribe.h"

#include "formats/rate.h"
#include "formats/tiffbuild.h"

#define SMALL_SPACING 0.01 /* mm; smaller ones are written in micrometres */

#define IMAGEJ_ROOM 496
#define OME_ROOM 1280
#define CHANNEL_ROOM 64

gdouble
nd_tiff_unit (const NdGeometry *geometry)
{
  return geometry->spacing[0] < SMALL_SPACING ? 1e-3 : 1;
}

gsize
nd_tiff_description_room (gsize channels, gboolean ome)
{
  return ome ? OME_ROOM + CHANNEL_ROOM * channels : IMAGEJ_ROOM;
}

/* key@between@number@after */
static void
append_key (GString *text, const gchar *key, const gchar *between,
    gdouble value, const gchar *after)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%s%s%s", key, between,
      g_ascii_dtostr (number, sizeof (number), value), after);
}

/* https://imagej.net/ij/source/ij/io/FileSaver.java */
static void
describe_imagej (GString *text, const NdRecording *recording, gsize channels,
    gdouble interval)
{
  const NdGeometry *geometry = &recording->geometry;
  const gsize z = recording->shape.size[2];

  g_string_append_printf (text, "ImageJ=1.53t\nimages=%" G_GUINT64_FORMAT "\n",
      recording->volumes * z * channels);
  if (channels > 1)
    g_string_append_printf (text, "channels=%" G_GSIZE_FORMAT "\n", channels);
  g_string_append_printf (text,
      "slices=%" G_GSIZE_FORMAT "\nframes=%" G_GUINT64_FORMAT "\n", z,
      recording->volumes);
  if (channels > 1 || (z > 1 && recording->volumes > 1))
    g_string_append (text, "hyperstack=true\n");
  g_string_append (text, "mode=grayscale\nloop=false\n");
  if (geometry->known) {
    const gdouble unit = nd_tiff_unit (geometry);

    g_string_append_printf (text, "unit=%s\n", unit == 1 ? "mm" : "um");
    append_key (text, "spacing", "=", geometry->spacing[2] / unit, "\n");
  }
  if (interval > 0) {
    append_key (text, "finterval", "=", interval, "\n");
    append_key (text, "fps", "=", 1 / interval, "\n");
  }
}

/* https://docs.openmicroscopy.org/ome-model/ */
static void
describe_ome (GString *text, const NdRecording *recording, gsize channels,
    gdouble interval)
{
  static const gchar *const types[ND_STREAM_TYPES] = { [ND_UINT8] = "uint8",
    [ND_INT8] = "int8",
    [ND_UINT16] = "uint16",
    [ND_INT16] = "int16",
    [ND_UINT32] = "uint32",
    [ND_INT32] = "int32",
    [ND_FLOAT32] = "float",
    [ND_FLOAT64] = "double" };
  static const gchar *const sizes[] = { " PhysicalSizeX", " PhysicalSizeY",
    " PhysicalSizeZ" };
  const NdGeometry *geometry = &recording->geometry;
  const NdShape *shape = &recording->shape;

  g_string_append_printf (text,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\">"
      "<Image ID=\"Image:0\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" "
      "Type=\"%s\" BigEndian=\"%s\" SizeX=\"%" G_GSIZE_FORMAT
      "\" SizeY=\"%" G_GSIZE_FORMAT "\" SizeC=\"%" G_GSIZE_FORMAT
      "\" SizeZ=\"%" G_GSIZE_FORMAT "\" SizeT=\"%" G_GUINT64_FORMAT "\"",
      types[recording->type],
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "false" : "true", shape->size[0],
      shape->size[1], shape->components, shape->size[2], recording->volumes);
  for (guint a = 0; a < 3 && geometry->known; a++) {
    const gdouble unit = nd_tiff_unit (geometry);

    append_key (text, sizes[a], "=\"", geometry->spacing[a] / unit, "\"");
    g_string_append_printf (text, "%sUnit=\"%s\"", sizes[a],
        unit == 1 ? "mm" : "\302\265m");
  }
  if (interval > 0)
    append_key (text, " TimeIncrement", "=\"", interval,
        "\" TimeIncrementUnit=\"s\"");
  g_string_append (text, ">");
  for (gsize c = 0; c < channels; c++)
    g_string_append_printf (text,
        "<Channel ID=\"Channel:0:%" G_GSIZE_FORMAT
        "\" SamplesPerPixel=\"%" G_GSIZE_FORMAT "\"/>",
        c, shape->components / channels);
  g_string_append_printf (text,
      "<TiffData IFD=\"0\" PlaneCount=\"%" G_GUINT64_FORMAT
      "\"/></Pixels></Image></OME>",
      recording->volumes * shape->size[2] * channels);
}

GString *
nd_tiff_describe (const NdRecording *recording, const NdMetadata *metadata,
    gboolean ome)
{
  const gdouble interval =
      nd_rate_interval (recording->rate_n, recording->rate_d, metadata->times);
  const gsize channels = nd_tiff_planes (recording, metadata);
  GString *text = g_string_new (NULL);

  if (ome)
    describe_ome (text, recording, channels, interval);
  else
    describe_imagej (text, recording, channels, interval);
  return text;
}
