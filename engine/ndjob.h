/* The job description: what a back end must know to make a ring and to answer
 * with it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndborder.h"
#include "ndresponse.h"
#include "ndshape.h"
#include "filters/ndfilter.h"

G_BEGIN_DECLS

/* How a response is computed. ND_METHOD_REFERENCE is the specification of the
 * others: plain loops in double precision. */
typedef enum
{
  ND_METHOD_DIRECT,
  ND_METHOD_SEPARABLE,
  ND_METHOD_FFT,
  ND_METHOD_TENSOR,             /* the matrix units of a GPU */
  ND_METHOD_REFERENCE,
  ND_METHODS
} NdMethod;

const gchar *nd_method_name (NdMethod method);

/* Of ND_METHOD_TENSOR; others do not look at it. */
typedef enum
{
  ND_ACCURACY_SINGLE,           /* relative L2 error at most 2e-6, of what the
                                 * filter could give */
  ND_ACCURACY_FAST              /* at most 5e-4 */
} NdAccuracy;

typedef struct
{
  NdShape shape;                /* of the input, and of the responses of real
                                 * filters; components interleaved */
  NdSampleType in_type;
  NdSampleType out_type;
  NdBorder border;              /* in x, y, z */
  gdouble border_value;         /* of ND_BORDER_CONSTANT and border volumes */
  gboolean border_volumes;      /* slots may be ND_SLOT_BORDER */
  NdAccuracy accuracy;
  gboolean keep;                /* volumes are also kept as they came */
  const NdBank *bank;           /* must outlive what is made from the job */
  NdResponse response;
} NdJob;

/* Whether the output is made of the responses of the bank's filters, rather
 * than being them. Input of a complex bank has one component. */
gboolean nd_job_combines (const NdJob * job);

/* out = gain * response + offset; integers are rounded half to even and
 * saturated, NaN becomes 0 there. */
typedef struct
{
  gdouble gain;
  gdouble offset;
} NdScale;

/* Samples of a volume in memory, strides in bytes. Component c of sample
 * (x, y, z) is at
 * data + c * nd_sample_size + x * sample + y * row + z * slice;
 * of response k of a bank, k * response behind that. */
typedef struct
{
  guint8 *data;
  gsize sample;
  gsize row;
  gsize slice;
  gsize response;
} NdSamples;

/* The strides of a dense volume at @data. */
NdSamples nd_samples_dense (gpointer data, const NdShape * shape,
    NdSampleType type);

/* Offsets that the filters of the job read in x, y, z, and the slots of its
 * ring: volumes behind + 1 + ahead. */
typedef struct
{
  gint low[ND_AXES];
  gint high[ND_AXES];
  guint slots;
} NdReach;

NdReach nd_job_reach (const NdJob * job);

G_END_DECLS
