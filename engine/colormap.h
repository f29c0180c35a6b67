/* Colour maps: the colours of grey 0 to 1.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/scene.h"

G_BEGIN_DECLS

/* The numbers are public: ndview has them as property `colormap`. */
typedef enum
{
  ND_COLORMAP_GRAY = 0,    /* black to white */
  ND_COLORMAP_HOT = 1,     /* black, red, yellow, white */
  ND_COLORMAP_BONE = 2,    /* grey with some blue */
  ND_COLORMAP_VIRIDIS = 3, /* blue to yellow, evenly brighter */
  ND_COLORMAP_SIGNED = 4,  /* blue, white at 0.5, red */
  ND_COLORMAP_HUE = 5      /* all hues; 0 and 1 are the same red */
} NdColormap;

/* Fills @colors with red, green and blue from 0 to 255. */
void nd_colormap_fill (NdColormap map, gfloat colors[ND_LOOK_COLORS][3]);

G_END_DECLS
