/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/gstndtestsrcsettings.h"

#include "core/error.h"

#include <string.h>

static ND_DEFINE_ENUM (pattern_enum, "GstNdTestSrcPattern",
    { ND_PATTERN_HEART,
        "Beating heart in 4D ultrasound, four chambers seen from the apex, "
        "with speckle; depth along y, black outside the pyramid",
        "heart" },
    { ND_PATTERN_NOISE,
        "Independent uniform random numbers over the whole range of the type "
        "(float32: 0 to 1)",
        "noise" },
    { ND_PATTERN_RAMP,
        "component + x + y + z + n, starting at 0 again after 255 (uint8), "
        "32767 (int16), 65535 (uint16), 16777215 (float32)",
        "ramp" },
    { ND_PATTERN_IMPULSE,
        "'value' at index size/2 of each axis, once in 'impulse-period' "
        "volumes, and 0 elsewhere",
        "impulse" },
    { ND_PATTERN_CONSTANT, "'value' everywhere", "constant" },
    /* Since: 0.9 */
    { ND_PATTERN_VESSELS, "Bright curved tubes, with noise", "vessels" },
    { ND_PATTERN_HEART_VELOCITY,
        "The velocity of the heart along x, y and z in samples per volume, and "
        "1 inside of the pyramid: 4 components of float32",
        "heart-velocity" },
    { ND_PATTERN_BEAMS,
        "Bright and dark targets in the beams of a sector or a pyramid, depth "
        "along x, for ndscanconvert",
        "beams" },
    { ND_PATTERN_RF,
        "The same as RF with speckle, for ndbmode: float32; the centre "
        "frequency is a quarter of the sampling frequency",
        "rf" },
    { ND_PATTERN_IQ, "The same as IQ: 2 components of float32", "iq" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (GstNdTestSrcSettings, __VA_ARGS__)

const NdSetting gst_nd_test_src_rows[GST_ND_TEST_SRC_ROWS] = {
  /* Since: 0.1 */
  { "pattern", "Pattern", "Content of the volumes",
      FIELD (ENUM, pattern, NdPatternKind, pattern_enum, ND_PATTERN_HEART),
      ND_READY },
  { "volume-size", "Volume size",
      "Samples in x, y and z, X:Y:Z, each 1 or more; X:Y is a frame, Z = 1; "
      "a size in downstream caps takes precedence",
      FIELD (STRING, volume_size, "64:64:64"), ND_READY },
  { "components", "Components",
      "Numbers per sample, 1 to 4 (2: complex); downstream caps take "
      "precedence; heart-velocity: always 4, iq: 2, rf: 1",
      FIELD (UINT, components, 1, 4, 1), ND_READY },
  { "type", "Type", "Type of the samples; downstream caps take precedence",
      FIELD (ENUM, type, NdSampleType, nd_sample_enum, ND_UINT8), ND_READY },
  { "framerate", "Frame rate",
      "Volumes per second, above 0; downstream caps take precedence",
      FIELD (FRACTION, framerate, 1, 25), ND_READY },
  { "seed", "Seed",
      "Seed of the random numbers in heart, noise, vessels, rf, iq: equal "
      "seeds give equal volumes",
      FIELD (UINT, seed, 0, G_MAXUINT, 0), ND_READY },
  { "noise", "Noise",
      "Heart: amplitude of the electronic noise, which grows with depth; 1 is "
      "usual, 0 none, 10 (20 dB more) hides everything deep. Vessels: 1 "
      "changes values by up to 40 %; rf and iq: the share of speckle, up to 1",
      FIELD (DOUBLE, noise, 0, 100, 1), ND_READY },
  { "heart-rate", "Heart rate",
      "Heart: beats per minute; 0: the heart stands still at the end of "
      "diastole",
      FIELD (DOUBLE, heart_rate, 0, 1000, 72), ND_READY },
  { "value", "Value",
      "Impulse and constant: the sample value, in the range of the type; "
      "integers are rounded half to even",
      FIELD (DOUBLE, value, -G_MAXDOUBLE, G_MAXDOUBLE, 1), ND_READY },
  { "impulse-period", "Impulse period",
      "Impulse: volumes from one impulse to the next; the first impulse is in "
      "volume period/2, the middle as on the other axes",
      FIELD (UINT, impulse_period, 1, G_MAXUINT, 1), ND_READY },
};

NdPatternSettings
gst_nd_test_src_settings_pattern (const GstNdTestSrcSettings *settings)
{
  const gboolean is_velocity = settings->pattern == ND_PATTERN_HEART_VELOCITY;
  const gboolean is_iq = settings->pattern == ND_PATTERN_IQ;
  const gboolean is_rf = settings->pattern == ND_PATTERN_RF;

  return (NdPatternSettings){
    .kind = settings->pattern,
    .type = is_velocity || is_iq || is_rf ? ND_FLOAT32 : settings->type,
    .shape.components = is_velocity ? 4
        : is_iq                     ? 2
        : is_rf                     ? 1
                                    : settings->components,
    .rate_n = settings->framerate.n,
    .rate_d = settings->framerate.d,
    .seed = settings->seed,
    .noise = settings->noise,
    .heart_rate = settings->heart_rate,
    .value = settings->value,
    .period = settings->impulse_period,
  };
}

gboolean
gst_nd_test_src_settings_parse_size (const GstNdTestSrcSettings *settings,
    gsize size[3], GError **error)
{
  const gchar *text = settings->volume_size;
  NdShape shape = { .components = settings->components, .size = { 1, 1, 1 } };
  gsize samples;

  if (!text || nd_parse_sizes (text, shape.size, 3) < 2) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'volume-size' is \"%s\": it must be X:Y:Z or X:Y, whole "
        "numbers of 1 or more",
        text ? text : "");
    return FALSE;
  }
  if (!nd_shape_samples (&shape, &samples)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'volume-size' is \"%s\": a volume of this size does not fit "
        "in memory",
        text);
    return FALSE;
  }
  memcpy (size, shape.size, sizeof (shape.size));
  return TRUE;
}
