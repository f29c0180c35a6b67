/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/settings.h"

#include "core/error.h"
#include "core/threads.h"

#include <string.h>

/* Enums that several tables have */

ND_DEFINE_ENUM (nd_border_enum, "GstNdBorder",
    { ND_BORDER_CONSTANT, "border-value everywhere: v v | a b c d | v v",
        "constant" },
    { ND_BORDER_NEAREST, "the sample at the edge: a a | a b c d | d d",
        "nearest" },
    { ND_BORDER_REFLECT, "mirrored about the edge: b a | a b c d | d c",
        "reflect" },
    { ND_BORDER_MIRROR,
        "mirrored about the sample at the edge: c b | a b c d | c b",
        "mirror" },
    { ND_BORDER_WRAP, "the opposite end: c d | a b c d | a b", "wrap" });

ND_DEFINE_ENUM (nd_backend_enum, "GstNdBackend",
    { ND_BACKEND_AUTO, "An NVIDIA GPU if available, otherwise the CPU",
        "auto" },
    { ND_BACKEND_CPU, "The CPU, all cores", "cpu" },
    { ND_BACKEND_GPU, "An NVIDIA GPU; an error if none is available", "cuda" });

/* Devices */

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdDeviceSettings, __VA_ARGS__)

const NdSetting nd_device_settings[] = {
  { "backend", "Back end", "Device to compute on",
      FIELD (ENUM, backend, NdBackendKind, nd_backend_enum, ND_BACKEND_AUTO),
      ND_READY },
  { "device-id", "Device ID",
      "GPU to compute on, counted from 0; -1: the GPU of the neighbouring "
      "elements, or the first one",
      FIELD (INT, device_id, -1, G_MAXINT, -1), ND_READY },
  { "n-threads", "Threads",
      "Threads that compute on the CPU; 0: the cores that the process "
      "may use, or the environment variable NDCONV_THREADS",
      FIELD (UINT, n_threads, 0, ND_MAX_THREADS, 0), ND_PLAYING },
};
const guint nd_n_device_settings = G_N_ELEMENTS (nd_device_settings);

const NdSetting nd_filter_device_settings[] = {
  { "devices", "Devices",
      "GPUs that share the work: numbers from 0 on, as in \"0,1\"; all; auto, "
      "as many as make the stream faster; empty: that of device-id. One of "
      "them must be device-id, if that is set; it holds outputs that stay on "
      "the GPU",
      FIELD (STRING, devices, ""), ND_READY },
  { "precision", "Precision",
      "Precision of samples, coefficients and sums; single rounds float64 to "
      "float32. Input of int32 and uint32 is always computed with double",
      FIELD (ENUM, precision, NdPrecision, nd_precision_enum,
          ND_PRECISION_SINGLE),
      ND_READY },
};
const guint nd_n_filter_device_settings =
    G_N_ELEMENTS (nd_filter_device_settings);

#undef FIELD

/* Filters */

static ND_DEFINE_ENUM (method_enum, "GstNdMethod",
    { ND_METHOD_AUTO,
        "The fastest method, estimated or measured; stats says which and why",
        "auto" },
    { ND_METHOD_DIRECT, "Sum over all taps: any filter, best for small ones",
        "direct" },
    { ND_METHOD_SEPARABLE,
        "One pass per axis; an error if a filter is not separable",
        "separable" },
    { ND_METHOD_FFT,
        "Fourier transforms, with a ring of spectra over time: any filter, "
        "best for large ones; relative L2 error below 1e-6",
        "fft" },
    { ND_METHOD_TENSOR,
        "Sum over all taps of uint8 samples by the tensor cores of a GPU of "
        "compute capability 8.0 or later, for filters of up to 17 samples in x "
        "and y and 30000 coefficients",
        "tensor" },
    { ND_METHOD_REFERENCE,
        "Plain loops in double precision, to check the other methods; very "
        "slow",
        "reference" });

static ND_DEFINE_ENUM (accuracy_enum, "GstNdAccuracy",
    { ND_ACCURACY_SINGLE, "Relative L2 error of at most 2e-6", "single" },
    { ND_ACCURACY_FAST, "The same as single", "fast" });

