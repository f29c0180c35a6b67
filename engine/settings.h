/* The settings of filters and algorithms, which elements, library, Python, page
 * and manual share: structs of values, and the constant tables of their names,
 * sentences, ranges and defaults.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/deconvolve.h"
#include "analysis/denoise.h"
#include "analysis/rank.h"
#include "analysis/register.h"
#include "analysis/structure.h"
#include "core/schema.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* Enums that several tables have. */
extern const NdEnum nd_backend_enum, nd_border_enum, nd_interpolation_enum;

/* The back end that computes. Above ND_BACKEND_CPU it is a back end of devices,
 * whose name is that of nd_backend_enum. */
typedef enum
{
  ND_BACKEND_AUTO = 0,
  ND_BACKEND_CPU = 1,
  ND_BACKEND_GPU = 2
} NdBackendKind;

/* For nd_backend_find(): NULL for ND_BACKEND_AUTO. */
const gchar *nd_backend_kind_name (NdBackendKind kind);

typedef struct
{
  NdBackendKind backend;
  gint device_id; /* -1: any */
  guint n_threads;

  /* Of filters only. */
  gchar *devices;
  NdPrecision precision;
} NdDeviceSettings;

extern const NdSetting nd_device_settings[]; /* of NdDeviceSettings */
extern const guint nd_n_device_settings;

/* Those of NdDeviceSettings that filters have besides. */
extern const NdSetting nd_filter_device_settings[];
extern const guint nd_n_filter_device_settings;

typedef struct
{
  gchar *origin;
  gboolean causal, normalize;
  NdBorder border, time_border;
  gdouble border_value;
  NdSampleType output_type; /* or ND_SAMPLE_SAME */
  gdouble gain, offset;
  NdMethod method;
  NdAccuracy accuracy;
  NdResponse response;
  gdouble threshold;
  gint64 memory_limit;
} NdFilterSettings;

extern const NdSetting nd_filter_settings[]; /* of NdFilterSettings */
extern const guint nd_n_filter_settings;

typedef struct
{
  NdDenoiseSettings denoise;
  gchar *sigma_map;
  NdBorder border, time_border;
  gdouble border_value;
} NdDenoiserSettings;

extern const NdSetting nd_denoiser_settings[]; /* of NdDenoiserSettings */
extern const guint nd_n_denoiser_settings;

/* Whether `sigma-map` is a file or "auto". */
gboolean nd_denoiser_has_map (const NdDenoiserSettings *settings);

/* Whether these settings go together. ND_ERROR_SETTINGS. */
gboolean nd_denoiser_check (const NdDenoiserSettings *settings, GError **error);

typedef enum
{
  ND_UNITS_SAMPLES = 0,
  ND_UNITS_PHYSICAL = 1
} NdVelocityUnits;

typedef struct
{
  gchar *output;
  NdMotion model;
  gdouble sigma;
  NdVelocityUnits units;
} NdStructurerSettings;

extern const NdSetting nd_structurer_settings[]; /* of NdStructurerSettings */
extern const guint nd_n_structurer_settings;

typedef struct
{
  NdRankOperation operation;
  gchar *footprint; /* nd_footprint_from_text() */
  gdouble percentile;
  gchar *origin;
  gboolean causal;
  NdBorder border, time_border;
  gdouble border_value;
} NdRankerSettings;

extern const NdSetting nd_ranker_settings[]; /* of NdRankerSettings */
extern const guint nd_n_ranker_settings;

typedef enum
{
  ND_MASK_NONE = 0,
  ND_MASK_NONZERO = 1
} NdMask;

typedef struct
{
  NdRegisterModel model;
  NdRegisterMethod method;
  gchar *reference; /* nd_reference_parse() */
  gint channel;     /* -1: the mean of all */
  NdMask mask;
  guint levels, iterations;
  NdInterpolation interpolation;
  NdBorder border;
  gdouble border_value;
} NdRegistrarSettings;

extern const NdSetting nd_registrar_settings[]; /* of NdRegistrarSettings */
extern const guint nd_n_registrar_settings;

typedef struct
{
  NdDeconvolveSettings deconvolve;
  NdBorder border;
  gdouble border_value;
} NdDeconvolverSettings;

extern const NdSetting nd_deconvolver_settings[]; /* of NdDeconvolverSettings */
extern const guint nd_n_deconvolver_settings;

G_END_DECLS
