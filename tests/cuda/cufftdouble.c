/* A cuFFT that plans only as often as it is told, and counts the plans that
 * there are. SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define SUCCESS 0
#define ALLOC_FAILED 2

int cufft_double_plans;         /* created and not destroyed */
int cufft_double_succeed;       /* how often planning succeeds */

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
cufftDestroy (int plan)
{
  cufft_double_plans--;
  return SUCCESS;
}
