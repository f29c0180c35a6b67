/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/frames.h"

#include <string.h>

#define FIN 0x80
#define CONTROL 0x08
#define PING 0x09
#define MASKED 0x80
#define MAX_HEADER 14

struct _WebFrames
{
  GObject parent;

  guint8 header[MAX_HEADER];
  guint in_header;     /* bytes of the header that have arrived */
  gboolean in_payload; /* the header is complete */
  guint64 left;        /* bytes of the payload that have not arrived */

  guint64 bytes; /* of the message, its frames together */
  guint fragments, pings;
  gint64 began; /* 0: no message has begun */
};

static void web_frames_convert_init (GConverterIface *iface);

G_DEFINE_TYPE_WITH_CODE (WebFrames, web_frames, G_TYPE_OBJECT,
    G_IMPLEMENT_INTERFACE (G_TYPE_CONVERTER, web_frames_convert_init))

/* The size of a header, of which at least two bytes are known. */
static guint
header_size (const guint8 *header)
{
  const guint length = header[1] & 0x7f;

  return 2
      + (length == 126        ? 2
              : length == 127 ? 8
                              : 0)
      + (header[1] & MASKED ? 4 : 0);
}

static guint64
payload_size (const guint8 *header)
{
  const guint length = header[1] & 0x7f;
  const guint digits = length == 126 ? 2 : length == 127 ? 8 : 0;
  guint64 size = digits ? 0 : length;

  for (guint i = 0; i < digits; i++)
    size = size << 8 | header[2 + i];
  return size;
}

static void
end_frame (WebFrames *self)
{
  const gboolean control = self->header[0] & CONTROL;

  self->in_header = 0;
  self->in_payload = FALSE;
  if (!control && self->header[0] & FIN)
    self->bytes = self->fragments = 0;
  if (self->fragments == 0)
    self->began = 0;
}

/* A header is complete. FALSE: too much. */
static gboolean
begin_payload (WebFrames *self)
{
  self->left = payload_size (self->header);
  self->in_payload = TRUE;
  if (self->header[0] & CONTROL) {
    if ((self->header[0] & 0x0f) == PING)
      self->pings++;
  } else {
    self->fragments++;
    if (self->left > WEB_MAX_MESSAGE_BYTES)
      return FALSE;
    self->bytes += self->left;
  }
  return self->bytes <= WEB_MAX_MESSAGE_BYTES
      && self->fragments <= WEB_MAX_FRAGMENTS && self->pings <= WEB_MAX_PINGS;
}

static gboolean
web_frames_take (WebFrames *self, const guint8 *bytes, gsize size)
{
  for (gsize i = 0; i < size;) {
    if (!self->in_payload) {
      if (self->began == 0)
        self->began = g_get_monotonic_time ();
      self->header[self->in_header++] = bytes[i++];
      if (self->in_header < 2 || self->in_header < header_size (self->header))
        continue;
      if (!begin_payload (self))
        return FALSE;
    } else {
      const gsize n = MIN (size - i, self->left);

      i += n;
      self->left -= n;
    }
    if (self->left == 0)
      end_frame (self);
  }
  return TRUE;
}

static GConverterResult
web_frames_convert (GConverter *converter, const void *in, gsize in_size,
    void *out, gsize out_size, GConverterFlags flags, gsize *n_read,
    gsize *n_written, GError **error)
{
  WebFrames *self = WEB_FRAMES (converter);
  const gsize n = MIN (in_size, out_size);

  *n_read = *n_written = 0;
  if (n == 0 && flags & G_CONVERTER_INPUT_AT_END)
    return G_CONVERTER_FINISHED;
  if (n == 0) {
    g_set_error_literal (error, G_IO_ERROR,
        in_size ? G_IO_ERROR_NO_SPACE : G_IO_ERROR_PARTIAL_INPUT, "No bytes");
    return G_CONVERTER_ERROR;
  }
  if (!web_frames_take (self, in, n)) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
        "A message of the page is too large");
    return G_CONVERTER_ERROR;
  }
  memcpy (out, in, n);
  *n_read = *n_written = n;
  return G_CONVERTER_CONVERTED;
}

static void
web_frames_reset (GConverter *converter)
{
}

static void
web_frames_convert_init (GConverterIface *iface)
{
  iface->convert = web_frames_convert;
  iface->reset = web_frames_reset;
}

static void
web_frames_class_init (WebFramesClass *klass)
{
}

static void
web_frames_init (WebFrames *self)
{
}

GIOStream *
web_frames_wrap (GIOStream *stream, WebFrames **frames)
{
  WebFrames *self = g_object_new (WEB_TYPE_FRAMES, NULL);
  g_autoptr (GInputStream) input =
      g_converter_input_stream_new (g_io_stream_get_input_stream (stream),
          G_CONVERTER (self));
  GIOStream *wrapped =
      g_simple_io_stream_new (input, g_io_stream_get_output_stream (stream));

  /* The streams alone do not keep the connection. */
  g_object_set_data_full (G_OBJECT (wrapped), "connection",
      g_object_ref (stream), g_object_unref);
  *frames = self;
  return wrapped;
}

gint64
web_frames_unfinished (WebFrames *self)
{
  return self->began;
}

void
web_frames_forgive (WebFrames *self)
{
  self->pings = 0;
}
