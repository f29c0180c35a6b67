/* A test double of a driver from 2018, as far as cudart calls it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

int
cuDriverGetVersion (int *version)
{
  *version = 9020;
  return 0;
}

int
cuInit (unsigned flags)
{
  (void) flags;
  return 0;
}

int
cuDeviceGetCount (int *count)
{
  *count = 1;
  return 0;
}
