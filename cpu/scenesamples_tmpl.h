/* Interpolation of samples of the type SAMPLE at the positions of a packet of
 * rays. NAME() makes the names of functions.
 *
 * Along each axis, the value at a position depends on the samples 0 and 1
 * before and after it, and the gradient on samples -1 to 2. Beyond the first
 * and last samples, the nearest ones count. If a position is at a sample, the
 * next one has the weight 0 and may be NaN.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/* The value at @at, which is between the first and the last sample. */
static inline gfloat
NAME (value) (const NdSceneSamples *s, const gfloat at[3])
{
  const gint x = at[0], y = at[1], z = at[2];
  const gfloat fx = at[0] - x, fy = at[1] - y, fz = at[2] - z;
  /* A sample of weight 0 may be beyond the last one, or NaN. */
  const gsize dx = fx > 0 ? s->step[0] : 0;
  const gsize dy = fy > 0 ? s->step[1] : 0;
  const gsize dz = fz > 0 ? s->step[2] : 0;
  const SAMPLE *p = (const SAMPLE *) s->data + x * s->step[0] + y * s->step[1]
      + z * s->step[2];
  const SAMPLE *q = p + dz;

  return mix (mix (mix (p[0], p[dx], fx), mix (p[dy], p[dy + dx], fx), fy),
      mix (mix (q[0], q[dx], fx), mix (q[dy], q[dy + dx], fx), fy), fz);
}

static void
NAME (gradient) (const NdSceneSamples *s, const gfloat at[3], gfloat g[3])
{
  for (guint a = 0; a < 3; a++) {
    gfloat before[3] = { at[0], at[1], at[2] };
    gfloat after[3] = { at[0], at[1], at[2] };

    before[a] = limit (at[a] - 1, s->size[a] - 1);
    after[a] = limit (at[a] + 1, s->size[a] - 1);
    g[a] = NAME (value) (s, after) - NAME (value) (s, before);
  }
}

/* The same lane by lane. */
static __attribute__ ((noinline)) void
NAME (each_value) (const NdSceneSamples *s, const V at[3], V *v)
{
  for (guint l = 0; l < ND_VECTOR; l++)
    (*v)[l] = NAME (value) (s, (gfloat[]){ at[0][l], at[1][l], at[2][l] });
}

static __attribute__ ((noinline)) void
NAME (each_gradient) (const NdSceneSamples *s, const V at[3], I lit, V g[3])
{
  for (guint l = 0; l < ND_VECTOR; l++) {
    gfloat one[3] = { 0 };

    if (lit[l])
      NAME (gradient) (s, (gfloat[]){ at[0][l], at[1][l], at[2][l] }, one);
    for (guint a = 0; a < 3; a++)
      g[a][l] = one[a];
  }
}

/* The samples around positions. */
typedef struct
{
  V part[3]; /* of the way from sample 0 to sample 1 */
  I base;    /* the index of sample 0 */
  I back[3]; /* from sample 0 to sample -1 along each axis */
  I next[3]; /* to sample 1 */
  I last[3]; /* to sample 2 */

  /* Whether samples -1 to 2 along x can be read at once, in all lanes. */
  gboolean fast;
  /* Whether the samples are bytes and none is beyond the first or last one
   * along any axis. */
  gboolean inner;

  /* If `fast` and the samples are bytes, those of the rows 0 and 1 along y, in
   * the planes 0 and 1 along z; values_at() reads them. */
  I bits[4];
} NAME (Near);

/* @active: the lanes that count. */
INLINE void
NAME (find_near) (const NdSceneSamples *s, const V at[3], I active,
    NAME (Near) * near)
{
  const gboolean large = s->size[1] > 3 && s->size[2] > 3;
  I index[3], inner[3], other = { 0 };

  for (guint a = 0; a < 3; a++) {
    index[a] = __builtin_convertvector (at[a], I);
    near->part[a] = at[a] - floats (index[a]);
    inner[a] = limited_int (index[a], 1, s->size[a] - 3);
    other |= inner[a] ^ index[a];
  }
  near->inner =
      sizeof (SAMPLE) == 1 && s->fast && large && !any (active & (other != 0));
  near->fast = near->inner
      || (s->fast
          && (sizeof (SAMPLE) == 4 || !any (active & (inner[0] != index[0]))));
  near->base = (I){ 0 };
  for (guint a = 0; a < 3; a++) {
    const I size = (I){} + s->size[a], step = (I){} + (gint) s->step[a];

    /* Lanes that do not count read the volume, too. */
    if (near->inner || (a == 0 && sizeof (SAMPLE) < 4))
      index[a] = inner[a];
    near->base += index[a] * step;
    near->back[a] = near->inner ? -step : (index[a] > 0) & -step;
    near->next[a] = near->inner ? step : (index[a] < size - 1) & step;
    near->last[a] =
        near->inner ? 2 * step : near->next[a] + ((index[a] < size - 2) & step);
  }
}