static ND_DEFINE_ENUM (response_enum, "GstNdResponse",
    { ND_RESPONSE_ALL, "All responses; a complex one as two components",
        "all" },
    { ND_RESPONSE_MAGNITUDE, "Magnitude of each response", "magnitude" },
    { ND_RESPONSE_PHASE,
        "Phase of each response, -pi to pi; use output-type=float32 or a gain",
        "phase" },
    { ND_RESPONSE_REAL, "Real part of each response", "real" },
    { ND_RESPONSE_IMAGINARY, "Imaginary part of each response", "imaginary" },
    { ND_RESPONSE_ENERGY, "Squared magnitude of each response", "energy" },
    { ND_RESPONSE_MAX, "The largest magnitude of all responses", "max" },
    { ND_RESPONSE_ARGMAX,
        "The index, from 0, of the response with the largest magnitude",
        "argmax" },
    { ND_RESPONSE_SUM, "The sum of the magnitudes of all responses", "sum" },
    { ND_RESPONSE_TENSOR,
        "The orientation tensor of monomial-bank or quadrature-bank: float32 "
        "components xx xy xz xt yy yz yt zz zt tt of the filtered axes",
        "tensor" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdFilterSettings, __VA_ARGS__)

const NdSetting nd_filter_settings[] = {
  { "border", "Border", "Samples beyond the edges in x, y and z",
      FIELD (ENUM, border, NdBorder, nd_border_enum, ND_BORDER_NEAREST),
      ND_PLAYING },
  { "border-value", "Border value",
      "Sample value beyond the edges for border=constant, and before the first "
      "and after the last volume for time-border=constant",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0), ND_PLAYING },
  { "time-border", "Time border",
      "Volumes before the first and after the last volume of a stretch, which "
      "is a run of volumes without a break in time; wrap would need the whole "
      "stream and is refused",
      FIELD (ENUM, time_border, NdBorder, nd_border_enum, ND_BORDER_NEAREST),
      ND_PLAYING },
  { "origin", "Origin",
      "Shift of each filter in samples per axis, x:y:z:t, each from -(size/2) "
      "to (size-1)/2, like SciPy's origin",
      FIELD (STRING, origin, "0:0:0:0"), ND_PLAYING },
  { "causal", "Causal",
      "Shift the origin in time so that the filter reads no volume after the "
      "anchor of an output. A filter that is symmetric in time and spans T "
      "volumes then shows the state of (T-1)/2 volumes ago: lag in stats",
      FIELD (BOOLEAN, causal, FALSE), ND_PLAYING },
  { "output-type", "Output type",
      "Sample type of the output. An output that video cannot hold leaves as "
      "other/tensors",
      FIELD (ENUM, output_type, NdSampleType, nd_output_type_enum,
          ND_SAMPLE_SAME),
      ND_PLAYING },
  { "gain", "Gain",
      "out = gain * response + offset; integers are rounded half to even and "
      "saturated",
      FIELD (DOUBLE, gain, -G_MAXDOUBLE, G_MAXDOUBLE, 1),
      ND_CONTROLLED | ND_OF_STREAM },
  { "offset", "Offset",
      "Sample value added to gain * response; not added to chroma, whose zero "
      "is 128",
      FIELD (DOUBLE, offset, -G_MAXDOUBLE, G_MAXDOUBLE, 0),
      ND_CONTROLLED | ND_OF_STREAM },
  { "normalize", "Normalize",
      "Scale the coefficients to sum 1; a filter of sum zero is an error",
      FIELD (BOOLEAN, normalize, FALSE), ND_PLAYING },
  { "method", "Method", "Method to compute the responses",
      FIELD (ENUM, method, NdMethod, method_enum, ND_METHOD_AUTO), ND_PLAYING },
  { "accuracy", "Accuracy", "No effect; kept for programs of earlier versions",
      FIELD (ENUM, accuracy, NdAccuracy, accuracy_enum, ND_ACCURACY_SINGLE),
      ND_PLAYING },
  { "response", "Response",
      "Output computed from the responses of a complex filter or of a bank, "
      "before gain and offset",
      FIELD (ENUM, response, NdResponse, response_enum, ND_RESPONSE_ALL),
      ND_PLAYING },
  { "threshold", "Threshold",
      "For response=argmax: samples whose largest magnitude is below it belong "
      "to no response and become 255 (uint8, uint16) or -1 (int16, float32), "
      "whatever gain and offset are. 0: each sample gets a number",
      FIELD (DOUBLE, threshold, 0, G_MAXDOUBLE, 0), ND_PLAYING },
  { "memory-limit", "Memory limit",
      "Bytes of device memory that the filter may use; 0: no limit. Volumes "
      "that need more go through the device in slabs",
      FIELD (INT64, memory_limit, 0, G_MAXINT64, 0), ND_PLAYING, "bytes" },
};
const guint nd_n_filter_settings = G_N_ELEMENTS (nd_filter_settings);

