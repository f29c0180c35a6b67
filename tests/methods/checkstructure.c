/* Local structure and velocity of a back end, beside those of the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "tests/methods/checkanalysis.h"
#include "tests/methods/checkjobs.h"

#include <math.h>
#include <string.h>

typedef struct
{
  NdShape in, out;
  guint axes, n_volumes;
  NdStructureSettings settings;
  guint skipped; /* an output that is not written, if it exists */
  gboolean on_device;
  guint pads[2]; /* floats after a row and after a slice, in memory */
  gdouble scale; /* of the tensors */
  gsize samples;
  gfloat *tensors; /* of all volumes */
} StructureCase;

/* Sums of products of gradients, of a pattern that moves with one velocity. */
static void
structure_case_init (StructureCase *c, GRand *r)
{
  static const gdouble sigmas[] = { 0, .7, 1.5, 2.5, 3.1 };
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY, 0 };
  const guint axes = g_rand_int_range (r, 2, 5), dims = axes - 1;
  gdouble v[3];
  guint directions = 4;
  gfloat *to;

  *c = (StructureCase){ .axes = axes };
  c->in.components = nd_tensor_components (axes);
  for (guint a = 0; a < 3; a++) {
    c->in.size[a] = axes == 3 && a == 2 ? 1 : g_rand_int_range (r, 1, 19);
    v[a] = g_rand_double_range (r, -1.5, 1.5);
    c->settings.speed[a] = 1 + a;
  }
  if (axes != 3 && g_rand_int_range (r, 0, 4) == 0)
    c->in.size[2] = g_rand_int_range (r, 30, 80);
  /* Several thread blocks along x and y. */
  if (g_rand_int_range (r, 0, 3) == 0) {
    const guint a = g_rand_int_range (r, 0, 2);

    c->in.size[a] = g_rand_int_range (r, 40, 300);
    c->in.size[1 - a] = g_rand_int_range (r, 1, 7);
    c->in.size[2] = axes == 3 ? 1 : g_rand_int_range (r, 1, 7);
  }
  c->samples = c->in.size[0] * c->in.size[1] * c->in.size[2];
  c->n_volumes = g_rand_int_range (r, 1, 16);
  c->skipped = g_rand_int_range (r, 0, 2 * c->n_volumes);
  c->on_device = g_rand_boolean (r);
  c->settings.sigma = sigmas[g_rand_int_range (r, 0, G_N_ELEMENTS (sigmas))];
  c->settings.model = g_rand_boolean (r) && c->settings.sigma > 1
          && c->in.size[0] > 4 && c->in.size[1] > 4
          && (axes == 3 || c->in.size[2] > 4)
      ? ND_MOTION_AFFINE
      : ND_MOTION_CONSTANT;
  if (axes > 2)
    c->settings.structures[c->settings.n_structures++] = ND_STRUCTURE_VELOCITY;
  if (axes == 2 || g_rand_boolean (r)) {
    static const NdStructure others[] = { ND_STRUCTURE_TENSOR,
      ND_STRUCTURE_EIGENVALUES, ND_STRUCTURE_CERTAINTY,
      ND_STRUCTURE_ANISOTROPY };

    for (guint i = 0; i < G_N_ELEMENTS (others); i++)
      c->settings.structures[c->settings.n_structures++] = others[i];
  }
  if (g_rand_boolean (r)) {
    c->pads[0] = g_rand_int_range (r, 0, 9);
    c->pads[1] = g_rand_int_range (r, 0, 9);
  }
  /* Single tensors with clusters of eigenvalues, whose sums have none. */
  if (c->settings.sigma > 1 && c->in.size[0] > 4 && c->in.size[1] > 4)
    directions = g_rand_int_range (r, 1, 5);
  c->scale = g_rand_int_range (r, 0, 4) > 0
      ? 1
      : pow (10, g_rand_int_range (r, -30, 31));
  c->out = c->in;
  c->out.components = nd_structure_output_components (&c->settings, axes);
  to = c->tensors =
      g_new0 (gfloat, c->samples * c->in.components * c->n_volumes);
  for (gsize i = 0; i < c->samples * c->n_volumes; i++) {
    for (guint k = 0; k < directions; k++) {
      gdouble g[ND_TENSOR_MAX_AXES] = { 0 };

      for (guint a = 0; a < dims; a++) {
        g[a] = g_rand_double_range (r, -1, 1);
        g[dims] -= g[a] * v[a];
      }
      for (guint a = 0; a < axes; a++) {
        for (guint b = a; b < axes; b++)
          to[nd_tensor_index (axes, a, b)] += c->scale * .2 * g[a] * g[b];
      }
    }
    to += c->in.components;
  }
  /* One sample that is not finite, or 0. */
  if (g_rand_int_range (r, 0, 4) == 0) {
    to = c->tensors
        + g_rand_int_range (r, 0, c->samples * c->n_volumes) * c->in.components;
    const gfloat value = odd[g_rand_int_range (r, 0, G_N_ELEMENTS (odd))];
    const guint only = g_rand_int_range (r, 0, 2 * c->in.components);

    for (guint k = 0; k < c->in.components; k++) {
      if (k == only || only >= c->in.components)
        to[k] = value;
    }
  }
}

