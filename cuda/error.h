/* Errors of the module are exceptions. The table of functions in
 * cuda/backend.cu turns each into a GError.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"

#include <atomic>
#include <cuda_runtime.h>
#include <exception>
#include <string>
#include <utility>

namespace nd
{

class Error : public std::exception
{
public:
  Error (NdError code, std::string message)
      : code (code), message (std::move (message))
  {
  }
  const char *what () const noexcept override { return message.c_str (); }

  const NdError code;

private:
  const std::string message;
};

/* Throws Error if @result, of @call, is an error. If the context answers every
 * later call with that error, the error is kept in lost_to. */
void check (cudaError_t result, const char *call);

/* The error that made a context unusable, or cudaSuccess. The driver may refuse
 * to give this process another context. */
extern std::atomic<cudaError_t> lost_to;

#define ND_CUDA(call) ::nd::check (call, #call)
/* After a launch. */
#define ND_CUDA_LAUNCHED(kernel) \
  ::nd::check (cudaGetLastError (), "launch of " #kernel)

/* a * b. Throws Error with ND_ERROR_MEMORY if that overflows. */
size_t multiply (size_t a, size_t b);

} // namespace nd
