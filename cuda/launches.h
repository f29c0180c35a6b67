/* The names of the kernels that a thread launches, for the log and statistics.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <string>
#include <vector>

namespace nd
{

/* Records the launches of its thread while it exists. A thread has one at a
 * time. */
class LaunchRecord
{
public:
  LaunchRecord ();
  ~LaunchRecord ();
  LaunchRecord (const LaunchRecord &) = delete;
  LaunchRecord &operator= (const LaunchRecord &) = delete;

  /* Each kernel once, with its file, in the order of the first launches:
   * "direct_kernel (cuda/direct/stencilkernel.cuh), ...". */
  std::string text () const;

private:
  friend void record_launch (const char *);

  std::vector<std::string> kernels;
};

/* Adds a kernel to the record of this thread, if there is one: by its name, or
 * by the function that is launched. */
void record_launch (const char *kernel);
void record_launch (const void *kernel);

} // namespace nd