static NdSamples
padded_samples (gpointer data, const NdShape *shape, const guint pads[2])
{
  NdSamples samples = nd_samples_dense (data, shape, ND_FLOAT32);

  samples.row += pads[0] * sizeof (gfloat);
  samples.slice = samples.row * shape->size[1] + pads[1] * sizeof (gfloat);
  return samples;
}

static void
copy_rows (const NdSamples *to, const NdSamples *from, const NdShape *shape)
{
  const gsize bytes = shape->components * shape->size[0] * sizeof (gfloat);

  for (gsize z = 0; z < shape->size[2]; z++) {
    for (gsize y = 0; y < shape->size[1]; y++)
      memcpy (to->data + z * to->slice + y * to->row,
          from->data + z * from->slice + y * from->row, bytes);
  }
}

/* The outputs of all volumes. Inputs have NaN in their pads, and those of the
 * outputs must stay 0. */
static gfloat *
run_structure (const StructureCase *c, const NdBackend *with)
{
  const gboolean there = c->on_device && with == check_backend;
  const NdSamples in_samples = padded_samples (NULL, &c->in, c->pads);
  const NdSamples out_samples = padded_samples (NULL, &c->out, c->pads);
  const gsize in_bytes = in_samples.slice * c->in.size[2];
  const gsize out_bytes = out_samples.slice * c->out.size[2];
  const gsize in_floats = c->samples * c->in.components;
  const gsize out_floats = c->samples * c->out.components;
  gfloat *outputs = g_new0 (gfloat, out_floats * c->n_volumes);
  g_autofree guint8 *staging = g_malloc (MAX (in_bytes, out_bytes));
  guint8 *in = check_memory_new (in_bytes, there);
  guint8 *out = check_memory_new (out_bytes, there);
  const NdSamples volume = padded_samples (in, &c->in, c->pads);
  const NdSamples to = padded_samples (out, &c->out, c->pads);
  const NdSamples staged_in = padded_samples (staging, &c->in, c->pads);
  const NdSamples staged_out = padded_samples (staging, &c->out, c->pads);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      with->algorithms->structure_new (&c->settings, &c->in, -1, &error);
  guint made = 0;

  g_assert_no_error (error);
  for (guint t = 0; t <= c->n_volumes; t++) {
    if (t == c->n_volumes) {
      nd_algorithm_end (algorithm);
    } else {
      const NdSamples dense =
          nd_samples_dense (c->tensors + t * in_floats, &c->in, ND_FLOAT32);

      memset (staging, 0xff, in_bytes);
      copy_rows (&staged_in, &dense, &c->in);
      check_copy (in, staging, in_bytes, there);
      nd_algorithm_push (algorithm, &volume, &error);
      g_assert_no_error (error);
    }
    while (nd_algorithm_ready (algorithm)) {
      const gboolean is_skipped = made == c->skipped;
      const NdSamples dense =
          nd_samples_dense (outputs + made * out_floats, &c->out, ND_FLOAT32);

      nd_algorithm_respond (algorithm, is_skipped ? NULL : &to, &error);
      g_assert_no_error (error);
      made++;
      if (is_skipped)
        continue;
      check_copy (staging, out, out_bytes, there);
      copy_rows (&dense, &staged_out, &c->out);
      for (gsize z = 0; z < c->out.size[2]; z++) {
        for (gsize i = 0; i < to.slice; i++) {
          if (i >= to.row * c->out.size[1]
              || i % to.row >= to.row - c->pads[0] * sizeof (gfloat))
            g_assert_cmpuint (staging[z * to.slice + i], ==, 0);
        }
      }
    }
  }
  g_assert_cmpuint (made, ==, c->n_volumes);
  check_memory_free (in, there);
  check_memory_free (out, there);
  return outputs;
}

/* The error of the velocity, divided by 1 + the velocity, if a tensor has an
 * error of 2e-7 of its trace. Single precision has such errors, also those of
 * the isotropic part. They are divided by the least eigenvalue in space.
 * @sums: the tensor over the window. */
