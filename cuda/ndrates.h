/* What a device can do, measured once on each and remembered across runs: the
 * cost model counts in seconds of an H100, and these say how many of a device's
 * own they are.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndcuda.h"

namespace nd
{

/* Work a second; 1 is what an H100 does. And how many do it. */
struct Rates
{
  double multiply_adds;         /* of float32 */
  double products;              /* of bytes, by mma, from sm_80 on */
  double bytes;                 /* copied in device memory */
  int multiprocessors;
};

/* Of the current device. */
Rates device_rates ();

} // namespace nd
