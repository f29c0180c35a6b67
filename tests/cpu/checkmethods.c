/* Every method of a back end against the reference on random jobs, in the
 * manner of dav1d's checkasm: guard bands around the output, NaN before it,
 * sizes and filters of every awkward kind. Bounds: integers that float32 sums
 * exactly must be equal; otherwise 8 * sqrt(taps + 1) * 2^-24 *
 * max(|w| conv |x|), as golden/README has it; the relative L2 error is at most
 * 1e-6 of the FFT, 2e-6 (fast: 5e-4) of tensor.
 *
 *   checkmethods [--seed N] [--jobs N] [--only JOB] [--module FILE]
 *
 * --module tests the back end of a module, cuda/ndconv-cuda.so; exit code 77
 * where that finds no device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/ndcpu.h"
#include "cpu/ndkernels.h"
#include "engine/nderror.h"
#include "engine/ndplan.h"

#define GUARD 256
#define GUARD_BYTE 0xa5

static gint opt_seed = -1;
static gint opt_jobs = 400;
static gint opt_only = -1;
static gchar *opt_module;
static const gchar *backend = "cpu";

typedef struct
{
  NdJob job;
  NdBank *bank;
  NdReach reach;
  NdScale scale;
  gboolean exact;
  gboolean wild;                /* NaN and Inf among the samples */
  gint *slots;
  gdouble magnitude;            /* max |x| * sum |w|, of the largest filter */
  gsize samples;
  guint8 *volumes;              /* strided input, one behind the other */
  NdSamples in;
  gsize in_bytes;
} Case;

static gdouble
random_normal (GRand * r)
{
  gdouble sum = 0;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (r);
  return sum - 6;
}

/* Volume by volume, about the middle. */
static void
make_symmetric (NdFilter * f)
{
  gsize n = f->size[0] * f->size[1] * f->size[2];

  for (gsize t = 0; t < f->size[3]; t++)
    for (gsize i = 0; i < n / 2; i++)
      f->coefficients[t * n + n - 1 - i] = f->coefficients[t * n + i];
}

static NdFilter *
random_filter (GRand * r, gboolean exact)
{
  static const gsize sizes[] = { 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 9, 11, 13, 17,
    31
  };
  gboolean rank_1 = g_rand_boolean (r), holes = g_rand_int_range (r, 0, 3) == 0;
  gsize size[ND_AXES];
  gdouble *factor[ND_AXES];
  NdFilter *f;
  gsize i = 0;

  do {
    for (guint a = 0; a < ND_AXES; a++)
      size[a] = sizes[g_rand_int_range (r, 0, G_N_ELEMENTS (sizes))];
  } while (size[0] * size[1] * size[2] * size[3] > 2500);
  f = nd_filter_new ("random", size);
  for (guint a = 0; a < ND_AXES; a++) {
    gint half = size[a] / 2;

    f->origin[a] = g_rand_int_range (r, -half, ((gint) size[a] - 1) / 2 + 1);
    factor[a] = g_new (gdouble, size[a]);
    for (gsize m = 0; m < size[a]; m++)
      factor[a][m] = exact ? g_rand_int_range (r, -2, 3) : random_normal (r);
  }
  for (gsize t = 0; t < size[3]; t++)
    for (gsize z = 0; z < size[2]; z++)
      for (gsize y = 0; y < size[1]; y++)
        for (gsize x = 0; x < size[0]; x++, i++) {
          if (rank_1)
            f->coefficients[i] = factor[0][x] * factor[1][y] * factor[2][z]
                * factor[3][t];
          else
            f->coefficients[i] = exact ? g_rand_int_range (r, -3, 4)
                : random_normal (r);
          if (holes && !rank_1 && g_rand_boolean (r))
            f->coefficients[i] = 0;
        }
  for (guint a = 0; a < ND_AXES; a++)
    g_free (factor[a]);
  if (g_rand_int_range (r, 0, 4) == 0)
    make_symmetric (f);
  return f;
}

