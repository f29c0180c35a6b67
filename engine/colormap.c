/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/colormap.h"

/* A colour at a grey. Colours between are interpolated linearly. */
typedef struct
{
  gfloat grey;
  guint8 color[3];
} Stop;

static const Stop gray[] = { { 0, { 0, 0, 0 } }, { 1, { 255, 255, 255 } } };

static const Stop hot[] = { { 0, { 0, 0, 0 } }, { 0.375, { 255, 0, 0 } },
  { 0.75, { 255, 255, 0 } }, { 1, { 255, 255, 255 } } };

static const Stop bone[] = { { 0, { 0, 0, 0 } }, { 0.375, { 84, 84, 116 } },
  { 0.75, { 167, 199, 199 } }, { 1, { 255, 255, 255 } } };

static const Stop viridis[] = { { 0, { 68, 1, 84 } },
  { 0.125, { 71, 45, 123 } }, { 0.25, { 59, 82, 139 } },
  { 0.375, { 44, 114, 142 } }, { 0.5, { 33, 145, 140 } },
  { 0.625, { 40, 174, 128 } }, { 0.75, { 94, 201, 98 } },
  { 0.875, { 173, 220, 48 } }, { 1, { 253, 231, 37 } } };

static const Stop with_sign[] = { { 0, { 5, 48, 97 } },
  { 0.25, { 67, 147, 195 } }, { 0.5, { 255, 255, 255 } },
  { 0.75, { 214, 96, 77 } }, { 1, { 103, 0, 31 } } };

static const Stop hue[] = { { 0, { 255, 0, 0 } }, { 1 / 6.0, { 255, 255, 0 } },
  { 2 / 6.0, { 0, 255, 0 } }, { 3 / 6.0, { 0, 255, 255 } },
  { 4 / 6.0, { 0, 0, 255 } }, { 5 / 6.0, { 255, 0, 255 } },
  { 1, { 255, 0, 0 } } };

static const Stop *const maps[] = { gray, hot, bone, viridis, with_sign, hue };

void
nd_colormap_fill (NdColormap map, gfloat colors[ND_LOOK_COLORS][3])
{
  const Stop *stop = maps[map];

  for (guint i = 0; i < ND_LOOK_COLORS; i++) {
    const gfloat grey = i / (gfloat) (ND_LOOK_COLORS - 1);
    gfloat part;

    while (stop[1].grey < grey)
      stop++;
    part = (grey - stop[0].grey) / (stop[1].grey - stop[0].grey);
    for (guint c = 0; c < 3; c++)
      colors[i][c] =
          stop[0].color[c] + part * (stop[1].color[c] - stop[0].color[c]);
  }
}
