/* What Micro-Manager writes beside the samples, as JSON: metadata.txt of a
 * folder of single files, and texts within NDTiff.
 * https://micro-manager.org/Micro-Manager_File_Formats
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

#define ND_MICRO_MANAGER_CHANNELS 32

/* The time of a plane of slice 0 and channel 0, in seconds. */
typedef struct
{
  guint64 volume;
  gdouble seconds;
} NdMicroManagerTime;

typedef struct
{
  gdouble pixel, step; /* in mm; 0: unknown */
  gdouble interval;    /* in seconds; 0: unknown */
  gdouble elapsed;     /* seconds, by the last plane of the text */
  gchar *channels[ND_MICRO_MANAGER_CHANNELS + 1]; /* NULL after the last */
  NdList *times;    /* NdMicroManagerTime, in any order; NULL: none yet */
  NdBudget *budget; /* set by the caller */
} NdMicroManager;

/* Adds what the @n bytes of @text say to @found, which was 0 at first. What is
 * no JSON is passed over. */
void nd_micro_manager_parse (NdMicroManager *found, const gchar *text, gsize n);
void nd_micro_manager_clear (NdMicroManager *found);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdMicroManager, nd_micro_manager_clear)

/* Sets spacing, rate and times of a recording whose shape is known. */
void nd_micro_manager_use (const NdMicroManager *found, NdHeader *header);

G_END_DECLS
