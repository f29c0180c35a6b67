/* The speed of a device, relative to an H100. It is measured once and stored
 * across runs. The cost models divide the times of an H100 by it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

namespace nd
{

/* Work per second; 1 is the rate of an H100. */
struct Rates
{
  double multiply_adds;        /* of float32 */
  double double_multiply_adds; /* of float64; 1 is that of float32 too */
  double products;             /* of bytes by mma; meaningless before sm_80 */
  double bytes;                /* copied in device memory */
  int multiprocessors;
};

/* The rates of the current device. */
Rates device_rates ();

} // namespace nd
