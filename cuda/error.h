/* Functions of the module throw exceptions. Those that the engine calls
 * (cuda/backend.cu) turn them into GErrors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"
#include "cuda/launches.h"

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

/* Throws Error if @result, which @call returned, is an error. Stores the error
 * in context_error if it has made the current context unusable. */
void check (cudaError_t result, const char *call);

/* The error that made a context unusable, or cudaSuccess. */
extern std::atomic<cudaError_t> context_error;

#define ND_CUDA(call) ::nd::check (call, #call)
/* Checks the launch of @kernel, which comes directly before. */
#define ND_CUDA_LAUNCHED(kernel)                            \
  (::nd::check (cudaGetLastError (), "launch of " #kernel), \
      ::nd::record_launch (#kernel))

/* a * b. Throws Error with ND_ERROR_MEMORY if that overflows. */
size_t multiply (size_t a, size_t b);

} // namespace nd
