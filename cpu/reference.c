/* Method `reference`: the definition of the convolution in plain loops and
 * double precision or, for jobs in double precision, in long double. Tests
 * compare every other method with it; they share no code with it except the
 * border rule and the combination of responses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/pad.h"
#include "cpu/rowoutput.h"

#include <math.h>
#include <string.h>

typedef struct
{
  NdJob job;
  NdReach reach;
  NdRowOutput output; /* of responses that are combined: of whole volumes */
  gsize samples;      /* of one volume */
  NdReal *volumes;    /* float32 holds samples of up to 24 bits exactly */
} Reference;

static NdReal
load_sample (const guint8 *p, NdSampleType type)
{
#ifdef ND_DOUBLE
  if (type == ND_FLOAT64)
    return *(const gdouble *) p;
#endif
  switch (type) {
    case ND_UINT8:
      return *p;
    case ND_INT16:
      return *(const gint16 *) p;
    case ND_UINT16:
      return *(const guint16 *) p;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      break;
  }
  return *(const gfloat *) p;
}

static void
store_sample (gdouble value, guint8 *p, NdSampleType type, gsize *saturated)
{
  static const gdouble low[] = { 0, -32768, 0 }, high[] = { 255, 32767, 65535 };
  gdouble rounded = isnan (value) ? 0 : nearbyint (value);

#ifdef ND_DOUBLE
  if (type == ND_FLOAT64) {
    *(gdouble *) p = value;
    return;
  }
#endif
  if (type < ND_FLOAT32 && saturated
      && (rounded < low[type] || rounded > high[type]))
    __atomic_fetch_add (saturated, 1, __ATOMIC_RELAXED);

  switch (type) {
    case ND_UINT8:
      *p = CLAMP (rounded, 0, 255);
      break;
    case ND_INT16:
      *(gint16 *) p = CLAMP (rounded, -32768, 32767);
      break;
    case ND_UINT16:
      *(guint16 *) p = CLAMP (rounded, 0, 65535);
      break;
    case ND_FLOAT32:
    ND_CASE_NOT_COMPUTED:
      *(gfloat *) p = value;
      break;
  }
}

static gdouble
reference_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  gdouble cost = 0;

  for (guint k = 0; k < job->bank->n_filters; k++)
    cost += nd_filter_count (job->bank->filters[k]) * 5e-9;
  for (guint a = 0; a < 3; a++)
    cost *= job->shape.size[a];
  return cost * job->shape.components;
}

static void
reference_destroy (gpointer state)
{
  Reference *ref = state;

  nd_output_clear (&ref->output);
  g_free (ref->volumes);
  g_free (ref);
}

static gpointer
reference_create (const NdJob *job, const NdRingOptions *options,
    GError **error)
{
  Reference *ref = g_new0 (Reference, 1);

  ref->job = *job;
  ref->reach = nd_job_reach (job);
  if (!nd_shape_samples (&job->shape, &ref->samples))
    ref->samples = G_MAXSIZE;
  ref->volumes =
      nd_floats_new (nd_size_mul (ref->samples, ref->reach.slots + 1, 1),
          error);
  if (!ref->volumes
      || (nd_job_combines (job)
          && !nd_output_init (&ref->output, job,
              ref->samples / job->shape.components, 1, error)))
    g_clear_pointer (&ref, reference_destroy);
  return ref;
}

static gsize
reference_bytes (gconstpointer state)
{
  const Reference *ref = state;

  return ref->samples * (ref->reach.slots + 1) * sizeof (NdReal)
      + nd_output_bytes (&ref->output);
}

static gboolean
reference_push (gpointer state, guint slot, const NdSamples *volume,
    GError **error)
{
  Reference *ref = state;
  const NdShape *shape = &ref->job.shape;
  gsize bytes = nd_sample_size (ref->job.in_type);
  NdReal *out = ref->volumes + slot * ref->samples;

  if (!volume) {
    for (gsize i = 0; i < ref->samples; i++)
      out[i] = ref->job.border_value;
    return TRUE;
  }
  for (gsize c = 0; c < shape->components; c++)
    for (gsize z = 0; z < shape->size[2]; z++)
      for (gsize y = 0; y < shape->size[1]; y++)
        for (gsize x = 0; x < shape->size[0]; x++)
          *out++ = load_sample (volume->data + c * bytes + x * volume->sample
                  + y * volume->row + z * volume->slice,
              ref->job.in_type);
  return TRUE;
}

