/* Structures and functions that the files of lib/ share.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"
#include "engine/convolver.h"
#include "engine/settings.h"
#include "engine/strided.h"
#include "filters/design.h"
#include "lib/ndconv/ndconv.h"

G_BEGIN_DECLS

struct _NdSettings
{
  NdDeviceSettings device;
  NdFilterSettings conv;
  NdRankerSettings
      ranker; /* operation, footprint, percentile; the rest: conv */
  NdRegistrarSettings registrar; /* border and border-value: those of conv */
  NdDeconvolverSettings deconvolver; /* border and border-value: conv */
  gchar *axes;
  gchar *spacing, *rate; /* NULL: unknown */

  /* Another one after each nd_settings_set(); 0: the defaults. */
  guint64 serial;
};

typedef struct _NdKept NdKept; /* lib/kept.c */

struct _NdFilters
{
  NdBank *bank;
  NdAxes axes;
  gchar *warning; /* or NULL */
  NdKept *kept;   /* atomic; or NULL */
};

/* @settings, or those of nd_settings_new() if it is NULL. */
const NdSettings *nd_settings_or_default (const NdSettings *settings);

/* Makes the back ends known; later calls do nothing. */
void nd_library_init (void);

/* An NdArray that was checked. */
typedef struct
{
  NdSampleType type;
  NdShape shape;
  guint responses;
  gsize volumes;
  NdStrided samples; /* of the first volume */
  gssize volume;     /* stride */
  gboolean on_device;
} NdVolumes;

/* ND_ERROR_SETTINGS with a sentence that begins with @name. Without @memory,
 * pointer and strides are not checked. */
gboolean nd_volumes_init (NdVolumes *volumes, const NdArray *array,
    const gchar *name, gboolean memory, GError **error);

/* Volume @t, 0 to volumes - 1. */
NdStrided nd_volumes_get (const NdVolumes *volumes, gsize t);

/* Whether the bytes of @a and @b may overlap. */
gboolean nd_volumes_overlap (const NdVolumes *a, const NdVolumes *b);

/* Whether @a and @b are the same samples in the same memory. */
gboolean nd_volumes_are_same (const NdVolumes *a, const NdVolumes *b);

/* The output that @in gives with @settings: type, shape and responses. */
gboolean nd_volumes_init_output (NdVolumes *out, const NdVolumes *in,
    const NdFilters *filters, const NdSettings *settings, GError **error);

/* Dense, without memory. */
void nd_volumes_to_array (const NdVolumes *volumes, NdArray *array);

/* A call that computes each volume of an array by itself in memory of the host,
 * in single precision. */
typedef struct
{
  NdVolumes in, out;
  gboolean has_output;
  NdSampleType computed;
  NdSamples volume; /* dense, of the type @computed: in and out */
  const NdWatch *watch;
} NdHostRun;

/* Checks arrays, and allocates the volume. @out, @watch: may be NULL; @out may
 * be @in. @verb and @done are words of sentences: register, registered. */
gboolean nd_host_run_init (NdHostRun *run, const NdArray *in,
    const NdArray *out, const NdWatch *watch, const gchar *verb,
    const gchar *done, GError **error);
void nd_host_run_clear (NdHostRun *run);

/* Reads volume @t, or FALSE with ND_ERROR_CANCELLED. */
gboolean nd_host_run_read (const NdHostRun *run, gsize t, GError **error);

/* Writes volume @t of the output, if there is one, and tells the progress. */
void nd_host_run_write (const NdHostRun *run, gsize t);

/* What a stream may rely on. */
typedef struct
{
  guint64 volumes;   /* the number that will come; 0: unknown */
  gboolean waits;    /* the caller waits for each output */
  gboolean in_place; /* see NdConvolverSettings */
} NdStreamUse;

/* A stream for volumes as @in has. */
NdStream *nd_stream_new_for (const NdFilters *filters,
    const NdSettings *settings, const NdVolumes *in, const NdStreamUse *use,
    const gint *cancelled, GError **error);

/* Volumes that are computed at the same time. */
guint nd_stream_turns (const NdStream *stream);

/* Parts of nd_stream_push() and _take() that may only enqueue work, as those of
 * NdConvolver. The memory must stay valid until nd_stream_synchronize(). */
gboolean nd_stream_enqueue (NdStream *stream, const NdStrided *volume,
    gboolean on_device, GError **error);
gboolean nd_stream_respond (NdStream *stream, const NdStrided *out,
    gboolean on_device, GError **error);

/* Blocks until all work so far is done, also after a failure. */
gboolean nd_stream_synchronize (NdStream *stream, GError **error);

/* Forgets all volumes and counts; the next ones are of a caller with the flag
 * @cancelled. */
void nd_stream_restart (NdStream *stream, const gint *cancelled);

/* Takes the stream that @kept has, if it suits @settings, @in and @use;
 * otherwise NULL. From any thread, as the next one. */
NdStream *nd_kept_take (NdKept **kept, const NdSettings *settings,
    const NdVolumes *in, const NdStreamUse *use);

/* Keeps @stream, which was made for these, or frees it. */
void nd_kept_give (NdKept **kept, NdStream *stream, const NdSettings *settings,
    const NdVolumes *in, const NdStreamUse *use);
void nd_kept_free (NdKept *kept);

G_END_DECLS
