/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/fileconvert.h"

#include "core/convert.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/printable.h"
#include "filters/axes.h"
#include "filters/units.h"
#include "formats/target.h"

#include <math.h>
#include <string.h>

/* Of rates, as of 59.94005994 for 60000/1001. */
#define RATE_ROUNDING 1e-11

/* In nanoseconds they fit in gint64. */
#define SECONDS_MAX 9.2e9

typedef struct
{
  NdRecording in, out;
  guint64 begin[4], end[4]; /* along x, y, z, t of the input */
  guint from[3];            /* the axis of the input that axis a becomes */
  gboolean flip[3];
  guint64 rounded; /* samples that the new type cannot hold as they are */
} Copy;

static gboolean
file_convert_refuse (GError **error, const gchar *option, const gchar *text,
    const gchar *must)
{
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "--%s is %s; it must be %s",
      option, text, must);
  return FALSE;
}

/* A number up to @stop, or @missing if there is none. */
static gboolean
file_convert_read_number (const gchar **at, gchar stop, guint64 missing,
    guint64 *number)
{
  gchar *end;

  *number = missing;
  if (g_ascii_isdigit (**at)) {
    *number = g_ascii_strtoull (*at, &end, 10);
    *at = end;
  }
  return **at == stop || (stop == ',' && **at == '\0');
}

static gboolean
read_crop (Copy *copy, const gchar *text, GError **error)
{
  static const gchar must[] =
      "ranges along x, y, z and t, as 10:20,:,5: (from, to and without the "
      "last number), within the recording";
  const gchar *at = text;

  for (guint a = 0; a < 4; a++) {
    const guint64 n = copy->end[a];

    if (!file_convert_read_number (&at, ':', 0, &copy->begin[a]))
      return file_convert_refuse (error, "crop", text, must);
    at++;
    if (!file_convert_read_number (&at, ',', n, &copy->end[a])
        || copy->begin[a] >= copy->end[a] || copy->end[a] > n)
      return file_convert_refuse (error, "crop", text, must);
    if (*at == '\0')
      return TRUE;
    at++;
  }
  return file_convert_refuse (error, "crop", text, must);
}

static gboolean
file_convert_read_axes (Copy *copy, const gchar *text, GError **error)
{
  const gchar *at = text;
  guint seen = 0;

  for (guint a = 0; a < 3; a++) {
    copy->flip[a] = *at == '-';
    at += *at == '-';
    if (*at < 'x' || *at > 'z')
      break;
    copy->from[a] = *at++ - 'x';
    seen |= 1 << copy->from[a];
  }
  return (seen == 7 && *at == '\0')
      || file_convert_refuse (error, "axes", text,
          "x, y and z in the order of the copy, each with a minus if it is "
          "reversed, as yxz or x-yz");
}

/* The fraction of the smallest numbers that is @value but for rounding: a
 * convergent of its continued fraction. FALSE if no two gint make it. */
static gboolean
file_convert_find_fraction (gdouble value, gint64 *n, gint64 *d)
{
  gint64 before[2] = { 0, 1 };
  gdouble rest = value;

  *n = 1;
  *d = 0;
  while (rest <= G_MAXINT) {
    const gint64 whole = rest, from[2] = { *n, *d };

    *n = whole * *n + before[0];
    *d = whole * *d + before[1];
    if (*n > G_MAXINT || *d > G_MAXINT)
      return FALSE;
    if (fabs ((gdouble) *n / *d - value) <= RATE_ROUNDING * value)
      return TRUE;
    memcpy (before, from, sizeof (before));
    rest = 1 / (rest - whole);
  }
  return FALSE;
}

static gboolean
read_rate (Copy *copy, const gchar *text, GError **error)
{
  NdAxes axes = { 1, { ND_AXIS_T } };
  gchar *end;
  gdouble value;
  gint64 n, d = 1;

  if (!nd_axes_set_steps (&axes, NULL, text, error)) {
    g_prefix_error (error, "--");
    return FALSE;
  }
  value = g_ascii_strtod (text, &end);
  if (*end == '/')
    value /= g_ascii_strtod (end + 1, NULL);
  n = g_ascii_strtoll (text, &end, 10);
  if (*end == '/')
    d = g_ascii_strtoll (end + 1, &end, 10);
  if ((*end != '\0' || n > G_MAXINT || d > G_MAXINT || n < 1 || d < 1)
      && !file_convert_find_fraction (value, &n, &d))
    return file_convert_refuse (error, "rate", text,
        "a fraction of two numbers up to 2147483647, as 20, 29.97 or "
        "30000/1001");
  if ((gdouble) copy->in.volumes * d / n >= SECONDS_MAX)
    return file_convert_refuse (error, "rate", text,
        "so high that the recording takes less than 292 years");
  copy->in.rate_n = n;
  copy->in.rate_d = d;
  return TRUE;
}

