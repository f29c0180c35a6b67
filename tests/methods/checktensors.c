/* Measures of single tensors, beside eigenvalues that this file finds itself.
 * Tensors whose axes do not mix, or have no energy, have exact zeros, which
 * tensors of streams seldom have.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "tests/methods/checkanalysis.h"
#include "tests/methods/checkjobs.h"

#include <math.h>
#include <string.h>

#define AXES ND_TENSOR_MAX_AXES
/* About the distance of denormal numbers. */
#define TINY 2e-45

typedef gdouble Matrix[AXES][AXES];

/* Lists of tensors */

static void
add_tensor (GArray *list, guint axes, const Matrix m, gdouble scale)
{
  for (guint i = 0; i < axes; i++) {
    for (guint j = i; j < axes; j++) {
      const gfloat element = scale * m[i][j];

      g_array_append_val (list, element);
    }
  }
}

static void
set_diagonal (Matrix m, gdouble a, gdouble b, gdouble c, gdouble d)
{
  const gdouble values[AXES] = { a, b, c, d };

  memset (m, 0, sizeof (Matrix));
  for (guint i = 0; i < AXES; i++)
    m[i][i] = values[i];
}

static void
add_product (Matrix m, guint axes, const gdouble *v)
{
  for (guint i = 0; i < axes; i++) {
    for (guint j = 0; j < axes; j++)
      m[i][j] += v[i] * v[j];
  }
}

/* Edges of all directions that move, along each axis of space on its own or
 * along several. All numbers are exact. */
static void
add_motions (GArray *list, guint axes, gdouble scale)
{
  static const gdouble speeds[] = { 0, .5, -1 };
  const guint dims = axes - 1, n = dims == 1 ? 3 : dims == 2 ? 9 : 27;

  for (guint k = 0; k < n; k++) {
    Matrix m;
    guint rest = k;

    set_diagonal (m, 1, 1, 1, 1);
    m[dims][dims] = 0;
    for (guint a = 0; a < dims; a++, rest /= 3) {
      m[a][dims] = m[dims][a] = -speeds[rest % 3];
      m[dims][dims] += speeds[rest % 3] * speeds[rest % 3];
    }
    add_tensor (list, axes, m, scale);
  }
}

/* Elements beside the diagonal are 0 in all combinations. */
static void
add_patterns (GArray *list, guint axes, gdouble scale)
{
  const guint pairs = axes * (axes - 1) / 2;

  for (guint k = 0; k < 1u << pairs; k++) {
    guint bit = 0;
    Matrix m;

    set_diagonal (m, 1, 1.125, k % 3 ? 1.5 : 1, 1.25);
    for (guint i = 0; i < axes; i++) {
      for (guint j = i + 1; j < axes; j++, bit++)
        m[i][j] = m[j][i] = k >> bit & 1 ? (bit % 2 ? -.25 : .25) : 0;
    }
    add_tensor (list, axes, m, scale);
  }
}

static void
add_degenerate (GArray *list, guint axes, gdouble scale)
{
  static const gdouble diagonals[][AXES] = { { 0, 0, 0, 0 }, { 1, 1, 1, 1 },
    { .3, .3, .3, .3 }, { -1, -1, -1, -1 }, { 4, 3, 2, 1 }, { 1, 2, 3, 4 },
    { 2, 2, 1, 1 }, { 1, 2, 1, 2 }, { 1, 1, 1, 2 }, { .5, .3, .3, .3 },
    { 2, 1, .5, -.25 }, { 1, 1e-3, 1, 1e-3 } };
  static const gdouble directions[][AXES] = { { 1, .5, .5, 1 }, { 0, 1, 1, 0 },
    { 1, 0, -.5, 2 }, { 1, -1, 0, 0 } };
  Matrix m;

  for (guint k = 0; k < G_N_ELEMENTS (diagonals); k++) {
    const gdouble *d = diagonals[k];

    set_diagonal (m, d[0], d[1], d[2], d[3]);
    add_tensor (list, axes, m, scale);
  }
  for (guint a = 0; a < axes; a++) {
    /* One axis alone, and all but one, which are mixed. */
    memset (m, 0, sizeof (Matrix));
    m[a][a] = .75;
    add_tensor (list, axes, m, scale);
    for (guint i = 0; i < axes; i++) {
      for (guint j = 0; j < axes; j++)
        m[i][j] = i == a || j == a ? 0 : i == j ? 1 : .25;
    }
    add_tensor (list, axes, m, scale);
  }
  /* Rank 1 and rank 2. */
  for (guint k = 0; k < G_N_ELEMENTS (directions); k++) {
    for (guint l = k; l < G_N_ELEMENTS (directions); l++) {
      memset (m, 0, sizeof (Matrix));
      add_product (m, axes, directions[k]);
      if (l > k)
        add_product (m, axes, directions[l]);
      add_tensor (list, axes, m, scale);
    }
  }
}

