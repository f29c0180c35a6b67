/* A test double of cuFFT: planning succeeds a given number of times, and
 * existing plans are counted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define SUCCESS 0
#define ALLOC_FAILED 2

int cufft_double_plans;   /* created and not destroyed */
int cufft_double_succeed; /* the number of times that planning succeeds */

int
cufftCreate (int *plan)
{
  *plan = ++cufft_double_plans;
  return SUCCESS;
}

int
cufftEstimate3d (int nx, int ny, int nz, int type, unsigned long *bytes)
{
  *bytes = 0;
  return SUCCESS;
}

int
cufftMakePlan3d (int plan, int nx, int ny, int nz, int type,
    unsigned long *bytes)
{
  *bytes = 1;
  return cufft_double_succeed-- > 0 ? SUCCESS : ALLOC_FAILED;
}

int
cufftSetStream (int plan, void *stream)
{
  return SUCCESS;
}

int
cufftExecR2C (int plan, void *in, void *out)
{
  return SUCCESS;
}

int
cufftExecC2R (int plan, void *in, void *out)
{
  return SUCCESS;
}

int
cufftExecD2Z (int plan, void *in, void *out)
{
  return SUCCESS;
}

int
cufftExecZ2D (int plan, void *in, void *out)
{
  return SUCCESS;
}

int
cufftExecC2C (int plan, void *in, void *out, int direction)
{
  return SUCCESS;
}

int
cufftExecZ2Z (int plan, void *in, void *out, int direction)
{
  return SUCCESS;
}

int
cufftDestroy (int plan)
{
  cufft_double_plans--;
  return SUCCESS;
}