static void
set_sample (guint8 * p, NdSampleType type, GRand * r, gboolean exact,
    gboolean wild)
{
  gint kind = g_rand_int_range (r, 0, 16);

  switch (type) {
    case ND_UINT8:
      *p = kind == 0 ? 255 : g_rand_int_range (r, 0, 256);
      break;
    case ND_INT16:
      *(gint16 *) p = exact ? g_rand_int_range (r, -200, 200)
          : g_rand_int_range (r, -32768, 32768);
      break;
    case ND_UINT16:
      *(guint16 *) p = exact ? g_rand_int_range (r, 0, 300)
          : g_rand_int_range (r, 0, 65536);
      break;
    default:
      *(gfloat *) p = exact ? g_rand_int_range (r, -100, 100)
          : 50 * random_normal (r);
      if (wild && g_rand_int_range (r, 0, 400) == 0)
        *(gfloat *) p = kind < 5 ? NAN : kind < 10 ? INFINITY : -INFINITY;
      break;
  }
}

static gdouble
sample_at (const guint8 * p, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return *p;
    case ND_INT16:
      return *(const gint16 *) p;
    case ND_UINT16:
      return *(const guint16 *) p;
    default:
      return *(const gfloat *) p;
  }
}

static gdouble
largest_sample (const Case * c)
{
  gdouble largest = fabs (c->job.border_value);

  for (gsize t = 0; t < c->reach.slots; t++)
    for (gsize z = 0; z < c->job.shape.size[2]; z++)
      for (gsize y = 0; y < c->job.shape.size[1]; y++)
        for (gsize i = 0; i < c->in.sample * c->job.shape.size[0];
            i += nd_sample_size (c->job.in_type)) {
          gdouble v = sample_at (c->volumes + t * c->in_bytes
              + z * c->in.slice + y * c->in.row + i, c->job.in_type);

          largest = isfinite (v) ? MAX (largest, fabs (v)) : largest;
        }
  return largest;
}

static gdouble
largest_weights (const Case * c)
{
  gdouble largest = 0;

  for (guint k = 0; k < c->bank->n_filters; k++) {
    gdouble sum = 0;

    for (gsize i = 0; i < nd_filter_count (c->bank->filters[k]); i++)
      sum += fabs (c->bank->filters[k]->coefficients[i]);
    largest = MAX (largest, sum);
  }
  return largest;
}

