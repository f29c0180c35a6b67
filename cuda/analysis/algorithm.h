/* Algorithms on the device, and their part of the back end's interface.
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

class Algorithm : public NdAlgorithm
{
public:
  explicit Algorithm (ContextPointer context);
  virtual ~Algorithm () = default;

  virtual void push (const NdSamples &volume) = 0;
  virtual bool ready () const = 0;
  virtual void respond (const NdSamples *out) = 0;
  virtual void end () = 0;
  virtual void reset () = 0;
  virtual size_t bytes () const = 0;

  /* Denoising only. */
  virtual void set_strength (const NdDenoiseSettings &settings) {}
  virtual double sigma () const { return 0; }

  const ContextPointer context;

  /* Of a push or a respond. Later ones fail with it until reset(), because the
   * volumes on the device may be incomplete. */
  std::exception_ptr failure;
};

/* A volume on the device in place of one that kernels cannot access. */
class Transfer
{
public:
  Transfer (const NdShape &shape, NdSampleType type);

  /* @volume, or a copy that @stream makes. */
  NdSamples bring_in (const Context &context, const NdSamples &volume,
      cudaStream_t stream);

  /* The memory that kernels write in place of @out; send_out () copies it to
   * @out. */
  NdSamples place (const Context &context, const NdSamples &out);
  void send_out (const Context &context, const NdSamples &out,
      cudaStream_t stream);

private:
  NdSamples samples ();

  const NdShape shape;
  const NdSampleType type;
  Memory<unsigned char> memory;
};

std::unique_ptr<Algorithm> make_denoise (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const NdShape &shape, NdSampleType type,
    guint64 kept, const ContextPointer &context);

std::unique_ptr<Algorithm> make_structure (const NdStructureSettings &settings,
    const NdShape &shape, const ContextPointer &context);

extern const NdAlgorithmFuncs algorithm_funcs;

} // namespace nd
