/* The loops of one type of key: KEY, LANES of a vector, and LOWER and UPPER of
 * two vectors. Included by cpu/rankkernels.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

typedef KEY VECTOR __attribute__ ((vector_size (LANES * sizeof (KEY))));
typedef KEY MEMORY __attribute__ ((vector_size (LANES * sizeof (KEY)),
    aligned (1), may_alias));

/* Each step reads and writes whole rows, which stay in the first cache. */
static void
NAME (step) (const KEY *a, const KEY *b, KEY *low, KEY *high, gsize n)
{
  if (low && high) {
#pragma GCC unroll 4
    for (gsize i = 0; i < n; i += LANES) {
      const VECTOR p = *(const MEMORY *) (a + i), q = *(const MEMORY *) (b + i);

      *(MEMORY *) (low + i) = LOWER (p, q);
      *(MEMORY *) (high + i) = UPPER (p, q);
    }
  } else if (low) {
#pragma GCC unroll 4
    for (gsize i = 0; i < n; i += LANES)
      *(MEMORY *) (low + i) =
          LOWER (*(const MEMORY *) (a + i), *(const MEMORY *) (b + i));
  } else {
#pragma GCC unroll 4
    for (gsize i = 0; i < n; i += LANES)
      *(MEMORY *) (high + i) =
          UPPER (*(const MEMORY *) (a + i), *(const MEMORY *) (b + i));
  }
}

static const KEY *
NAME (row) (NdRankOperand operand, gconstpointer const *inputs,
    const guint8 *scratch, gsize pitch)
{
  return operand.row < 0
      ? (const KEY *) inputs[~operand.row] + operand.shift
      : (const KEY *) (scratch + operand.row * pitch) + operand.shift;
}

static gconstpointer
NAME (run) (const NdRankProgram *program, gconstpointer const *inputs, gsize n,
    guint8 *scratch, gsize pitch)
{
  for (gsize s = 0; s < program->n_steps; s++) {
    const NdRankStep *step = &program->steps[s];

    NAME (step)
    (NAME (row) (step->a, inputs, scratch, pitch),
        NAME (row) (step->b, inputs, scratch, pitch),
        step->low < 0 ? NULL : (KEY *) (scratch + step->low * pitch),
        step->high < 0 ? NULL : (KEY *) (scratch + step->high * pitch),
        n + step->extra);
  }
  return NAME (row) (program->out, inputs, scratch, pitch);
}

#if KEY_BITS >= 32
/* The most significant bit first: the key has a bit if at most @rank keys are
 * less than the least one that has it. */
static void
NAME (select) (gconstpointer const *rows, gsize n_rows, gsize rank, gsize n,
    gpointer out)
{
  for (gsize i = 0; i < n; i += LANES) {
    VECTOR found = (VECTOR){} + KEY_MIN;

    for (gint bit = KEY_BITS - 1; bit >= 0; bit--) {
      const VECTOR tried =
          (VECTOR) ((UNSIGNED) found + ((UNSIGNED_KEY) 1 << bit));
      VECTOR less = {};

      for (gsize r = 0; r < n_rows; r++)
        less -= *(const MEMORY *) ((const KEY *) rows[r] + i) < tried;
      less = less <= (VECTOR){} + (KEY) rank;
      found = (tried & less) | (found & ~less);
    }
    *(MEMORY *) ((KEY *) out + i) = found;
  }
}
#endif
