/* Scenes on the device: pictures of volumes by rays, of which only the pixels
 * leave the device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/pinned.h"
#include "cuda/ring.h"
#include "cuda/view/rays.cuh"

namespace nd
{

extern const NdSceneFuncs scene_funcs;

} // namespace nd

struct _NdScene
{
  _NdScene (const NdSceneJob &job, nd::ContextPointer context);

  void take (const void *volume);
  void draw (const NdPanel *panels, unsigned n, const NdLook &look,
      unsigned char *pixels, ptrdiff_t stride);
  void line (size_t first, size_t step, float *to, size_t n);

  const nd::ContextPointer context;

private:
  struct Box;

  nd::Direct direct (int channel) const;
  void allocate_words ();
  void pack (int channel);
  template <typename T>
  void pack_as (const nd::Direct &volume);
  void find_ranges ();
  void find_empty (bool surface);
  void draw_channel (const NdPanel *panels, unsigned n, int channel,
      const Box &box);
  void draw_rays (nd::RayKind kind, unsigned n, int channel, const Box &box);
  template <typename T>
  void draw_rays_as (nd::RayKind kind, unsigned n, int channel, const Box &box);

  const NdSceneJob job;
  const nd::Stream stream;
  const void *volume = nullptr;   /* on the device */
  nd::Memory<unsigned char> copy; /* of a volume that kernels cannot access */

  /* Words and cells of the volume; allocated when they are needed. */
  nd::Memory<unsigned> word_memory;
  nd::Memory<float> low, high;
  nd::Memory<unsigned char> empty[2];
  nd::Words words = {};
  nd::Cells cells = {};
  NdSampleType packed_type = ND_FLOAT32; /* of the words */
  int packed_channel = NOTHING;          /* of the words and the ranges */
  bool ranged = false; /* low and high are those of the words */
  static constexpr int NOTHING = -2;

  /* The look and, after it, the panels. */
  nd::Pinned<unsigned char> inputs;
  nd::Memory<unsigned char> inputs_there;

  nd::Pinned<unsigned char> picture;
  nd::Memory<unsigned char> picture_there;
  nd::Memory<float> line_there;
};