/* ext(in) at (x, y, z) of component @c in @slot */
static gdouble
extended (const Reference *ref, gint slot, gsize c, const gint64 at[3])
{
  gsize offset = c;

  if (slot == ND_SLOT_BORDER)
    return (NdReal) ref->job.border_value;
  for (gint a = 2; a >= 0; a--) {
    gint64 i = nd_border_index (ref->job.border, at[a], ref->job.shape.size[a]);

    if (i < 0)
      return (NdReal) ref->job.border_value;
    offset = offset * ref->job.shape.size[a] + i;
  }
  return ref->volumes[slot * ref->samples + offset];
}

static NdReferenceSum
response (const Reference *ref, const NdFilter *f, const gint *slots, gsize c,
    gsize x, gsize y, gsize z)
{
  const gdouble *w = f->coefficients;
  gint low[ND_AXES], high[ND_AXES];
  NdReferenceSum sum = 0;

  nd_filter_reach (f, low, high);
  for (gsize mt = 0; mt < f->size[3]; mt++) {
    gint slot = slots[high[3] - (gint) mt - ref->reach.low[3]];

    for (gsize mz = 0; mz < f->size[2]; mz++)
      for (gsize my = 0; my < f->size[1]; my++)
        for (gsize mx = 0; mx < f->size[0]; mx++, w++) {
          gint64 at[3] = { (gint64) x + high[0] - (gint64) mx,
            (gint64) y + high[1] - (gint64) my,
            (gint64) z + high[2] - (gint64) mz };

          /* As in SciPy, a zero coefficient does not spread NaN. */
          if (*w != 0)
            sum += (NdReferenceSum) *w * extended (ref, slot, c, at);
        }
  }
  return sum;
}

static void
reference_combine (Reference *ref, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  const gsize *size = ref->job.shape.size, group = ref->output.group;

  ref->output.scale = scale;
  ref->output.out = out;
  for (gsize i = 0; i < ref->job.bank->n_filters * ref->job.shape.components;
       i++) {
    const gsize of_group = ref->job.bank->n_filters * group;
    const guint k = i % of_group / group;
    const gsize c = i / of_group * group + i % group;
    NdReal *row = nd_output_layer (&ref->output, 0, k, c);

    for (gsize z = 0; z < size[2]; z++) {
      for (gsize y = 0; y < size[1]; y++, row += size[0]) {
        for (gsize x = 0; x < size[0] && !nd_threads_cancelled (); x++)
          row[x] = (gdouble) response (ref, ref->job.bank->filters[k], slots, c,
              x, y, z);
        nd_output_row (&ref->output, k, c, row, size[0], 0, y, z);
      }
    }
  }
}

static void
reference_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Reference *ref = state;
  const NdShape *shape = &ref->job.shape;
  gsize bytes = nd_sample_size (ref->job.out_type);

  if (nd_job_combines (&ref->job)) {
    reference_combine (ref, slots, scale, out);
    return;
  }
  for (guint k = 0; k < ref->job.bank->n_filters; k++)
    for (gsize c = 0; c < shape->components; c++)
      for (gsize z = 0; z < shape->size[2]; z++)
        for (gsize y = 0; y < shape->size[1]; y++)
          for (gsize x = 0; x < shape->size[0] && !nd_threads_cancelled (); x++)
            store_sample (scale->gain
                        * response (ref, ref->job.bank->filters[k], slots, c, x,
                            y, z)
                    + scale->offset,
                out->data + k * out->response + c * bytes + x * out->sample
                    + y * out->row + z * out->slice,
                ref->job.out_type, scale->saturated);
}

const NdCpuMethod nd_cpu_reference = {
  .file = "cpu/reference.c",
  .cost = reference_cost,
  .create = reference_create,
  .destroy = reference_destroy,
  .bytes = reference_bytes,
  .push = reference_push,
  .respond = reference_respond,
};
