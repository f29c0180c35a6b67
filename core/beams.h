/* The geometry of the beams of a probe: where the samples of beam space lie.
 *
 * Beam space has the axes depth (samples of a beam), lateral (beams) and
 * elevation (planes). Cartesian space has x lateral, y depth, z elevation, in
 * mm; the middle of the probe's face is at 0. Beams are spread evenly from the
 * first to the last, the middle at angle or place 0. With t the lateral angle,
 * d the depth, R the radius of the face and E the elevation radius:
 *
 *   linear       x lateral place, y = d
 *   phased       x = d sin t, y = d cos t
 *   curvilinear  x = (R + d) sin t, y = (R + d) cos t - R
 *   matrix       (x, y, z) = d (tan t, 1, tan p), the vector normalized, with p
 *                the elevation angle
 *   wobbler      as curvilinear in each plane, which is turned by its angle p
 *                around an axis along x at y = -E: with y' the above,
 *                y = (E + y') cos p - E, z = (E + y') sin p
 *
 * The planes of the first three are parallel, z the place of the plane.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/schema.h"

G_BEGIN_DECLS

/* Numbers are public and never change. */
typedef enum
{
  ND_BEAMS_AUTO = 0, /* none: the caps say it */
  ND_BEAMS_LINEAR = 1,
  ND_BEAMS_PHASED = 2,
  ND_BEAMS_CURVILINEAR = 3,
  ND_BEAMS_MATRIX = 4,
  ND_BEAMS_WOBBLER = 5
} NdBeamsKind;

/* In mm and degrees. Fields that a kind does not need are not read. */
typedef struct
{
  NdBeamsKind kind;
  gdouble start_depth, depth; /* of the first and the last sample */
  gdouble angle;              /* from the first to the last beam */
  gdouble radius;
  gdouble width; /* from the first to the last beam */
  gdouble elevation_angle, elevation_radius, elevation_width;
  gchar *plane_angles; /* of a wobbler, A:B:C; "": even */
} NdBeams;

extern const NdSetting nd_beams_settings[];
extern const guint nd_n_beams_settings;

/* Bytes of the longest text. */
#define ND_BEAMS_TEXT 4096

/* The text of the caps field `beams`: values of the settings, as in
 * "geometry=phased,depth=120,angle=75"; others have their defaults. @beams must
 * be initialized by nd_settings_init(). ND_ERROR_FORMAT. */
gboolean nd_beams_parse (const gchar *text, NdBeams *beams, GError **error);

/* Writes settings that differ from the defaults. ND_ERROR_SETTINGS and "" if
 * @text is too short. */
gboolean nd_beams_to_text (const NdBeams *beams, gchar text[ND_BEAMS_TEXT],
    GError **error);

/* The places of @size samples along depth, lateral and elevation. */
typedef struct _NdBeamSpace NdBeamSpace;

/* ND_ERROR_SETTINGS if the geometry is impossible for @size: one sentence. */
NdBeamSpace *nd_beam_space_new (const NdBeams *beams, const gsize size[3],
    GError **error);
void nd_beam_space_free (NdBeamSpace *space);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdBeamSpace, nd_beam_space_free)

/* The place in mm of an index, which may lie between samples. Any thread, as
 * the next ones. */
void nd_beam_space_position (const NdBeamSpace *space, const gdouble index[3],
    gdouble place[3]);

/* The index at a place. FALSE if it is beyond the first or last sample of an
 * axis; one plane has z = 0 only in name: its z is not read. */
gboolean nd_beam_space_index (const NdBeamSpace *space, const gdouble place[3],
    gdouble index[3]);

/* The box around all samples. */
void nd_beam_space_box (const NdBeamSpace *space, gdouble low[3],
    gdouble high[3]);

G_END_DECLS
