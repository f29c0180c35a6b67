/* The appearance of a scene, in the form that kernels read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/scene.h"

namespace nd
{

/* Colours and the opacity of an entry of the tables. */
struct alignas (16) LookEntry
{
  float rgb[3];
  float opacity;
};

struct Look
{
  LookEntry entries[ND_LOOK_COLORS];
  double low, window, level;
  double light[3];
  float ambient, diffuse, specular;
  float surface_color[3];
  float background[3];
  guint16 opaque[ND_LOOK_COLORS + 1]; /* nd_scene_count_opaque() */
};

Look make_look (const NdLook &look);

} // namespace nd
