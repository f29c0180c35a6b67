/* The processor of an algorithm: an NdAlgorithm for each plane, or one that
 * takes all planes, on the device if the settings allow it and it can,
 * otherwise on the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/temporal/gstndtemporal.h"

G_BEGIN_DECLS

typedef struct
{
  GstNdProcessor processor;
  NdAlgorithm *planes[ND_MAX_PLANES];
  guint n_planes;
  guint n_threads;
} GstNdAlgorithm;

/* Makes the algorithm of @plane with the settings of @build. */
typedef NdAlgorithm *(*GstNdAlgorithmNew) (const GstNdTemporalBuild *build,
    const NdAlgorithmFuncs *funcs, gint device_id, guint plane, GError **error);

/* @n: the planes of the input, or 1 for an algorithm that takes all of them.
 * The caller sets the window. Errors: those of @make; ND_ERROR_SETTINGS if the
 * back end has no algorithms. Thread: that of GstNdTemporalClass.build(). */
GstNdAlgorithm *gst_nd_algorithm_new (GstNdTemporal *self,
    const GstNdTemporalBuild *build, guint n, GstNdAlgorithmNew make,
    GError **error);

/* An output reads @before and @after volumes around its anchor, and takes
 * estimates from @memory volumes before them. */
void gst_nd_algorithm_set_window (GstNdAlgorithm *self, guint before,
    guint after, guint memory);

/* Appends the structures on the other pad for @from on the pad of @direction to
 * @to. */
typedef void (*GstNdAlgorithmCaps) (const GstNdTemporalSettings *settings,
    GstPadDirection direction, const GstStructure *from, GstCaps *to);

/* GstNdTemporalClass.transform_caps() from @transform of each structure. NULL:
 * the structures are the same on both pads. */
GstCaps *gst_nd_algorithm_transform_caps (const GstNdTemporalSettings *settings,
    GstPadDirection direction, const GstCaps *caps, gboolean device,
    const GstCaps *template, GstNdAlgorithmCaps transform);

/* For algorithms whose outputs have another shape, of tensors only. */

/* Reads a structure of caps whose dimensions are known. FALSE if they are
 * not. */
gboolean gst_nd_algorithm_read_info (const GstStructure *s,
    GstNdVolumeInfo *info);

/* Appends @from with the dimensions and the place of @info; without any if it
 * is NULL. */
void gst_nd_algorithm_append_info (GstCaps *to, const GstStructure *from,
    const GstNdVolumeInfo *info);

/* Whether shapes, geometries and beams are equal. */
gboolean gst_nd_algorithm_same_place (const GstNdVolumeInfo *a,
    const GstNdVolumeInfo *b);

/* Whether the input has one response and the CPU may compute: the input of
 * @element, which has no other back end. */
gboolean gst_nd_algorithm_check_plain (const GstNdTemporalSettings *settings,
    const GstNdFormat *in, const gchar *element, GError **error);

G_END_DECLS
