/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/view/look.h"

#include "view/sceneinline.h"

namespace nd
{

Look
make_look (const NdLook &from)
{
  Look look = {};

  for (unsigned i = 0; i < ND_LOOK_COLORS; i++) {
    for (unsigned c = 0; c < 3; c++)
      look.entries[i].rgb[c] = from.colors[i][c];
    look.entries[i].opacity = from.opacity[i];
  }
  look.low = from.low;
  look.window = from.window;
  look.level = from.level;
  look.ambient = from.ambient;
  look.diffuse = from.diffuse;
  look.specular = from.specular;
  for (unsigned i = 0; i < 3; i++) {
    look.light[i] = from.light[i];
    look.surface_color[i] = from.surface_color[i];
    look.background[i] = from.background[i];
  }
  nd_scene_count_opaque (&from, look.opaque);
  return look;
}

} // namespace nd