#undef FIELD

/* Denoising */

static ND_DEFINE_ENUM (denoise_method_enum, "GstNdDenoiseMethod",
    { ND_DENOISE_TRANSFORM,
        "Makes the small coefficients of a sliding 4D DCT "
        "smaller",
        "transform" },
    { ND_DENOISE_ADAPTIVE,
        "Filters across edges and lines less than along them, controlled by "
        "the structure tensor",
        "adaptive" });

static ND_DEFINE_ENUM (denoise_noise_enum, "GstNdNoise",
    { ND_NOISE_ADDITIVE, "White, the same everywhere", "additive" },
    { ND_NOISE_SPECKLE,
        "Speckle of ultrasound after log compression: filters in space, "
        "whatever the method",
        "speckle" },
    { ND_NOISE_POISSON,
        "Counts of photons or electrons, and read noise: cameras, microscopes, "
        "PET",
        "poisson" },
    { ND_NOISE_RICIAN, "Magnitudes of complex numbers: MR images", "rician" },
    { ND_NOISE_CORRELATED,
        "Additive, alike in neighbours, but not from volume to volume: what "
        "was smoothed or interpolated",
        "correlated" });

static ND_DEFINE_ENUM (denoise_quality_enum, "GstNdDenoiseQuality",
    { ND_QUALITY_FAST, "Each block of 4 volumes is computed once", "fast" },
    { ND_QUALITY_BEST,
        "Each output is computed from all its blocks with all that is known: "
        "slower. With latency=5, blocks have 8 volumes",
        "best" });