/* One element is not finite. */
static void
add_nonfinite (GArray *list, guint axes)
{
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY };
  const guint n = nd_tensor_components (axes);
  Matrix m;

  set_diagonal (m, 1, 1, 1, 1);
  m[0][axes - 1] = m[axes - 1][0] = -.5;
  for (guint k = 0; k < n * G_N_ELEMENTS (odd); k++) {
    add_tensor (list, axes, m, 1);
    g_array_index (list, gfloat, list->len - n + k % n) = odd[k / n];
  }
}

static GArray *
list_tensors (guint axes)
{
  static const gdouble scales[] = { 1, 1e-30, 1e30, 1e-40, .1 };
  GArray *list = g_array_new (FALSE, FALSE, sizeof (gfloat));

  for (guint i = 0; i < G_N_ELEMENTS (scales); i++) {
    add_motions (list, axes, scales[i]);
    add_patterns (list, axes, scales[i]);
    add_degenerate (list, axes, scales[i]);
  }
  add_nonfinite (list, axes);
  return list;
}

/* Reference */

/* The eigenvalues of @in, the largest first: the largest element beside the
 * diagonal is rotated to 0. */
static void
find_eigenvalues (guint n, const Matrix in, gdouble *values)
{
  gdouble scale = 0;
  Matrix m;

  for (guint i = 0; i < n; i++) {
    for (guint j = 0; j < n; j++)
      scale = MAX (scale, fabs (in[i][j]));
  }
  for (guint i = 0; i < n; i++) {
    for (guint j = 0; j < n; j++)
      m[i][j] = scale > 0 ? in[i][j] / scale : 0;
  }
  for (guint turn = 0; turn < 200; turn++) {
    guint p = 0, q = 1;

    for (guint i = 0; i < n; i++) {
      for (guint j = i + 1; j < n; j++) {
        if (fabs (m[i][j]) > fabs (m[p][q])) {
          p = i;
          q = j;
        }
      }
    }
    if (n < 2 || fabs (m[p][q]) < 1e-17)
      break;
    const gdouble angle = .5 * atan2 (2 * m[p][q], m[q][q] - m[p][p]);
    const gdouble c = cos (angle), s = sin (angle);

    for (guint k = 0; k < n; k++) {
      const gdouble a = m[k][p], b = m[k][q];

      m[k][p] = c * a - s * b;
      m[k][q] = s * a + c * b;
    }
    for (guint k = 0; k < n; k++) {
      const gdouble a = m[p][k], b = m[q][k];

      m[p][k] = c * a - s * b;
      m[q][k] = s * a + c * b;
    }
  }
  for (guint i = 0; i < n; i++) {
    guint at = i;

    for (; at > 0 && values[at - 1] < m[i][i] * scale; at--)
      values[at] = values[at - 1];
    values[at] = m[i][i] * scale;
  }
}

typedef struct
{
  guint axes;
  gboolean finite;
  Matrix m;
  gdouble values[AXES], trace;
  gdouble error; /* that an eigenvalue may have */
} Tensor;

static void
tensor_init (Tensor *t, guint axes, const gfloat *elements)
{
  *t = (Tensor){ .axes = axes, .finite = TRUE };
  for (guint i = 0; i < axes; i++) {
    for (guint j = 0; j < axes; j++) {
      t->m[i][j] = elements[nd_tensor_index (axes, i, j)];
      t->finite = t->finite && isfinite (t->m[i][j]);
    }
    t->trace += t->m[i][i];
    t->error += 2e-6 * fabs (t->m[i][i]) + TINY;
  }
  if (t->finite)
    find_eigenvalues (axes, t->m, t->values);
}

/* How evenly the energy of the eigenvalues of space is spread, if they have an
 * error. */
static gdouble
get_evenness (guint dims, const gdouble *values, gdouble error)
{
  gdouble sum = 0, product = 1;

  for (guint i = 0; i < dims; i++)
    sum += MAX (values[i] + error, 0);
  for (guint i = 0; i < dims; i++)
    product *= sum > 0 ? MAX (values[i] + error, 0) / sum * dims : 0;
  return pow (product, 1. / dims);
}

