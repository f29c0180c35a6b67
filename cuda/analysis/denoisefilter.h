/* The filter of one component of a stream that cuda/analysis/denoise.cu
 * denoises.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/memory.h"
#include "cuda/ring.h"
#include "engine/algorithm.h"

#include <memory>

namespace nd
{

/* One output of a filter. */
struct DenoiseOutput
{
  int64_t position; /* of the volume */
  int64_t pushed;   /* volumes so far */
  bool ended;       /* there will be no more */
  double sigma;     /* of the noise, > 0, or the strength for speckle */
  bool is_needed;   /* whether the result is read */
};

class DenoiseFilter
{
public:
  virtual ~DenoiseFilter () = default;

  /* The bytes of device memory that allocate() takes. */
  virtual size_t bytes () const = 0;
  virtual void allocate () = 0;

  /* Begins a new stream. */
  virtual void reset () {}

  /* The place of volume @position: dense floats. It holds the volume from its
   * push until its output. */
  virtual float *input (int64_t position) = 0;

  /* Enqueues the work on volume @position, which is written to input () by
   * earlier work of @stream. */
  virtual void push (int64_t position, cudaStream_t stream) {}

  /* Enqueues the work of an output. Outputs are run in order, each once, when
   * the stream has their later volumes or has ended. Returns the result, which
   * is valid until the next call and which the caller may change. If it is not
   * needed, it may be anything. */
  virtual float *run (const DenoiseOutput &output, cudaStream_t stream) = 0;
};

/* method=transform. */
std::unique_ptr<DenoiseFilter>
make_transform_filter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3],
    const ContextPointer &context);

/* noise=speckle. */
std::unique_ptr<DenoiseFilter>
make_speckle_filter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3]);

} // namespace nd