static ND_DEFINE_ENUM (denoise_axes_enum, "GstNdDenoiseAxes",
    { ND_AXES_SPACE_TIME, "Space and time", "space-time" },
    { ND_AXES_SPACE, "Space: each volume by itself", "space" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdDenoiserSettings, __VA_ARGS__)

const NdSetting nd_denoiser_settings[] = {
  { "method", "Method", "Method of denoising",
      FIELD (ENUM, denoise.method, NdDenoiseMethod, denoise_method_enum,
          ND_DENOISE_TRANSFORM),
      ND_PLAYING },
  { "sigma", "Sigma",
      "Standard deviation of the noise, in sample values; 0: it is estimated "
      "from the last 15 volumes; stats has the estimate",
      FIELD (DOUBLE, denoise.sigma, 0, G_MAXFLOAT, 0),
      ND_CONTROLLED | ND_OF_STREAM },
  { "noise", "Noise", "Kind of the noise",
      FIELD (ENUM, denoise.noise, NdNoise, denoise_noise_enum,
          ND_NOISE_ADDITIVE),
      ND_PLAYING },
  { "gain", "Gain",
      "noise=poisson: the sample value of one count; 0: gain, offset and read "
      "noise are estimated from the last 15 volumes; stats has the estimates",
      FIELD (DOUBLE, denoise.gain, 0, G_MAXFLOAT, 0), ND_PLAYING },
  { "offset", "Offset",
      "noise=poisson with a gain: the sample value of no count",
      FIELD (DOUBLE, denoise.offset, -G_MAXFLOAT, G_MAXFLOAT, 0), ND_PLAYING },
  { "read-noise", "Read noise",
      "noise=poisson with a gain: standard deviation of the noise of no count, "
      "in sample values",
      FIELD (DOUBLE, denoise.read_noise, 0, G_MAXFLOAT, 0), ND_PLAYING },
  { "sigma-map", "Sigma map",
      "noise=additive: none, sigma is the same everywhere; auto, that of each "
      "place is estimated; otherwise a file (.npy or a recording) with the "
      "sigma of each sample of a volume. sigma then does not count",
      FIELD (STRING, sigma_map, "none"), ND_PLAYING },
  { "latency", "Latency",
      "Number of later volumes that an output waits for; more of them improve "
      "the result",
      FIELD (UINT, denoise.latency, 0, ND_DENOISE_MAX_LATENCY, 3), ND_PLAYING,
      "volumes" },
  { "quality", "Quality", "Speed or quality",
      FIELD (ENUM, denoise.quality, NdDenoiseQuality, denoise_quality_enum,
          ND_QUALITY_FAST),
      ND_PLAYING },
  { "motion", "Motion",
      "Move the volumes around an output along their flow and denoise them "
      "again, which keeps more of moving structures and takes about 5 times "
      "the time; for method=transform, not for noise=speckle. quality then "
      "does not count",
      FIELD (BOOLEAN, denoise.motion, FALSE), ND_PLAYING },
  { "strength", "Strength",
      "Factor of sigma: 0 changes nothing, values above 1 smooth more than "
      "the noise requires",
      FIELD (DOUBLE, denoise.strength, 0, ND_DENOISE_MAX_STRENGTH, 1),
      ND_CONTROLLED | ND_OF_STREAM },
  { "axes", "Axes",
      "Axes along which method=adaptive filters. With space each volume is "
      "filtered by itself, and outputs wait for no other volume",
      FIELD (ENUM, denoise.axes, NdDenoiseAxes, denoise_axes_enum,
          ND_AXES_SPACE_TIME),
      ND_PLAYING },
  { "m-sigma", "Sigma of m",
      "method=adaptive: m is the share of the high frequencies that is kept in "
      "the strongest direction. It is 1/2 for structure that is stronger than "
      "noise by this factor; larger values smooth more",
      FIELD (DOUBLE, denoise.remap.m_sigma, 1e-3, 1e6, ND_M_SIGMA),
      ND_PLAYING },
  { "m-alpha", "Alpha of m",
      "method=adaptive: if it is above 0, m decreases for strong structure",
      FIELD (DOUBLE, denoise.remap.m_alpha, 0, 10, 0), ND_PLAYING },
  { "m-beta", "Beta of m",
      "method=adaptive: how steeply m rises from noise to structure",
      FIELD (DOUBLE, denoise.remap.m_beta, .1, 20, ND_M_BETA), ND_PLAYING },
  { "m-j", "J of m",
      "method=adaptive: m is the root of this order; above 1, "
      "more is kept",
      FIELD (DOUBLE, denoise.remap.m_j, .1, 20, 1), ND_PLAYING },
  { "mu-alpha", "Alpha of mu",
      "method=adaptive: mu is the share that is kept in a direction, relative "
      "to the next stronger direction. It is 1/2 if the strengths have this "
      "ratio",
      FIELD (DOUBLE, denoise.remap.mu_alpha, 0, .99, ND_MU_ALPHA), ND_PLAYING },
  { "mu-beta", "Beta of mu",
      "method=adaptive: how steeply mu rises with that ratio",
      FIELD (DOUBLE, denoise.remap.mu_beta, .1, 20, ND_MU_BETA), ND_PLAYING },
  { "mu-j", "J of mu",
      "method=adaptive: mu is the root of this order; above "
      "1, more is kept",
      FIELD (DOUBLE, denoise.remap.mu_j, .1, 20, 1), ND_PLAYING },
  { "border", "Border", "Samples beyond the edges in x, y and z",
      FIELD (ENUM, border, NdBorder, nd_border_enum, ND_BORDER_MIRROR),
      ND_PLAYING },
  { "border-value", "Border value",
      "Sample value for border=constant and time-border=constant",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0), ND_PLAYING },
  { "time-border", "Time border",
      "Volumes before the first and after the last one of a stretch; nearest "
      "and reflect repeat the noise of a volume, so that more of it remains; "
      "wrap is refused",
      FIELD (ENUM, time_border, NdBorder, nd_border_enum, ND_BORDER_MIRROR),
      ND_PLAYING },
};
const guint nd_n_denoiser_settings = G_N_ELEMENTS (nd_denoiser_settings);