static gdouble
get_uncertainty (guint axes, const gfloat *sums)
{
  gdouble tensor[ND_TENSOR_MAX_COMPONENTS], space[ND_TENSOR_MAX_COMPONENTS];
  gdouble all[ND_TENSOR_MAX_AXES], values[ND_TENSOR_MAX_AXES], trace = 0;

  for (guint i = 0; i < axes; i++) {
    for (guint j = i; j < axes; j++) {
      const gdouble element = sums[nd_tensor_index (axes, i, j)];

      tensor[nd_tensor_index (axes, i, j)] = element;
      if (j + 1 < axes)
        space[nd_tensor_index (axes - 1, i, j)] = element;
    }
    trace += sums[nd_tensor_index (axes, i, i)];
  }
  if (!nd_tensor_eigen (axes, tensor, all, NULL)
      || !nd_tensor_eigen (axes - 1, space, values, NULL) || trace <= 0)
    return 0;
  return 2e-7 * trace / MAX (values[axes - 2] - MAX (all[axes - 1], 0), 1e-300);
}

/* The largest difference of a sample's measures from @want, as a fraction of
 * the one that is allowed. @tensor: the sums over the window, or NULL. */
static gdouble
compare_sample (const StructureCase *c, const gfloat *got, const gfloat *want,
    const gfloat *tensor)
{
  const guint dims = c->axes - 1;
  const gdouble uncertainty = tensor ? get_uncertainty (c->axes, tensor) : 0;
  gdouble worst = 0;

  for (guint s = 0; s < c->settings.n_structures; s++) {
    const NdStructure structure = c->settings.structures[s];
    const guint n = nd_structure_components (structure, c->axes);
    gdouble speed = 1;

    for (guint k = 0; structure == ND_STRUCTURE_VELOCITY && k < dims; k++)
      speed += fabs (want[k] / c->settings.speed[k]);
    for (guint k = 0; k < n; k++) {
      gdouble allowed = 2e-3;
      const gdouble d = fabs (got[k] - want[k]);

      if (structure == ND_STRUCTURE_TENSOR
          || structure == ND_STRUCTURE_EIGENVALUES)
        allowed *= c->scale;
      else if (structure == ND_STRUCTURE_VELOCITY && k < dims)
        allowed += uncertainty < .05
            ? uncertainty * speed * c->settings.speed[k]
            : INFINITY;
      else if (structure == ND_STRUCTURE_VELOCITY)
        allowed += MIN (uncertainty, 1) * MAX (got[k], want[k]);
      if (isfinite (d))
        worst = MAX (worst, d / allowed);
      else if (isnan (want[k]) ? !isnan (got[k]) : got[k] != want[k])
        worst = INFINITY;
    }
    got += n;
    want += n;
  }
  return worst;
}

/* The sums of the tensors over the window. */
static gfloat *
run_tensors (const StructureCase *c)
{
  StructureCase tensors = *c;

  tensors.out = c->in;
  tensors.settings.structures[0] = ND_STRUCTURE_TENSOR;
  tensors.settings.n_structures = 1;
  return run_structure (&tensors, &nd_cpu_backend);
}

gboolean
check_structure (gint job, GRand *r)
{
  StructureCase c;
  gdouble worst = 0;
  gboolean ok;

  structure_case_init (&c, r);

  const gsize n = c.samples * c.n_volumes, components = c.out.components;
  const gsize bytes = n * components * sizeof (gfloat);
  g_autofree gfloat *got = run_structure (&c, check_backend);
  g_autofree gfloat *again = run_structure (&c, check_backend);
  g_autofree gfloat *want = run_structure (&c, &nd_cpu_backend);
  g_autofree gfloat *tensors =
      c.axes > 2 && c.settings.model == ND_MOTION_CONSTANT ? run_tensors (&c)
                                                           : NULL;

  for (gsize i = 0; i < n; i++) {
    const gdouble d = compare_sample (&c, got + i * components,
        want + i * components, tensors ? tensors + i * c.in.components : NULL);

    worst = MAX (worst, d);
  }
  ok = worst <= 1 && memcmp (got, again, bytes) == 0;
  if (!ok)
    g_printerr ("# job %d: structure over %u axes, %" G_GSIZE_FORMAT
                ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                " x %u, sigma %g, model %d, %u measures, pads %u %u, scale %g: "
                "the worst difference is %g of that allowed%s\n",
        job, c.axes, c.in.size[0], c.in.size[1], c.in.size[2], c.n_volumes,
        c.settings.sigma, c.settings.model, c.settings.n_structures, c.pads[0],
        c.pads[1], c.scale, worst,
        memcmp (got, again, bytes) ? ", not repeatable" : "");
  g_free (c.tensors);
  return ok;
}
