/* The instruction set that a source of kernels is compiled for. cpu/meson.build
 * compiles each of these sources for all of them, with ND_TARGET (base, avx2 or
 * avx512) and ND_VECTOR_BYTES, the bytes of a register. cpu/dispatch.c chooses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#define ND_JOIN(name, target) name##_##target
#define ND_AT_TARGET(name, target) ND_JOIN (name, target)

/* The table of kernels @name of this instruction set. */
#define ND_TARGET_TABLE(name) ND_AT_TARGET (name, ND_TARGET)

/* One of three values, as measured with each instruction set. */
#if ND_VECTOR_BYTES == 64
#define ND_BY_TARGET(base, avx2, avx512) (avx512)
#elif ND_VECTOR_BYTES == 32
#define ND_BY_TARGET(base, avx2, avx512) (avx2)
#else
#define ND_BY_TARGET(base, avx2, avx512) (base)
#endif