#undef FIELD

/* Structure */

static ND_DEFINE_ENUM (structure_model_enum, "GstNdMotion",
    { ND_MOTION_CONSTANT, "One velocity in the window", "constant" },
    { ND_MOTION_AFFINE, "A velocity that varies linearly in the window",
        "affine" });

static ND_DEFINE_ENUM (structure_units_enum, "GstNdUnits",
    { ND_UNITS_SAMPLES, "Samples per volume", "samples" },
    { ND_UNITS_PHYSICAL, "mm/s; the caps must have a spacing and a framerate",
        "physical" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdStructurerSettings, __VA_ARGS__)

const NdSetting nd_structurer_settings[] = {
  { "output", "Output",
      "Measures, separated by ';': tensor, eigenvalues, orientation, "
      "certainty, anisotropy, velocity. The output has their components in "
      "this order",
      FIELD (STRING, output, "velocity"), ND_PLAYING },
  { "model", "Model", "How the velocity varies in the window",
      FIELD (ENUM, model, NdMotion, structure_model_enum, ND_MOTION_CONSTANT),
      ND_PLAYING },
  { "sigma", "Sigma",
      "Standard deviation of the window, in samples and volumes; 0: no window",
      FIELD (DOUBLE, sigma, 0, ND_STRUCTURE_MAX_SIGMA, 2.5), ND_PLAYING,
      "samples" },
  { "units", "Units", "Units of the velocity",
      FIELD (ENUM, units, NdVelocityUnits, structure_units_enum,
          ND_UNITS_SAMPLES),
      ND_PLAYING },
};
const guint nd_n_structurer_settings = G_N_ELEMENTS (nd_structurer_settings);

#undef FIELD

/* Order statistics */

static ND_DEFINE_ENUM (rank_operation_enum, "GstNdRankOperation",
    { ND_RANK_MEDIAN,
        "The middle one of the samples, of an even number the "
        "upper one",
        "median" },
    { ND_RANK_PERCENTILE, "The sample that percentile names", "percentile" },
    { ND_RANK_MINIMUM, "The least sample", "minimum" },
    { ND_RANK_MAXIMUM, "The greatest sample", "maximum" },
    { ND_RANK_ERODE, "The least sample", "erode" },
    { ND_RANK_DILATE,
        "The greatest sample under the footprint with its offsets negated",
        "dilate" },
    { ND_RANK_OPEN, "Erosion, then dilation: removes what is bright and small",
        "open" },
    { ND_RANK_CLOSE, "Dilation, then erosion: removes what is dark and small",
        "close" },
    { ND_RANK_TOPHAT, "Input - open: keeps what is bright and small",
        "tophat" },
    { ND_RANK_BLACKHAT, "Close - input: keeps what is dark and small",
        "blackhat" },
    { ND_RANK_GRADIENT, "Dilation - erosion: edges", "gradient" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdRankerSettings, __VA_ARGS__)

const NdSetting nd_ranker_settings[] = {
  { "operation", "Operation", "What the samples under the footprint become",
      FIELD (ENUM, operation, NdRankOperation, rank_operation_enum,
          ND_RANK_MEDIAN),
      ND_PLAYING },
  { "footprint", "Footprint",
      "Samples around an output: sizes x:y:z:t, \"ball,radius=2\", "
      "\"cross,size=3:3:3\", \"file,location=f.npy\", or those at which "
      "another filter is not 0. A single number leaves out time",
      FIELD (STRING, footprint, "3"), ND_PLAYING },
  { "percentile", "Percentile",
      "For operation=percentile: 0 is the least sample, 100 the greatest; of n "
      "samples that of rank n * percentile / 100, rounded down",
      FIELD (DOUBLE, percentile, 0, 100, 50), ND_PLAYING, "percent" },
  { "origin", "Origin",
      "Shift of the footprint in samples per axis, x:y:z:t, each from "
      "-(size/2) to (size-1)/2, like SciPy's origin",
      FIELD (STRING, origin, "0:0:0:0"), ND_PLAYING },
  { "causal", "Causal",
      "Shift the footprint in time so that it has no volume after the anchor "
      "of an output. Outputs of open, close, tophat and blackhat then still "
      "wait for as many volumes as it has before",
      FIELD (BOOLEAN, causal, FALSE), ND_PLAYING },
  { "border", "Border", "Samples beyond the edges in x, y and z",
      FIELD (ENUM, border, NdBorder, nd_border_enum, ND_BORDER_NEAREST),
      ND_PLAYING },
  { "border-value", "Border value",
      "Sample value for border=constant and time-border=constant; rounded and "
      "saturated for integers",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0), ND_PLAYING },
  { "time-border", "Time border",
      "Volumes before the first and after the last volume of a stretch, which "
      "is a run of volumes without a break in time; wrap would need the whole "
      "stream and is refused",
      FIELD (ENUM, time_border, NdBorder, nd_border_enum, ND_BORDER_NEAREST),
      ND_PLAYING },
};
const guint nd_n_ranker_settings = G_N_ELEMENTS (nd_ranker_settings);

#undef FIELD

/* Registration */

static ND_DEFINE_ENUM (model_enum, "GstNdRegisterModel",
    { ND_REGISTER_TRANSLATION, "Translation", "translation" },
    { ND_REGISTER_RIGID, "Translation and rotation", "rigid" },
    { ND_REGISTER_AFFINE, "Any map that keeps lines parallel", "affine" });

static ND_DEFINE_ENUM (register_method_enum, "GstNdRegisterMethod",
    { ND_REGISTER_AUTO,
        "Intensities, and then the phase if they leave much unexplained, as "
        "noise and uneven gains do",
        "auto" },
    { ND_REGISTER_PHASE, "Intensities, and then the phase of filters",
        "phase" },
    { ND_REGISTER_INTENSITY, "Intensities only: faster", "intensity" });

static ND_DEFINE_ENUM (mask_enum, "GstNdRegisterMask",
    { ND_MASK_NONE, "All samples are measured that are finite", "none" },
    { ND_MASK_NONZERO,
        "Samples that are 0 are not measured, nor those within 4 samples of "
        "them: for volumes whose sector or cone does not move",
        "nonzero" });

ND_DEFINE_ENUM (nd_interpolation_enum, "GstNdInterpolation",
    { ND_INTERPOLATION_LINEAR, "Linear: smooths", "linear" },
    { ND_INTERPOLATION_CUBIC, "Cubic convolution (Keys)", "cubic" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdRegistrarSettings, __VA_ARGS__)

const NdSetting nd_registrar_settings[] = {
  { "model", "Model", "Motions that are possible",
      FIELD (ENUM, model, NdRegisterModel, model_enum, ND_REGISTER_RIGID),
      ND_OF_STREAM },
  { "method", "Method", "What is compared",
      FIELD (ENUM, method, NdRegisterMethod, register_method_enum,
          ND_REGISTER_AUTO),
      ND_PLAYING },
  { "reference", "Reference",
      "What volumes are moved to: \"first\"; the number of a volume, counted "
      "from 0, before which volumes pass unmoved; \"mean\" or \"mean:N\", the "
      "mean of the first 10 or N volumes, moved to the first; \"running\", the "
      "mean of about the last 16 outputs; \"previous\", the volume before, "
      "with motions added up. If a volume has no structure, the next one takes "
      "its place",
      FIELD (STRING, reference, "first"), ND_PLAYING },
  { "channel", "Channel",
      "Component of the first plane that is measured, counted from 0; -1: the "
      "mean of all. All components are moved",
      FIELD (INT, channel, -1, G_MAXINT, -1), ND_PLAYING },
  { "mask", "Mask", "Samples that are measured",
      FIELD (ENUM, mask, NdMask, mask_enum, ND_MASK_NONE), ND_OF_STREAM },
  { "levels", "Levels",
      "Most levels of the pyramid, each half as large as the one before; "
      "levels have 8 samples and more along each axis",
      FIELD (UINT, levels, 1, ND_REGISTER_MAX_LEVELS, 3), ND_OF_STREAM },
  { "iterations", "Iterations", "Most iterations on each level",
      FIELD (UINT, iterations, 1, ND_REGISTER_MAX_ITERATIONS, 12),
      ND_OF_STREAM },
  { "interpolation", "Interpolation", "Interpolation of the output",
      FIELD (ENUM, interpolation, NdInterpolation, nd_interpolation_enum,
          ND_INTERPOLATION_CUBIC),
      ND_OF_STREAM },
  { "border", "Border", "Samples beyond the edges in x, y and z",
      FIELD (ENUM, border, NdBorder, nd_border_enum, ND_BORDER_CONSTANT),
      ND_OF_STREAM },
  { "border-value", "Border value", "Sample value for border=constant",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0), ND_OF_STREAM },
};
const guint nd_n_registrar_settings = G_N_ELEMENTS (nd_registrar_settings);

#undef FIELD

/* Deconvolution */

#define FIELD(KIND, ...) ND_FIELD_##KIND (NdDeconvolverSettings, __VA_ARGS__)

const NdSetting nd_deconvolver_settings[] = {
  { "iterations", "Iterations",
      "Most iterations for each volume: more sharpen more, and amplify noise",
      FIELD (UINT, deconvolve.iterations, 1, ND_DECONVOLVE_MAX_ITERATIONS, 10),
      ND_OF_STREAM },
  { "tv", "Total variation",
      "Weight of the total variation, which smooths noise and keeps edges; 0: "
      "none, 0.002 is usual",
      FIELD (DOUBLE, deconvolve.tv, 0, ND_DECONVOLVE_MAX_TV, 0), ND_OF_STREAM },
  { "tolerance", "Tolerance",
      "Ends the iterations of a volume once one changes the residue by at most "
      "this share of it; 0: never",
      FIELD (DOUBLE, deconvolve.tolerance, 0, 1, 0), ND_OF_STREAM },
  { "border", "Border", "Samples beyond the edges in x, y and z",
      FIELD (ENUM, border, NdBorder, nd_border_enum, ND_BORDER_NEAREST),
      ND_PLAYING },
  { "border-value", "Border value", "Sample value for border=constant",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0), ND_PLAYING },
};
const guint nd_n_deconvolver_settings = G_N_ELEMENTS (nd_deconvolver_settings);

