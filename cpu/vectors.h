/* Vectors of ND_VECTOR floats, for sources that are compiled once for each
 * instruction set (cpu/simd.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/simd.h"

#include <glib.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define ND_VECTOR (ND_VECTOR_BYTES / 4)
#define INLINE static inline __attribute__ ((always_inline))

typedef gfloat V __attribute__ ((vector_size (4 * ND_VECTOR)));
typedef gint32 I __attribute__ ((vector_size (4 * ND_VECTOR)));
typedef guint32 U __attribute__ ((vector_size (4 * ND_VECTOR)));
typedef gfloat VMemory
    __attribute__ ((vector_size (4 * ND_VECTOR), aligned (4), may_alias));

INLINE V
load (const gfloat *from)
{
  return *(const VMemory *) from;
}

INLINE void
store (gfloat *to, V value)
{
  *(VMemory *) to = value;
}

INLINE V
all (gfloat value)
{
  return (V){} + value;
}
