/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/launches.h"

#include <algorithm>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cxxabi.h>

namespace nd
{

namespace
{

thread_local LaunchRecord *current;

/* The kernels and their files, which the build finds in the sources. */
const struct
{
  const char *kernel, *file;
} places[] = {
#include "kernelplaces.inc"
};

} // namespace

LaunchRecord::LaunchRecord ()
{
  current = this;
}

LaunchRecord::~LaunchRecord ()
{
  current = nullptr;
}

std::string
LaunchRecord::text () const
{
  std::string text;

  for (const std::string &kernel : kernels) {
    text += (text.empty () ? "" : ", ") + kernel;
    for (const auto &place : places)
      if (kernel == place.kernel)
        text += std::string (" (") + place.file + ")";
  }
  return text;
}

void
record_launch (const char *kernel)
{
  if (!current)
    return;
  std::vector<std::string> &known = current->kernels;

  if (std::find (known.begin (), known.end (), kernel) == known.end ())
    known.push_back (kernel);
}

/* The runtime's name is mangled: _ZN2nd13direct_kernelILi3EEEv... */
void
record_launch (const void *kernel)
{
  const char *mangled;

  if (!current || cudaFuncGetName (&mangled, kernel) != cudaSuccess)
    return;
  char *const plain = abi::__cxa_demangle (mangled, nullptr, nullptr, nullptr);
  const std::string full = plain ? plain : mangled;
  const size_t end = std::min (full.find ("_kernel"), full.size ());
  const size_t begin = full.find_last_of (": ", end) + 1;

  record_launch (full.substr (begin, end - begin).append ("_kernel").c_str ());
  free (plain);
}

} // namespace nd