/* Between @a and @b. */
INLINE V
NAME (between) (V a, V b, V part)
{
  if (IS_FLOAT (SAMPLE))
    b = choose (part > 0, b, a);
  return a + part * (b - a);
}

/* Sample @first of bytes -1 to 2. */
INLINE V
NAME (unpack) (I bits, gint first)
{
  return floats ((I) ((U) bits >> (8 * (first + 1)) & 255));
}

/* Sample 0 and 1 along x of the row at @row. */
INLINE void
NAME (read_pair) (const NdSceneSamples *s, const NAME (Near) * near, I row,
    V pair[2])
{
  I bits;

  if (IS_FLOAT (SAMPLE)) {
    pair[0] = GATHER_FLOATS (s->data, row);
    pair[1] = GATHER_FLOATS (s->data, row + near->next[0]);
  } else if (sizeof (SAMPLE) == 1) {
    bits = GATHER (s->data, row - 1, 1);
    pair[0] = NAME (unpack) (bits, 0);
    pair[1] = NAME (unpack) (bits, 1);
  } else {
    bits = GATHER (s->data, row, 2);
    pair[0] =
        IS_SIGNED (SAMPLE) ? floats (bits << 16 >> 16) : floats (bits & 65535);
    pair[1] = IS_SIGNED (SAMPLE) ? floats (bits >> 16)
                                 : floats ((I) ((U) bits >> 16));
  }
}

/* The row @j, 0 or 1, along y of the plane @k along z. */
INLINE I
NAME (row) (const NAME (Near) * near, guint j, guint k)
{
  return near->base + (j ? near->next[1] : (I){}) + (k ? near->next[2] : (I){});
}

/* Samples -1 to 2 of that row. */
INLINE void
NAME (read_row) (const NdSceneSamples *s, const NAME (Near) * near, guint j,
    guint k, V samples[4])
{
  const I row = NAME (row) (near, j, k);

  if (IS_FLOAT (SAMPLE)) {
    samples[0] = GATHER_FLOATS (s->data, row + near->back[0]);
    NAME (read_pair) (s, near, row, samples + 1);
    samples[3] = GATHER_FLOATS (s->data, row + near->last[0]);
  } else if (sizeof (SAMPLE) == 1) {
    for (gint i = 0; i < 4; i++)
      samples[i] = NAME (unpack) (near->bits[2 * k + j], i - 1);
  } else {
    NAME (read_pair) (s, near, row - 1, samples);
    NAME (read_pair) (s, near, row + 1, samples + 2);
  }
}

/* The value of the row at @row, interpolated along x. */
INLINE V
NAME (row_value) (const NdSceneSamples *s, const NAME (Near) * near, I row)
{
  V pair[2];

  NAME (read_pair) (s, near, row, pair);
  return NAME (between) (pair[0], pair[1], near->part[0]);
}

INLINE V
NAME (values_at) (const NdSceneSamples *s, const V at[3], NAME (Near) * near)
{
  V values[2][2], v;

  if (!near->fast) {
    NAME (each_value) (s, at, &v);
    return v;
  }
  if (sizeof (SAMPLE) == 1 && near->inner)
    gather_rows (s->data, near->base,
        (gssize[]){
            -1, s->step[1] - 1, s->step[2] - 1, s->step[1] + s->step[2] - 1 },
        near->bits);
  for (guint k = 0; k < 2; k++) {
    for (guint j = 0; j < 2; j++) {
      I *bits = &near->bits[2 * k + j];

      if (sizeof (SAMPLE) == 1) {
        if (!near->inner)
          *bits = GATHER (s->data, NAME (row) (near, j, k) - 1, 1);
        values[k][j] = NAME (between) (NAME (unpack) (*bits, 0),
            NAME (unpack) (*bits, 1), near->part[0]);
      } else {
        values[k][j] = NAME (row_value) (s, near, NAME (row) (near, j, k));
      }
    }
  }
  return NAME (between) (NAME (between) (values[0][0], values[0][1],
                             near->part[1]),
      NAME (between) (values[1][0], values[1][1], near->part[1]),
      near->part[2]);
}

/* The values of the rows -1 and 2 along y in the planes 0 and 1 along z, and of
 * those along z in the planes 0 and 1 along y. */
