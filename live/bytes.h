/* Numbers of OpenIGTLink messages, which are big-endian and not aligned.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <string.h>

#include <glib.h>

static inline guint16
nd_get_u16 (const guint8 *p)
{
  return (guint16) (p[0] << 8 | p[1]);
}

static inline guint32
nd_get_u32 (const guint8 *p)
{
  return (guint32) nd_get_u16 (p) << 16 | nd_get_u16 (p + 2);
}

static inline guint64
nd_get_u64 (const guint8 *p)
{
  return (guint64) nd_get_u32 (p) << 32 | nd_get_u32 (p + 4);
}

static inline gfloat
nd_get_f32 (const guint8 *p)
{
  const guint32 bits = nd_get_u32 (p);
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

static inline gdouble
nd_get_f64 (const guint8 *p)
{
  const guint64 bits = nd_get_u64 (p);
  gdouble value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

static inline void
nd_put_u8 (GByteArray *out, guint8 value)
{
  g_byte_array_append (out, &value, 1);
}

static inline void
nd_put_u16 (GByteArray *out, guint16 value)
{
  value = GUINT16_TO_BE (value);
  g_byte_array_append (out, (const guint8 *) &value, 2);
}

static inline void
nd_put_u32 (GByteArray *out, guint32 value)
{
  value = GUINT32_TO_BE (value);
  g_byte_array_append (out, (const guint8 *) &value, 4);
}

static inline void
nd_put_u64 (GByteArray *out, guint64 value)
{
  value = GUINT64_TO_BE (value);
  g_byte_array_append (out, (const guint8 *) &value, 8);
}

static inline void
nd_put_f32 (GByteArray *out, gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  nd_put_u32 (out, bits);
}

static inline void
nd_put_f64 (GByteArray *out, gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof (bits));
  nd_put_u64 (out, bits);
}

/* Writes a text of @size bytes: padded with 0 if it is shorter, cut if it is
 * longer. */
static inline void
nd_put_text (GByteArray *out, const gchar *text, gsize size)
{
  const gsize length = MIN (strlen (text), size);
  const guint at = out->len;

  g_byte_array_set_size (out, at + size);
  memset (out->data + at, 0, size);
  memcpy (out->data + at, text, length);
}