/* Solves @m x = -@right by elimination. */
static void
solve (guint n, Matrix m, const gdouble *right, gdouble *x)
{
  for (guint i = 0; i < n; i++)
    x[i] = -right[i];
  for (guint p = 0; p < n; p++) {
    for (guint i = 0; i < n; i++) {
      const gdouble factor = m[i][p] / m[p][p];

      for (guint j = 0; j < n && i != p; j++)
        m[i][j] -= factor * m[p][j];
      x[i] -= i != p ? factor * x[p] : 0;
    }
  }
  for (guint i = 0; i < n; i++)
    x[i] /= m[i][i];
}

/* Whether @got is the velocity, with a certainty that the errors of the
 * eigenvalues explain. */
static gboolean
is_velocity (const Tensor *t, const gfloat *got)
{
  const guint dims = t->axes - 1;
  const gdouble least = t->values[dims], next = t->values[dims - 1] - least;
  const gfloat certainty = got[dims];
  gdouble space[AXES], right[AXES], x[AXES], low, high;
  gboolean empty = TRUE; /* no direction of space has energy */
  Matrix m;

  for (guint i = 0; i < dims; i++) {
    if (!isfinite (got[i]) || (certainty == 0 && got[i] != 0))
      return FALSE;
    right[i] = t->m[i][dims];
    for (guint j = 0; j < dims; j++) {
      m[i][j] = t->m[i][j] - (i == j ? least : 0);
      empty = empty && m[i][j] == 0;
    }
  }
  if (!t->finite || empty)
    return certainty == 0;
  find_eigenvalues (dims, m, space);
  low = next > 2 * t->error
      ? get_evenness (dims, space, -t->error) * (1 - t->error / next) - 1e-4
      : 0;
  high = get_evenness (dims, space, t->error) + 1e-4;
  if (!(certainty >= low && certainty <= high && certainty <= 1))
    return FALSE;
  if (low < .05)
    return certainty >= 0;
  solve (dims, m, right, x);
  for (guint i = 0; i < dims; i++) {
    if (fabs (got[i] - x[i])
        > (1e-4 + 4 * t->error / space[dims - 1]) * (1 + fabs (x[i])))
      return FALSE;
  }
  return TRUE;
}

/* Whether @v is a unit vector of the largest eigenvalue, with the sign that
 * analysis/structure.h says. */
static gboolean
is_orientation (const Tensor *t, const gfloat *v)
{
  gdouble length = 0, largest = 0;

  for (guint i = 0; i < t->axes; i++) {
    gdouble product = 0;

    for (guint j = 0; j < t->axes; j++)
      product += t->m[i][j] * v[j];
    if (!(fabs (product - t->values[0] * v[i]) <= 4 * t->error))
      return FALSE;
    length += (gdouble) v[i] * v[i];
    largest = MAX (largest, fabs (v[i]));
  }
  for (guint i = 0; i < t->axes; i++) {
    if (fabs (v[i]) > .995 * largest)
      return v[i] > 0 && fabs (length - 1) < 1e-5;
    if (fabs (v[i]) > .985 * largest)
      break;
  }
  return fabs (length - 1) < 1e-5;
}

static gboolean
is_measure (const Tensor *t, NdStructure structure, const gfloat *got)
{
  const guint n = nd_structure_components (structure, t->axes), last = n - 1;
  const gdouble *l = t->values, largest = l[0];
  gdouble want[ND_TENSOR_MAX_COMPONENTS] = { 0 }, error = 0;

  if (structure == ND_STRUCTURE_VELOCITY)
    return is_velocity (t, got);
  if (t->finite && t->trace > 0) {
    if (structure == ND_STRUCTURE_ORIENTATION)
      return is_orientation (t, got);
    error = structure == ND_STRUCTURE_EIGENVALUES ? t->error
                                                  : 3 * t->error / largest;
    for (guint k = 0; k < n; k++)
      want[k] = structure == ND_STRUCTURE_EIGENVALUES ? l[k]
          : structure == ND_STRUCTURE_CERTAINTY
          ? CLAMP ((largest - l[t->axes - 1]) / largest, 0, 1)
          : k == last ? MAX (l[k] / largest, 0)
                      : 0;
    for (guint k = 0; structure == ND_STRUCTURE_ANISOTROPY && k < last; k++)
      want[k] = (l[last - k - 1] - l[last - k]) / largest;
  }
  for (guint k = 0; k < n; k++) {
    if (!(fabs (got[k] - want[k]) <= error))
      return FALSE;
  }
  return TRUE;
}