static gboolean
read_conversion (Copy *copy, const NdConversion *conversion, GError **error)
{
  NdGeometry *geometry = &copy->in.geometry;
  gdouble spacing[3];

  if (conversion->type
      && !nd_sample_from_name (conversion->type, &copy->out.type))
    return file_convert_refuse (error, "type", conversion->type,
        "uint8, int8, uint16, int16, uint32, int32, float16, float32 or "
        "float64");
  if (conversion->spacing) {
    if (!nd_units_parse_spacing (conversion->spacing, spacing))
      return file_convert_refuse (error, "spacing", conversion->spacing,
          "1 to 3 numbers above 0, in mm or with a unit, as 0.3um:0.3um:1um");
    for (guint a = 0; a < 9 && !geometry->known; a++)
      geometry->directions[a] = a % 4 == 0;
    memcpy (geometry->spacing, spacing, sizeof (spacing));
    geometry->known = TRUE;
  }
  return (!conversion->rate || read_rate (copy, conversion->rate, error))
      && (!conversion->crop || read_crop (copy, conversion->crop, error))
      && (!conversion->axes
          || file_convert_read_axes (copy, conversion->axes, error));
}

/* Size and geometry of the copy. The first sample of a reversed axis is the
 * last one of the range. */
static void
set_output (Copy *copy)
{
  const NdGeometry *in = &copy->in.geometry;
  NdGeometry *out = &copy->out.geometry;

  *out = *in;
  for (guint a = 0; a < 3; a++) {
    const guint s = copy->from[a];
    const guint64 first = copy->flip[a] ? copy->end[s] - 1 : copy->begin[s];

    copy->out.shape.size[a] = copy->end[s] - copy->begin[s];
    out->spacing[a] = in->spacing[s];
    for (guint row = 0; row < 3; row++) {
      const gdouble direction = in->directions[3 * row + s];

      out->directions[3 * row + a] = copy->flip[a] ? -direction : direction;
      out->origin[row] += direction * in->spacing[s] * first;
    }
  }
  copy->out.rate_n = copy->in.rate_n;
  copy->out.rate_d = copy->in.rate_d;
  copy->out.volumes = copy->end[3] - copy->begin[3];
  copy->out.offset = 0;
}

/* Copies the range of a volume, and turns it, in the type of the input. */
static void
file_convert_turn (const Copy *copy, const guint8 *in, guint8 *out)
{
  const gsize width =
      copy->in.shape.components * nd_sample_size (copy->in.type);
  const gsize *sizes = copy->in.shape.size;
  const gsize *n = copy->out.shape.size;
  const gsize strides[3] = { width, width * sizes[0],
    width * sizes[0] * sizes[1] };
  gssize step[3];
  gsize first = 0;

  for (guint a = 0; a < 3; a++) {
    const guint s = copy->from[a];

    step[a] = copy->flip[a] ? -(gssize) strides[s] : (gssize) strides[s];
    first += (copy->flip[a] ? copy->end[s] - 1 : copy->begin[s]) * strides[s];
  }
  for (guint k = 0; k < copy->in.responses; k++) {
    for (gsize z = 0; z < n[2]; z++) {
      for (gsize y = 0; y < n[1]; y++) {
        const guint8 *from =
            in + first + (gssize) z * step[2] + (gssize) y * step[1];

        if (step[0] == (gssize) width)
          memcpy (out, from, n[0] * width);
        for (gsize x = 0; x < n[0] && step[0] != (gssize) width; x++)
          memcpy (out + x * width, from + (gssize) x * step[0], width);
        out += n[0] * width;
      }
    }
    in += strides[2] * sizes[2];
  }
}

/* Integers are rounded half to even and saturated, and NaN becomes 0. */
#define STORE(TYPE, LOW, HIGH)                                        \
  ((TYPE *) to)[i] =                                                  \
      isnan (value) ? 0 : (TYPE) CLAMP (rint (value), (LOW), (HIGH)); \
  break

static void
file_convert_store (gpointer to, gsize i, NdSampleType type, gdouble value)
{
  switch (type) {
    case ND_UINT8:
      STORE (guint8, 0, G_MAXUINT8);
    case ND_INT8:
      STORE (gint8, G_MININT8, G_MAXINT8);
    case ND_UINT16:
      STORE (guint16, 0, G_MAXUINT16);
    case ND_INT16:
      STORE (gint16, G_MININT16, G_MAXINT16);
    case ND_UINT32:
      STORE (guint32, 0, G_MAXUINT32);
    case ND_INT32:
      STORE (gint32, G_MININT32, G_MAXINT32);
    case ND_FLOAT16:
      ((guint16 *) to)[i] = nd_float_to_half (value);
      break;
    case ND_FLOAT32:
      ((gfloat *) to)[i] = value;
      break;
    default:
      ((gdouble *) to)[i] = value;
  }
}

static void
change_type (Copy *copy, const guint8 *in, gsize n, guint8 *out)
{
  const NdSampleType type = copy->out.type;

  for (gsize i = 0; i < n; i++) {
    const gdouble value = nd_sample_value (in, i, copy->in.type);
    gdouble stored;

    file_convert_store (out, i, type, value);
    stored = nd_sample_value (out, i, type);
    copy->rounded += stored != value && !(isnan (stored) && isnan (value));
  }
}

