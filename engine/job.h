/* The job: all that a back end needs to know to make a ring and to respond from
 * it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "engine/border.h"
#include "filters/filter.h"

G_BEGIN_DECLS

/* The kinds of output that a bank has.
 *
 * Input with two components is complex; of other input, each component is
 * filtered separately. The response r of one filter is complex if the filter or
 * the input is complex. Otherwise its imaginary part is 0.
 *
 * Values from ND_RESPONSE_MAX on make one output from the responses of all
 * filters.
 *
 * The numbers are public, as values of a property, and never change. */
typedef enum
{
  ND_RESPONSE_ALL = 0,       /* r, complex as two components */
  ND_RESPONSE_MAGNITUDE = 1, /* |r| */
  ND_RESPONSE_PHASE = 2,     /* the argument of r, -pi to pi */
  ND_RESPONSE_REAL = 3,
  ND_RESPONSE_IMAGINARY = 4,
  ND_RESPONSE_ENERGY = 5, /* |r|^2 */
  ND_RESPONSE_MAX = 6,    /* the largest |r| */
  ND_RESPONSE_ARGMAX = 7, /* the number, from 0, of the first response with the
                             largest |r|; if that is below the job's
                             threshold, ND_LABEL_NONE (type), whatever the
                             scale is */
  ND_RESPONSE_SUM = 8,    /* the sum of |r| */
  ND_RESPONSE_TENSOR = 9  /* the orientation tensor (filters/tensor.h) */
} NdResponse;

/* Kinds of output are 0 to ND_RESPONSE_END - 1. */
#define ND_RESPONSE_END 10

/* The value of the property, for example "magnitude". */
const gchar *nd_response_name (NdResponse response);

/* The label of samples that belong to no response: 255 in types without a sign,
 * otherwise -1. */
#define ND_LABEL_NONE(type) \
  ((type) == ND_UINT8 || (type) == ND_UINT16 ? 255.0 : -1.0)

/* The number of outputs of a bank of @n filters. */
guint nd_response_count (NdResponse response, guint n);

/* The components of an output for an input of @components, for all values but
 * ND_RESPONSE_TENSOR. */
gsize nd_response_components (NdResponse response, gboolean is_complex,
    gsize components);

/* The same for all values. The bank's tensor has @tensor_axes. */
gsize nd_output_components (NdResponse response, gboolean is_complex,
    guint tensor_axes, gsize components);

/* Whether a bank can give @response for input of @components, in samples of
 * @out_type, with @threshold (NdJob). The bank is complex or not, and its
 * tensor has @tensor_axes (0: it makes no tensor). Otherwise FALSE with
 * ND_ERROR_FORMAT if other input would do, or ND_ERROR_SETTINGS. */
gboolean nd_response_check (NdResponse response, gboolean is_complex,
    guint tensor_axes, gsize components, NdSampleType out_type,
    gdouble threshold, GError **error);

/* How responses are computed. ND_METHOD_REFERENCE, plain loops in double
 * precision, is the specification of the others.
 *
 * The numbers are public, as values of a property, and never change. A new
 * method gets the next free one. */
typedef enum
{
  ND_METHOD_DIRECT = 0,
  ND_METHOD_SEPARABLE = 1,
  ND_METHOD_FFT = 2,
  ND_METHOD_TENSOR = 3, /* the tensor cores of a GPU: nd_job_has_bytes() */
  ND_METHOD_REFERENCE = 4,
  ND_METHOD_AUTO = 5 /* the plan chooses one of nd_auto_methods */
} NdMethod;

/* Length of an array that is indexed by method. */
#define ND_METHOD_END 6

/* The methods that ND_METHOD_AUTO chooses from: all but the reference, which is
 * slower than any other by design. */
#define ND_N_AUTO_METHODS 4
extern const NdMethod nd_auto_methods[ND_N_AUTO_METHODS];

/* The value of the property, for example "fft". */
const gchar *nd_method_name (NdMethod method);

/* A setting of programs of earlier versions. It has no effect: all methods have
 * the accuracy of ND_ACCURACY_SINGLE. */
typedef enum
{
  ND_ACCURACY_SINGLE = 0,
  ND_ACCURACY_FAST = 1
} NdAccuracy;

/* Samples along an axis. */
typedef struct
{
  gsize first, n;
} NdRange;

/* The task of a ring. */
typedef struct
{
  NdShape shape;        /* of the input, and of the responses of real filters */
  NdSampleType in_type; /* see nd_sample_computed() */
  NdSampleType out_type;
  NdBorder border;      /* in x, y, z */
  gdouble border_value; /* for ND_BORDER_CONSTANT and ND_SLOT_BORDER */
  NdRange wanted[3];    /* the outputs along x, y, z that are read; n = 0: all.
                         * A back end may also compute the others */
  NdPrecision precision;
  const NdBank *bank; /* must outlive plans and rings of the job */
  NdResponse response;
  gdouble threshold;     /* of ND_RESPONSE_ARGMAX: see engine/job.h */
  guint n_threads;       /* of the CPU; 0: its default */
  guint64 volumes;       /* of the stream; 0: unknown. Read while a plan is
                          * made */
  const gint *cancelled; /* core/error.h; read while a plan is made */
} NdJob;

/* The options of a ring that the convolver sets. */
typedef struct
{
  gboolean border_volumes; /* slots may be ND_SLOT_BORDER */
  gboolean keep;           /* the ring also keeps its input volumes */
  gboolean ahead;          /* sums may be begun ahead: NdBackend.begin */
  gboolean in_place;       /* a window of one volume, without border_volumes:
                            * the memory of a volume stays as it is until its
                            * output is computed, and is not that of the
                            * output; samples are side by side in rows */
} NdRingOptions;

/* Whether samples are uint8, and the border value is one, too, if it is read:
 * ND_METHOD_TENSOR filters these jobs only. @border_volumes:
 * NdRingOptions.border_volumes. */
gboolean nd_job_has_bytes (const NdJob *job, gboolean border_volumes);

/* Whether the output is computed from the responses of the filters of the bank,
 * instead of being these responses. If the bank is complex, the input then has
 * one component. */
gboolean nd_job_combines (const NdJob *job);

/* Whether each filter of the bank is a product of one filter per axis, in the
 * precision of the job. Otherwise FALSE with ND_ERROR_SETTINGS. */
gboolean nd_job_check_separable (const NdJob *job, GError **error);

/* out = gain * response + offset. Integer results are rounded half to even and
 * saturated, and NaN becomes 0. */
typedef struct
{
  gdouble gain;
  gdouble offset;
  gsize *saturated; /* counts samples beyond the range of an integer type; NULL:
                     * not counted. Back ends with
                     * ND_BACKEND_COUNTS_SATURATION add to it atomically */
} NdScale;

/* Samples of a volume in memory, strides in bytes. Component c of sample
 * (x, y, z) of response k is at
 * data + c * nd_sample_size + x * sample + y * row + z * slice + k * response.
 */
typedef struct
{
  guint8 *data;
  gsize sample;
  gsize row;
  gsize slice;
  gsize response;
} NdSamples;

/* The strides of a dense volume at @data. */
NdSamples nd_samples_dense (gpointer data, const NdShape *shape,
    NdSampleType type);

/* The offsets from an output sample to the input samples that the filters of
 * the job read, low[a] to high[a] along axis a, and the volumes of its window:
 * high[T] - low[T] + 1. */
typedef struct
{
  gint low[ND_AXES];
  gint high[ND_AXES];
  guint slots;
} NdReach;

/* That of all filters of the bank. */
NdReach nd_job_reach (const NdJob *job);

G_END_DECLS