INLINE void
NAME (read_outer) (const NdSceneSamples *s, const NAME (Near) * near,
    V before[2][2], V after[2][2])
{
  for (guint a = 0; a < 2; a++) {
    const gssize own = s->step[1 + a], other = s->step[2 - a];
    I bits[4];

    if (sizeof (SAMPLE) == 1 && near->inner) {
      gather_rows (s->data, near->base,
          (gssize[]){ -own, 2 * own, other - own, other + 2 * own }, bits);
      for (guint i = 0; i < 2; i++) {
        before[a][i] = NAME (between) (NAME (unpack) (bits[2 * i], -1),
            NAME (unpack) (bits[2 * i], 0), near->part[0]);
        after[a][i] = NAME (between) (NAME (unpack) (bits[2 * i + 1], -1),
            NAME (unpack) (bits[2 * i + 1], 0), near->part[0]);
      }
      continue;
    }
    for (guint i = 0; i < 2; i++) {
      const I row = near->base + (i ? near->next[2 - a] : (I){});

      before[a][i] = NAME (row_value) (s, near, row + near->back[1 + a]);
      after[a][i] = NAME (row_value) (s, near, row + near->last[1 + a]);
    }
  }
}

/* Differences of the values one sample after and one before, after
 * values_at(). */
INLINE void
NAME (gradients_at) (const NdSceneSamples *s, const V at[3],
    const NAME (Near) * near, I lit, V g[3])
{
  const V *part = near->part;
  V values[2][2], slopes[2][2]; /* of the rows 0 and 1 along z and y */
  V before[2][2], after[2][2], y[2], z[2];

  if (!near->fast) {
    NAME (each_gradient) (s, at, lit, g);
    return;
  }
  for (guint k = 0; k < 2; k++) {
    for (guint j = 0; j < 2; j++) {
      V row[4];

      NAME (read_row) (s, near, j, k, row);
      values[k][j] = NAME (between) (row[1], row[2], part[0]);
      slopes[k][j] = NAME (between) (row[2], row[3], part[0])
          - NAME (between) (row[0], row[1], part[0]);
    }
  }
  NAME (read_outer) (s, near, before, after);
  for (guint k = 0; k < 2; k++) {
    y[k] = NAME (between) (values[k][1], after[0][k], part[1])
        - NAME (between) (before[0][k], values[k][0], part[1]);
    z[k] = NAME (between) (values[1][k], after[1][k], part[2])
        - NAME (between) (before[1][k], values[0][k], part[2]);
  }
  g[0] = NAME (between) (NAME (between) (slopes[0][0], slopes[0][1], part[1]),
      NAME (between) (slopes[1][0], slopes[1][1], part[1]), part[2]);
  g[1] = NAME (between) (y[0], y[1], part[2]);
  g[2] = NAME (between) (z[0], z[1], part[1]);
}

/* Cells @first to @end - 1 of the line of cells (@y, @z). The loop over the
 * samples of a row is one that compilers make vectors of. */
static void
NAME (range_part) (const NdSceneSamples *s, gint first, gint end, gint y,
    gint z, gfloat *low, gfloat *high)
{
  const gint end_y = MIN ((y + 1) * ND_SCENE_CELL, s->size[1] - 1);
  const gint end_z = MIN ((z + 1) * ND_SCENE_CELL, s->size[2] - 1);
  const gint begin = first * ND_SCENE_CELL;
  const gint n = MIN (end * ND_SCENE_CELL, s->size[0] - 1) - begin + 1;
  SAMPLE least[RANGE_CELLS * ND_SCENE_CELL + 1];
  SAMPLE most[RANGE_CELLS * ND_SCENE_CELL + 1];

  for (gint i = 0; i < n; i++) {
    least[i] = HIGHEST;
    most[i] = LOWEST;
  }
  for (gint k = z * ND_SCENE_CELL; k <= end_z; k++) {
    for (gint j = y * ND_SCENE_CELL; j <= end_y; j++) {
      const gsize step = s->step[0];
      const SAMPLE *p = (const SAMPLE *) s->data + begin * step + j * s->step[1]
          + k * s->step[2];

      if (step == 1) {
        for (gint i = 0; i < n; i++) {
          least[i] = p[i] < least[i] ? p[i] : least[i];
          most[i] = p[i] > most[i] ? p[i] : most[i];
        }
      } else {
        for (gint i = 0; i < n; i++) {
          least[i] = p[i * step] < least[i] ? p[i * step] : least[i];
          most[i] = p[i * step] > most[i] ? p[i * step] : most[i];
        }
      }
    }
  }
  for (gint cell = first; cell < end; cell++) {
    const gint from = cell * ND_SCENE_CELL - begin;

    for (gint i = from; i <= from + ND_SCENE_CELL && i < n; i++) {
      low[cell] = least[i] < low[cell] ? least[i] : low[cell];
      high[cell] = most[i] > high[cell] ? most[i] : high[cell];
    }
  }
}

static void
NAME (range) (const NdSceneSamples *s, gint y, gint z, gfloat *low,
    gfloat *high)
{
  for (gint cell = 0; cell < s->cells[0]; cell += RANGE_CELLS)
    NAME (range_part)
  (s, cell, MIN (cell + RANGE_CELLS, s->cells[0]), y, z, low, high);
}
