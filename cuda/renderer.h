/* The renderer: pictures of volumes on the device, as view/picture.h defines
 * them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/ring.h"
#include "view/picture.h"

namespace nd
{

extern const NdRendererFuncs renderer_funcs;

} // namespace nd

struct _NdRenderer
{
  _NdRenderer (const NdPictureJob &job, nd::ContextPointer context);

  void take (const void *volume, const size_t at[3]);
  void sample (const void *volume, size_t step, float *samples, size_t n);
  void extremes (const void *volume, double *low, double *high);
  void write (double low, double window, unsigned char *pixels,
      ptrdiff_t stride);

  const nd::ContextPointer context;

private:
  const void *on_device (const void *volume);
  void project (const void *volume, int across, size_t from, size_t to,
      size_t left, size_t top);

  const NdPictureJob job;
  const nd::Stream stream;
  nd::Memory<float> values; /* of all pixels */
  nd::Memory<unsigned char> greys;
  nd::Memory<float> samples;      /* grows to the largest request */
  nd::Memory<unsigned> found;     /* extremes, as ordered integers */
  nd::Memory<unsigned char> copy; /* of a volume that kernels cannot access */
};
