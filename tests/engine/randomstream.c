/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/engine/randomstream.h"

#include <string.h>

static gsize
random_size (GRand *r, gsize most)
{
  return g_rand_int_range (r, 1, most + 1);
}

static NdFilter *
random_filter (GRand *r, const gsize size[ND_AXES], const gint *origin)
{
  NdFilter *f = nd_filter_new ("random", size);

  for (guint a = 0; a < ND_AXES; a++)
    f->origin[a] = origin[a];
  for (gsize i = 0; i < nd_filter_count (f); i++)
    f->coefficients[i] = g_rand_int_range (r, -3, 4);
  return f;
}

static NdBank *
random_bank (GRand *r)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  gsize size[ND_AXES] = { random_size (r, 4), random_size (r, 6),
    random_size (r, 6), g_rand_boolean (r) ? 1 : random_size (r, 4) };
  gint origin[ND_AXES];
  const guint n = random_size (r, 3);

  for (guint a = 0; a < ND_AXES; a++)
    origin[a] = g_rand_int_range (r, -(gint) (size[a] / 2),
        ((gint) size[a] - 1) / 2 + 1);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (filters, random_filter (r, size, origin));
  return nd_bank_new (filters);
}

void
stream_init (Stream *s, GRand *r)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_UINT16,
    ND_FLOAT32 };
  static const NdBorder borders[] = { ND_BORDER_CONSTANT, ND_BORDER_NEAREST,
    ND_BORDER_REFLECT, ND_BORDER_MIRROR, ND_BORDER_WRAP };
  const NdSampleType type = types[g_rand_int_range (r, 0, 4)];
  const NdBorder border = borders[g_rand_int_range (r, 0, 5)];
  const NdResponse response =
      g_rand_int_range (r, 0, 4) == 0 ? ND_RESPONSE_MAX : ND_RESPONSE_ALL;

  s->bank = random_bank (r);
  s->settings = (NdConvolverSettings){ .n_planes = random_size (r, 2),
    .time_border = borders[g_rand_int_range (r, 0, 4)],
    .reverse = g_rand_boolean (r),
    .device_id = -1,
    .method = ND_METHOD_DIRECT };
  for (guint p = 0; p < s->settings.n_planes; p++) {
    const NdShape shape = { g_rand_boolean (r) ? 1 : 3,
      { random_size (r, 6), random_size (r, 30),
          g_rand_boolean (r) ? 1 : random_size (r, 30) } };

    s->settings.jobs[p] = (NdJob){ .shape = shape,
      .in_type = type,
      .out_type = ND_FLOAT32,
      .border = border,
      .border_value = 2,
      .bank = s->bank,
      .response = response };
    s->in_row[p] = shape.components * shape.size[0] * nd_sample_size (type)
        + 4 * g_rand_int_range (r, 0, 3);
    s->in_bytes[p] = s->in_row[p] * shape.size[1] * shape.size[2];
    s->out_bytes[p] = shape.components * shape.size[0] * shape.size[1]
        * shape.size[2] * sizeof (gfloat)
        * nd_response_count (response, s->bank->n_filters);
  }
}

NdConvolver *
stream_convolver (const Stream *s, const gchar *backend, gsize limit,
    GError **error)
{
  NdConvolverSettings settings = s->settings;

  settings.backend = backend;
  settings.memory_limit = limit;
  if (strcmp (backend, "cpu") == 0)
    settings.devices = NULL;
  return nd_convolver_new (&settings, error);
}

guint8 *
stream_volume (const Stream *s, guint p, guint number)
{
  guint8 *data = g_malloc (s->in_bytes[p]);
  const NdJob *job = &s->settings.jobs[p];

  for (gsize i = 0; i < s->in_bytes[p] / nd_sample_size (job->in_type); i++) {
    const gint value = (gint) ((i * 7 + number * 13 + p) % 19);

    if (job->in_type == ND_UINT8)
      data[i] = value;
    else if (job->in_type == ND_FLOAT32)
      ((gfloat *) data)[i] = value - 9;
    else
      ((gint16 *) data)[i] = value;
  }
  return data;
}

