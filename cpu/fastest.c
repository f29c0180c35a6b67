/* Prints the fastest instruction set of this machine that has kernels.
 * cpu/meson.build runs it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <stdio.h>

int
main (void)
{
  const char *fastest = "base";

  __builtin_cpu_init ();
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    fastest = "avx2";
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw")
      && __builtin_cpu_supports ("avx512vl"))
    fastest = "avx512";
  fputs (fastest, stdout);
  return 0;
}