static void
case_init (Case * c, GRand * r)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  guint n_filters = g_rand_int_range (r, 0, 4) == 0 ? 3 : 1;
  gsize bytes;

  memset (c, 0, sizeof (*c));
  c->exact = g_rand_boolean (r);
  c->job.in_type = g_rand_int_range (r, 0, ND_SAMPLE_TYPES);
  c->job.out_type = g_rand_boolean (r) ? ND_FLOAT32
      : (NdSampleType) g_rand_int_range (r, 0, ND_SAMPLE_TYPES);
  c->wild = c->job.in_type == ND_FLOAT32 && g_rand_int_range (r, 0, 3) == 0;
  c->job.border = g_rand_int_range (r, 0, ND_BORDER_WRAP + 1);
  c->job.border_value = g_rand_int_range (r, -3, 10);
  c->job.border_volumes = g_rand_boolean (r);
  c->job.accuracy = g_rand_boolean (r) ? ND_ACCURACY_SINGLE : ND_ACCURACY_FAST;
  c->job.shape.components = g_rand_int_range (r, 0, 5) == 0 ? 3 : 1;
  c->job.shape.size[0] = g_rand_int_range (r, 1, 80);
  c->job.shape.size[1] = g_rand_int_range (r, 1, 20);
  c->job.shape.size[2] = g_rand_int_range (r, 1, 8);
  for (guint k = 0; k < n_filters; k++)
    g_ptr_array_add (filters, random_filter (r, c->exact));
  c->bank = nd_bank_new (filters);
  c->job.bank = c->bank;
  c->reach = nd_job_reach (&c->job);
  c->scale.gain = c->job.out_type == ND_FLOAT32 ? 1 : c->exact ? 0.5 : 0.01;
  c->scale.offset = c->job.out_type == ND_FLOAT32 ? 0 : 17;

  bytes = nd_sample_size (c->job.in_type);
  nd_shape_samples (&c->job.shape, &c->samples);
  c->in.sample = c->job.shape.components * bytes;
  c->in.row = c->in.sample * c->job.shape.size[0]
      + bytes * g_rand_int_range (r, 0, 5);
  c->in.slice = c->in.row * c->job.shape.size[1]
      + bytes * g_rand_int_range (r, 0, 5);
  c->in_bytes = c->in.slice * c->job.shape.size[2];
  c->volumes = g_malloc (c->in_bytes * c->reach.slots);
  memset (c->volumes, GUARD_BYTE, c->in_bytes * c->reach.slots);
  for (guint t = 0; t < c->reach.slots; t++)
    for (gsize z = 0; z < c->job.shape.size[2]; z++)
      for (gsize y = 0; y < c->job.shape.size[1]; y++)
        for (gsize i = 0; i < c->in.sample * c->job.shape.size[0]; i += bytes)
          set_sample (c->volumes + t * c->in_bytes + z * c->in.slice
              + y * c->in.row + i, c->job.in_type, r, c->exact, c->wild);
  c->magnitude = largest_sample (c) * largest_weights (c);
  c->slots = g_new (gint, c->reach.slots);
  for (guint t = 0; t < c->reach.slots; t++)
    c->slots[t] = c->job.border_volumes && g_rand_int_range (r, 0, 4) == 0
        ? ND_SLOT_BORDER : g_rand_int_range (r, 0, c->reach.slots);
}

static void
case_clear (Case * c)
{
  nd_bank_free (c->bank);
  g_free (c->volumes);
  g_free (c->slots);
}

/* All responses by @method, or NULL where it cannot do the job. The job may
 * differ from the case's in type and samples: @job, @volumes. */
static guint8 *
run (const Case * c, const NdJob * job, const guint8 * volumes,
    NdMethod method, gsize * bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdPlan) plan = nd_plan_new (job,
      method == ND_METHOD_REFERENCE ? "cpu" : backend, -1, method, &error);
  NdSamples out;
  guint8 *memory;

  if (!plan) {
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_true (method == ND_METHOD_SEPARABLE || method == ND_METHOD_TENSOR);
    return NULL;
  }
  /* Push twice, to see that nothing of the first volume stays. */
  for (guint t = 0; t < c->reach.slots; t++) {
    NdSamples in = c->in;

    in.data = (guint8 *) volumes + (c->reach.slots - 1 - t) * c->in_bytes;
    g_assert_true (nd_plan_push (plan, t, &in, NULL));
    in.data = (guint8 *) volumes + t * c->in_bytes;
    g_assert_true (nd_plan_push (plan, t, &in, NULL));
  }
  *bytes = c->samples * nd_sample_size (job->out_type) * job->bank->n_filters;
  memory = g_malloc (*bytes + 2 * GUARD);
  memset (memory, GUARD_BYTE, *bytes + 2 * GUARD);
  memset (memory + GUARD, 0xff, *bytes);        /* NaN in float32 */
  out = nd_samples_dense (memory + GUARD, &job->shape, job->out_type);
  g_assert_true (nd_plan_respond (plan, c->slots, &c->scale, &out, NULL));
  /* A device may still be at it: what is pushed now is not for it. */
  for (guint t = 0; t < c->reach.slots; t++) {
    NdSamples in = c->in;

    in.data = (guint8 *) volumes + (c->reach.slots - 1 - t) * c->in_bytes;
    g_assert_true (nd_plan_push (plan, t, &in, NULL));
  }
  g_assert_true (nd_plan_wait (plan, NULL));
  g_assert_cmpuint (nd_plan_bytes (plan), >, 0);
  for (gsize i = 0; i < GUARD; i++) {
    g_assert_cmpuint (memory[i], ==, GUARD_BYTE);
    g_assert_cmpuint (memory[GUARD + *bytes + i], ==, GUARD_BYTE);
  }
  return memory;
}