#undef FIELD

const gchar *
nd_border_name (NdBorder border)
{
  return nd_enum_name (&nd_border_enum, border);
}

const gchar *
nd_backend_kind_name (NdBackendKind kind)
{
  return kind == ND_BACKEND_AUTO ? NULL : nd_enum_name (&nd_backend_enum, kind);
}

const gchar *
nd_method_name (NdMethod method)
{
  return nd_enum_name (&method_enum, method);
}

const gchar *
nd_response_name (NdResponse response)
{
  return nd_enum_name (&response_enum, response);
}

gboolean
nd_denoiser_has_map (const NdDenoiserSettings *settings)
{
  return settings->sigma_map && *settings->sigma_map
      && strcmp (settings->sigma_map, "none") != 0;
}

gboolean
nd_denoiser_check (const NdDenoiserSettings *settings, GError **error)
{
  const NdDenoiseSettings *denoise = &settings->denoise;
  const gboolean has_map = nd_denoiser_has_map (settings);

  if (settings->time_border == ND_BORDER_WRAP)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "time-border=wrap would need the whole stream: use constant, nearest, "
        "reflect or mirror");
  else if (has_map && denoise->noise != ND_NOISE_ADDITIVE)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "sigma-map is for noise=additive: set it to none");
  else if (denoise->noise == ND_NOISE_CORRELATED
      && denoise->method != ND_DENOISE_TRANSFORM)
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "noise=correlated needs method=transform");
  else if ((has_map || denoise->noise == ND_NOISE_POISSON
               || denoise->noise == ND_NOISE_RICIAN)
      && (settings->border == ND_BORDER_CONSTANT
          || settings->time_border == ND_BORDER_CONSTANT))
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "A constant border has no noise, which noise=poisson and rician and "
        "sigma-map expect everywhere: use border and time-border nearest, "
        "reflect or mirror");
  else
    return TRUE;
  return FALSE;
}