static void
file_convert_warn (const gchar *text)
{
  g_autofree gchar *message = nd_message_text (text);

  g_printerr ("ndconv-file: warning: %s\n", message);
}

/* The metadata of the copy, without what says where the samples were. */
static NdMetadata *
make_metadata (const Copy *copy, const NdMetadata *source,
    const NdConversion *conversion)
{
  static const gchar *const places[] = { "NIfTI.qform", "NIfTI.sform_code",
    "AnatomicalOrientation", NULL };
  NdMetadata *metadata =
      nd_metadata_slice (source, copy->begin[3], copy->end[3], 1);
  NdField *fields = (NdField *) metadata->fields->data;
  guint kept = 0;

  if (conversion->rate)
    nd_list_set_size (metadata->times, 0);
  if (!conversion->crop && !conversion->axes && !conversion->spacing)
    return metadata;
  for (guint i = 0; i < metadata->fields->len; i++) {
    if (!g_strv_contains (places, fields[i].key))
      fields[kept++] = fields[i];
  }
  nd_list_set_size (metadata->fields, kept);
  return metadata;
}

static gboolean
file_convert_has_times (NdReader *reader)
{
  return nd_reader_recording (reader)->rate_n > 0
      || nd_reader_metadata (reader)->times->len > 0;
}

/* Nanoseconds from the first volume of the copy, or -1. */
static gint64
find_time (const Copy *copy, NdReader *reader, guint64 volume,
    const NdConversion *conversion)
{
  if (conversion->rate)
    return (volume - copy->begin[3]) * 1e9 * copy->in.rate_d / copy->in.rate_n;
  return file_convert_has_times (reader) ? nd_reader_time (reader, volume)
          - nd_reader_time (reader, copy->begin[3])
                                         : -1;
}

static gboolean
copy_volumes (Copy *copy, NdReader *reader, NdWriter *writer,
    const NdConversion *conversion, GError **error)
{
  const gsize in = nd_recording_volume_size (&copy->in);
  const gsize out = nd_recording_volume_size (&copy->out);
  const gsize samples = out / nd_sample_size (copy->out.type);
  const gsize turned = samples * nd_sample_size (copy->in.type);
  g_autofree guint8 *read = g_try_malloc (in);
  g_autofree guint8 *part = g_try_malloc (turned);
  g_autofree guint8 *converted = g_try_malloc (out);

  if (!read || !part || !converted) {
    nd_memory_set_error (error, in + turned + out);
    return FALSE;
  }
  if (!nd_reader_seek (reader, copy->begin[3], error))
    return FALSE;
  for (guint64 v = copy->begin[3]; v < copy->end[3]; v++) {
    const guint8 *volume = part;

    if (!nd_reader_read (reader, read, error))
      return FALSE;
    file_convert_turn (copy, read, part);
    if (copy->in.type != copy->out.type) {
      change_type (copy, part, samples, converted);
      volume = converted;
    }
    if (!nd_writer_write (writer, volume,
            find_time (copy, reader, v, conversion), error))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_recording_convert (NdReader *reader, const gchar *path,
    const NdConversion *conversion, GError **error)
{
  const NdRecording *recording = nd_reader_recording (reader);
  Copy copy = { .in = *recording,
    .out = *recording,
    .end = { recording->shape.size[0], recording->shape.size[1],
        recording->shape.size[2], recording->volumes },
    .from = { 0, 1, 2 } };
  g_autoptr (NdMetadata) metadata = NULL;
  g_autoptr (NdWriter) writer = NULL;

  if (!nd_target_check_ending (path, error)
      || !read_conversion (&copy, conversion, error))
    return FALSE;
  set_output (&copy);
  for (const gchar *const *text = nd_reader_warnings (reader); *text; text++)
    file_convert_warn (*text);
  metadata = make_metadata (&copy, nd_reader_metadata (reader), conversion);
  writer = nd_writer_open (path, conversion->compress, error);
  if (!writer || !nd_writer_begin (writer, &copy.out, error))
    return FALSE;
  nd_writer_set_source (writer, metadata, copy.out.volumes);
  if (!copy_volumes (&copy, reader, writer, conversion, error)
      || !nd_writer_finish (writer, error))
    return FALSE;
  if (nd_writer_warning (writer))
    file_convert_warn (nd_writer_warning (writer));
  if (copy.rounded > 0) {
    g_autofree gchar *text =
        g_strdup_printf ("%" G_GUINT64_FORMAT " samples are no numbers of %s "
                         "and were rounded or limited",
            copy.rounded, nd_sample_name (copy.out.type));

    file_convert_warn (text);
  }
  return TRUE;
}

/* Messages of ndconv-file.
 */

gchar *
nd_message_text (const gchar *text)
{
  static const gchar *const names[][2] = {
    { "set volume-size to ", "give --volume-size=" },
    { "which truncated=keep reads", "which --truncated=keep reads" },
    { ": max-memory ", ": --max-memory " },
    { "or max-memory", "or --max-memory" },
  };
  gchar *message = nd_printable (text);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_auto (GStrv) parts = g_strsplit (message, names[i][0], -1);

    g_free (message);
    message = g_strjoinv (names[i][1], parts);
  }
  return message;
}