/* max (|w| conv |x|) over all filters, from the filters and samples made
 * positive. */
static gdouble
largest_sum (const Case * c)
{
  g_autoptr (NdBank) bank = nd_bank_copy (c->bank);
  g_autofree guint8 *volumes = g_memdup2 (c->volumes,
      c->in_bytes * c->reach.slots);
  g_autofree guint8 *sums = NULL;
  NdJob job = c->job;
  gdouble largest = 0;
  gsize bytes;

  for (guint k = 0; k < bank->n_filters; k++)
    for (gsize i = 0; i < nd_filter_count (bank->filters[k]); i++)
      bank->filters[k]->coefficients[i] =
          fabs (bank->filters[k]->coefficients[i]);
  for (gsize i = 0; i < c->in_bytes * c->reach.slots;
      i += nd_sample_size (job.in_type)) {
    if (job.in_type == ND_INT16) {
      gint16 *v = (gint16 *) (volumes + i);
      *v = MIN (ABS ((gint) * v), 32767);
    } else if (job.in_type == ND_FLOAT32) {
      gfloat *v = (gfloat *) (volumes + i);
      *v = isfinite (*v) ? fabsf (*v) : 0;
    }
  }
  job.bank = bank;
  job.border_value = fabs (job.border_value);
  job.out_type = ND_FLOAT32;
  sums = run (c, &job, volumes, ND_METHOD_REFERENCE, &bytes);
  for (gsize i = 0; i < bytes; i += sizeof (gfloat))
    largest = MAX (largest, *(gfloat *) (sums + GUARD + i) - c->scale.offset);
  return largest / c->scale.gain;
}

static gboolean
compare (const Case * c, NdMethod method, const guint8 * got,
    const guint8 * want, gsize bytes, gdouble largest)
{
  gsize taps = 0, step = nd_sample_size (c->job.out_type);
  gboolean integer = c->job.out_type != ND_FLOAT32;
  gboolean fast = method == ND_METHOD_TENSOR
      && c->job.accuracy == ND_ACCURACY_FAST;
  gdouble l2_bound = method == ND_METHOD_FFT ? 1e-6 : fast ? 5e-4 : 2e-6;
  gdouble error2 = 0, norm2 = 0, bound, worst = 0;

  for (guint k = 0; k < c->bank->n_filters; k++)
    taps = MAX (taps, nd_filter_count (c->bank->filters[k]));
  /* The reference's sums are rounded to float32 once as well. */
  bound = c->exact && method != ND_METHOD_FFT && !fast ? 0
      : (8 * sqrt (taps + 1) + 1) * ldexp (1, -24) * largest * c->scale.gain;
  if (method == ND_METHOD_TENSOR)
    bound *= fast ? 500 : 2;
  if (integer && bound > 0)
    bound += 1;                 /* rounding may fall to the other side */
  for (gsize i = 0; i < bytes; i += step) {
    gdouble g = sample_at (got + GUARD + i, c->job.out_type);
    gdouble w = sample_at (want + GUARD + i, c->job.out_type);

    if (!isfinite (w) || !isfinite (g)) {
      if (isnan (w) ? !isnan (g) : w != g) {
        g_printerr ("# sample %" G_GSIZE_FORMAT ": %g, not %g\n", i / step, g,
            w);
        return FALSE;
      }
      continue;
    }
    worst = MAX (worst, fabs (g - w));
    error2 += (g - w) * (g - w);
    norm2 += w * w;
  }
  /* A response that cancels is measured against a tenth of what the filter
   * could give: a transform's error goes with all that is transformed. */
  norm2 = MAX (norm2, bytes / step * pow (0.1 * c->magnitude, 2));
  if (!integer && (method == ND_METHOD_FFT || fast
          || (method == ND_METHOD_TENSOR && !c->exact)))
    return sqrt (error2) <= l2_bound * sqrt (norm2)
        || (g_printerr ("# relative L2 error %g\n", sqrt (error2 / norm2)),
        FALSE);
  if (worst > bound)
    g_printerr ("# error %g, bound %g\n", worst, bound);
  return worst <= bound;
}