/* Streams */

static void
run_list (const NdBackend *with, const NdStructureSettings *settings,
    gboolean on_device, const NdShape *shape, gfloat *in, gfloat *out,
    guint components)
{
  const gboolean there = on_device && with == check_backend;
  const NdShape made = { components, { shape->size[0], 1, 1 } };
  const gsize in_bytes = shape->components * shape->size[0] * sizeof (gfloat);
  const gsize out_bytes = components * shape->size[0] * sizeof (gfloat);
  guint8 *from = check_memory_new (in_bytes, there);
  guint8 *to = check_memory_new (out_bytes, there);
  const NdSamples volume = nd_samples_dense (from, shape, ND_FLOAT32);
  const NdSamples output = nd_samples_dense (to, &made, ND_FLOAT32);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      with->algorithms->structure_new (settings, shape, -1, &error);

  g_assert_no_error (error);
  check_copy (from, in, in_bytes, there);
  nd_algorithm_push (algorithm, &volume, &error);
  g_assert_no_error (error);
  nd_algorithm_end (algorithm);
  g_assert_true (nd_algorithm_ready (algorithm));
  nd_algorithm_respond (algorithm, &output, &error);
  g_assert_no_error (error);
  check_copy (out, to, out_bytes, there);
  check_memory_free (from, there);
  check_memory_free (to, there);
}

static gboolean
check_list (gint job, const NdBackend *with,
    const NdStructureSettings *settings, guint axes, gboolean on_device)
{
  g_autoptr (GArray) list = list_tensors (axes);
  const gfloat *tensor = (gfloat *) list->data, *got;
  const guint n = nd_tensor_components (axes);
  const NdShape shape = { n, { list->len / n, 1, 1 } };
  const guint components = nd_structure_output_components (settings, axes);
  g_autofree gfloat *out = g_new (gfloat, components * shape.size[0]);
  guint n_wrong = 0;

  run_list (with, settings, on_device, &shape, (gfloat *) list->data, out,
      components);
  got = out;
  for (gsize i = 0; i < shape.size[0]; i++, tensor += n) {
    Tensor t;

    tensor_init (&t, axes, tensor);
    for (guint s = 0; s < settings->n_structures; s++) {
      const NdStructure structure = settings->structures[s];
      const guint size = nd_structure_components (structure, axes);

      if (!is_measure (&t, structure, got) && n_wrong++ < 5) {
        g_printerr ("# job %d, %s: measure %d of %u of tensor", job, with->name,
            structure, settings->n_structures);
        for (guint k = 0; k < n; k++)
          g_printerr (" %g", tensor[k]);
        g_printerr (" is");
        for (guint k = 0; k < size; k++)
          g_printerr (" %g", got[k]);
        g_printerr ("\n");
      }
      got += size;
    }
  }
  if (n_wrong > 0)
    g_printerr ("# job %d, %s: %u measures of tensors over %u axes are wrong\n",
        job, with->name, n_wrong, axes);
  return n_wrong == 0;
}

gboolean
check_tensors (gint job, GRand *r)
{
  const gboolean on_device = g_rand_boolean (r);
  gboolean ok = TRUE;

  for (guint axes = 2; axes <= AXES; axes++) {
    /* The velocity alone has code of its own, and so have measures without
     * it. */
    const NdStructureSettings settings[] = {
      { .structures = { ND_STRUCTURE_EIGENVALUES, ND_STRUCTURE_ORIENTATION,
            ND_STRUCTURE_CERTAINTY, ND_STRUCTURE_ANISOTROPY },
          .n_structures = 4 },
      { .structures = { ND_STRUCTURE_VELOCITY },
          .n_structures = 1,
          .speed = { 1, 1, 1 } },
      { .structures = { ND_STRUCTURE_CERTAINTY, ND_STRUCTURE_VELOCITY,
            ND_STRUCTURE_EIGENVALUES, ND_STRUCTURE_ANISOTROPY,
            ND_STRUCTURE_ORIENTATION },
          .n_structures = 5,
          .speed = { 1, 1, 1 } },
    };

    for (guint k = 0; k < (axes == 2 ? 1 : G_N_ELEMENTS (settings)); k++) {
      ok = check_list (job, &nd_cpu_backend, &settings[k], axes, FALSE) && ok;
      if (check_has_module)
        ok = check_list (job, check_backend, &settings[k], axes, on_device)
            && ok;
    }
  }
  return ok;
}