void
stream_init_box (Stream *s, const NdShape *shape, const gsize size[ND_AXES])
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *box = nd_filter_new ("box", size);

  for (gsize i = 0; i < nd_filter_count (box); i++)
    box->coefficients[i] = 1;
  g_ptr_array_add (filters, box);
  s->bank = nd_bank_new (filters);
  s->settings = (NdConvolverSettings){ .n_planes = 1,
    .time_border = ND_BORDER_NEAREST,
    .device_id = -1,
    .method = ND_METHOD_DIRECT };
  s->settings.jobs[0] = (NdJob){ .shape = *shape,
    .in_type = ND_FLOAT32,
    .out_type = ND_FLOAT32,
    .border = ND_BORDER_NEAREST,
    .bank = s->bank };
  s->in_row[0] = 4 * shape->size[0];
  s->in_bytes[0] = s->out_bytes[0] =
      4 * shape->size[0] * shape->size[1] * shape->size[2];
}

/* Outputs that are skipped keep the bytes 0xff. */
static void
respond_while_ready (const Stream *s, NdConvolver *c,
    const StreamEvents *events, GPtrArray *outputs)
{
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0 }, { 2, 1 } };

  while (nd_convolver_ready (c)) {
    NdSamples planes[ND_MAX_PLANES];
    const gboolean skipped = events->skip > 0
        && outputs->len / s->settings.n_planes % events->skip
            == events->skip - 1;

    for (guint p = 0; p < s->settings.n_planes; p++) {
      guint8 *data = g_malloc (s->out_bytes[p]);

      memset (data, 0xff, s->out_bytes[p]);
      g_ptr_array_add (outputs, data);
      planes[p] =
          nd_samples_dense (data, &s->settings.jobs[p].shape, ND_FLOAT32);
    }
    if (skipped)
      nd_convolver_skip (c);
    else
      g_assert_true (nd_convolver_respond (c, scale, planes, NULL));
  }
}

static void
free_volumes (const Stream *s, NdConvolver *c, GPtrArray *volumes)
{
  g_assert_true (nd_convolver_synchronize (c, NULL));
  for (guint i = 0; i < volumes->len; i++)
    memset (volumes->pdata[i], 0x55, s->in_bytes[i % s->settings.n_planes]);
  g_ptr_array_set_size (volumes, 0);
}

/* Volumes are freed when the convolver has been synchronized, which is before
 * their outputs are asked for if @waits. */
static void
push (const Stream *s, NdConvolver *c, guint number, const StreamEvents *events,
    GPtrArray *volumes, GPtrArray *outputs)
{
  NdSamples planes[ND_MAX_PLANES];

  for (guint p = 0; p < s->settings.n_planes; p++) {
    const NdShape *shape = &s->settings.jobs[p].shape;

    planes[p] = nd_samples_dense (stream_volume (s, p, number), shape,
        s->settings.jobs[p].in_type);
    planes[p].row = s->in_row[p];
    planes[p].slice = s->in_row[p] * shape->size[1];
    g_ptr_array_add (volumes, planes[p].data);
  }
  g_assert_true (nd_convolver_push (c, planes, NULL));
  if (!events->waits)
    respond_while_ready (s, c, events, outputs);
  if (events->waits
      || volumes->len >= MAX (1, events->hold) * s->settings.n_planes)
    free_volumes (s, c, volumes);
  respond_while_ready (s, c, events, outputs);
}

static NdConvolver *
take_over (const Stream *s, NdConvolver *next, NdConvolver *c,
    const StreamEvents *events, GPtrArray *outputs)
{
  if (!nd_convolver_continue (next, c))
    return c;
  while (nd_convolver_replay (next, c, NULL))
    respond_while_ready (s, next, events, outputs);
  g_assert_true (nd_convolver_synchronize (next, NULL));
  return next;
}

GPtrArray *
stream_run (const Stream *s, NdConvolver *c, NdConvolver *next, guint n,
    const StreamEvents *events)
{
  GPtrArray *outputs = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) volumes = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++) {
    if (next && events->change > 0 && i == events->change) {
      free_volumes (s, c, volumes);
      c = take_over (s, next, c, events, outputs);
    }
    if (events->flush > 0 && i == events->flush) {
      g_assert_true (nd_convolver_synchronize (c, NULL));
      nd_convolver_reset (c);
    }
    if (events->repeat > 0 && i == events->repeat
        && nd_convolver_can_repeat (c)) {
      g_assert_true (nd_convolver_repeat (c, NULL));
      respond_while_ready (s, c, events, outputs);
    }
    push (s, c, i, events, volumes, outputs);
  }
  nd_convolver_end (c);
  respond_while_ready (s, c, events, outputs);
  g_assert_true (nd_convolver_synchronize (c, NULL));
  return outputs;
}