static gboolean
check (guint index, const Case * c)
{
  gsize bytes;
  gdouble largest = largest_sum (c);
  g_autofree guint8 *want = run (c, &c->job, c->volumes, ND_METHOD_REFERENCE,
      &bytes);
  gboolean ok = TRUE;

  for (const NdKernels * const *k = nd_kernels_all (); *k; k++) {
    if (opt_module && k[1])
      continue;
    g_setenv ("NDCONV_SIMD", (*k)->name, TRUE);
    for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++) {
      g_autofree guint8 *got = run (c, &c->job, c->volumes, m, &bytes);

      if (got && !compare (c, m, got, want, bytes, largest)) {
        g_printerr ("# job %u, %s with %s: %" G_GSIZE_FORMAT ":%"
            G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
            " components of %s to %s, border %d, %u filters, first %"
            G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%"
            G_GSIZE_FORMAT "%s%s%s\n", index, nd_method_name (m), (*k)->name,
            c->job.shape.size[0], c->job.shape.size[1], c->job.shape.size[2],
            c->job.shape.components, nd_sample_name (c->job.in_type),
            nd_sample_name (c->job.out_type), c->job.border, c->bank->n_filters,
            c->bank->filters[0]->size[0], c->bank->filters[0]->size[1],
            c->bank->filters[0]->size[2], c->bank->filters[0]->size[3],
            c->exact ? ", exact" : "", c->wild ? ", wild" : "",
            c->job.accuracy == ND_ACCURACY_FAST ? ", fast" : "");
        ok = FALSE;
      }
    }
  }
  return ok;
}

int
main (int argc, char **argv)
{
  const GOptionEntry options[] = {
    {"seed", 0, 0, G_OPTION_ARG_INT, &opt_seed, "of the random jobs", "N"},
    {"jobs", 0, 0, G_OPTION_ARG_INT, &opt_jobs, "how many", "N"},
    {"module", 0, 0, G_OPTION_ARG_FILENAME, &opt_module, "of a back end",
        "FILE"},
    {"only", 0, 0, G_OPTION_ARG_INT, &opt_only, "just this one", "JOB"},
    {NULL}
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  gint failed = 0;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    return 2;
  if (opt_seed < 0)
    opt_seed = g_random_int_range (0, G_MAXINT);
  nd_backend_register (&nd_cpu_backend);
  if (opt_module) {
    g_autoptr (GError) error = NULL;

    backend = "cuda";
    if (!nd_backend_open (opt_module, &error)
        || !nd_backend_find (backend, -1, &error)) {
      g_print ("1..0 # SKIP %s\n", error->message);
      return 77;
    }
  }
  g_print ("1..%d\n# seed %d; one job: --seed %d --only JOB\n", opt_jobs,
      opt_seed, opt_seed);
  for (gint i = 0; i < opt_jobs; i++) {
    guint32 seeds[2] = { opt_seed, i };
    g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 2);
    Case c;
    gboolean ok;

    if (opt_only >= 0 && i != opt_only)
      continue;
    case_init (&c, r);
    ok = check (i, &c);
    failed += !ok;
    g_print ("%sok %d\n", ok ? "" : "not ", i + 1);
    case_clear (&c);
  }
  return failed ? 1 : 0;
}
