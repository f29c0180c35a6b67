/* Messages for tests, built by hand.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/image.h"
#include "live/message.h"

/* Header, content, samples and metadata in one piece. */
static inline GByteArray *
make_message (guint16 version, const gchar *type, const gchar *device,
    const GByteArray *content, gconstpointer samples, gsize samples_size,
    const NdIgtlField *fields, guint n_fields)
{
  const NdIgtlEnvelope envelope = { version, type, device,
    nd_igtl_time_from_ns (G_GUINT64_CONSTANT (1234567890123456789)), 7 };
  GByteArray *head = g_byte_array_new ();
  g_autoptr (GByteArray) tail = g_byte_array_new ();

  nd_igtl_build (&envelope, content, samples, samples_size, fields, n_fields,
      head, tail);
  if (samples)
    g_byte_array_append (head, samples, samples_size);
  g_byte_array_append (head, tail->data, tail->len);
  return head;
}

static inline NdIgtlImage
make_image (gsize x, gsize y, gsize z, guint components, NdIgtlScalar scalar)
{
  return (NdIgtlImage){ .components = components,
    .scalar = scalar,
    .coordinates = ND_IGTL_RAS,
    .size = { x, y, z },
    .matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 },
    .subvolume = { x, y, z } };
}

static inline GByteArray *
make_image_message (guint16 version, const NdIgtlImage *image,
    gconstpointer samples, const NdIgtlField *fields, guint n_fields)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_igtl_image_build (image, content);
  return make_message (version, "IMAGE", "Probe", content, samples,
      nd_igtl_image_subvolume_size (image), fields, n_fields);
}
