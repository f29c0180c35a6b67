/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"
#include "filters/tensor.h"
#include "lib/private.h"

void
nd_array_init (NdArray *array, gpointer data, const gchar *type,
    gsize components, const gsize size[4])
{
  NdSampleType known;
  gsize stride = 1; /* wraps for sizes that no memory has */

  *array = (NdArray){
    .data = data, .type = type, .components = components, .responses = 1
  };
  if (type && nd_sample_from_name (type, &known))
    stride = nd_sample_size (known);
  array->component_stride = stride;
  stride *= components;
  for (guint a = 0; a < ND_AXES; a++) {
    array->size[a] = size[a];
    array->strides[a] = stride;
    stride *= size[a];
  }
  array->response_stride = stride;
}

static gboolean
check_memory (const NdVolumes *v, const gchar *name, GError **error)
{
  const gssize size = nd_sample_size (v->type);
  const NdStrided *s = &v->samples;

  if (!s->data)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s has no memory: its data is NULL", name);
  else if ((gsize) s->data % (gsize) size || s->component % size
      || s->sample % size || s->row % size || s->slice % size
      || s->response % size || v->volume % size)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is not aligned: its address and its strides must be multiples of "
        "%" G_GSSIZE_FORMAT " bytes for %s; copy it",
        name, size, nd_sample_name (v->type));
  else
    return TRUE;
  return FALSE;
}

gboolean
nd_volumes_init (NdVolumes *v, const NdArray *array, const gchar *name,
    gboolean memory, GError **error)
{
  gsize samples;

  *v = (NdVolumes){ .shape = { array->components,
                        { array->size[0], array->size[1], array->size[2] } },
    .responses = array->responses,
    .volumes = array->size[3],
    .samples = { array->data, array->component_stride, array->strides[0],
        array->strides[1], array->strides[2], array->response_stride },
    .volume = array->strides[3],
    .on_device = array->on_device };
  if (!array->type || !nd_sample_from_name (array->type, &v->type)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s has samples of the type %s; filters take uint8, int16, uint16, "
        "float32, int8, int32, uint32, float16 and float64: convert it, for "
        "example to float64",
        name, array->type ? array->type : "NULL");
    return FALSE;
  }
  if (array->responses == 0 || array->responses > G_MAXINT
      || !nd_shape_samples (&v->shape, &samples)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s has %" G_GSIZE_FORMAT " components, %" G_GSIZE_FORMAT
        " responses and %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        "x%" G_GSIZE_FORMAT " samples; each must be 1 or more, and a volume "
        "must fit in memory",
        name, array->components, array->responses, array->size[0],
        array->size[1], array->size[2]);
    return FALSE;
  }
  return !memory || check_memory (v, name, error);
}

NdStrided
nd_volumes_get (const NdVolumes *v, gsize t)
{
  NdStrided s = v->samples;

  s.data += (gssize) t * v->volume;
  return s;
}

/* The bytes from @low to before @high, relative to the first sample. */
static void
find_extent (const NdVolumes *v, gssize *low, gssize *high)
{
  const gssize strides[] = { v->samples.component, v->samples.sample,
    v->samples.row, v->samples.slice, v->samples.response, v->volume };
  const gsize sizes[] = { v->shape.components, v->shape.size[0],
    v->shape.size[1], v->shape.size[2], v->responses, v->volumes };

  *low = 0;
  *high = nd_sample_size (v->type);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gssize reach = ((gssize) sizes[i] - 1) * strides[i];

    *(reach < 0 ? low : high) += reach;
  }
}

gboolean
nd_volumes_overlap (const NdVolumes *a, const NdVolumes *b)
{
  const gsize at_a = (gsize) a->samples.data, at_b = (gsize) b->samples.data;
  gssize low_a, high_a, low_b, high_b;

  if (a->volumes == 0 || b->volumes == 0)
    return FALSE;
  find_extent (a, &low_a, &high_a);
  find_extent (b, &low_b, &high_b);
  return at_a + low_a < at_b + high_b && at_b + low_b < at_a + high_a;
}

gboolean
nd_volumes_are_same (const NdVolumes *a, const NdVolumes *b)
{
  const NdStrided *p = &a->samples, *q = &b->samples;

  return p->data == q->data && a->type == b->type && a->responses == 1
      && b->responses == 1 && a->shape.components == b->shape.components
      && p->component == q->component && p->sample == q->sample
      && p->row == q->row && p->slice == q->slice && a->volume == b->volume;
}

gboolean
nd_volumes_init_output (NdVolumes *out, const NdVolumes *in,
    const NdFilters *filters, const NdSettings *settings, GError **error)
{
  const NdBank *bank = filters->bank;
  NdTensorRecipe recipe = { 0 };

  *out = (NdVolumes){ .shape = in->shape, .volumes = in->volumes };
  out->type = settings->conv.output_type;
  if (out->type == ND_SAMPLE_SAME)
    out->type = settings->conv.response == ND_RESPONSE_TENSOR
        ? nd_sample_computed (ND_FLOAT64, settings->device.precision)
        : in->type;
  if (in->responses != 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses, as the output of a bank; filter them one "
        "by one",
        in->responses);
    return FALSE;
  }
  if (settings->conv.response == ND_RESPONSE_TENSOR
      && !nd_tensor_recipe (bank, &recipe, error))
    return FALSE;
  if (!nd_response_check (settings->conv.response, bank->is_complex,
          recipe.axes, in->shape.components, out->type,
          settings->conv.threshold, error))
    return FALSE;
  out->responses =
      nd_response_count (settings->conv.response, nd_bank_responses (bank));
  out->shape.components = nd_output_components (settings->conv.response,
      bank->is_complex, recipe.axes, in->shape.components);
  return TRUE;
}

void
nd_volumes_to_array (const NdVolumes *v, NdArray *array)
{
  const gsize size[ND_AXES] = { v->shape.size[0], v->shape.size[1],
    v->shape.size[2], v->volumes };

  nd_array_init (array, NULL, nd_sample_name (v->type), v->shape.components,
      size);
  array->responses = v->responses;
  array->response_stride = array->strides[3];
  array->strides[3] = (gsize) array->strides[3] * v->responses;
}
