/* The interface of a back end, and the list of those there are.
 *
 * A back end keeps the last volumes of a stream in a ring, in the form that a
 * method reads. Push does the work once; respond only reads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndjob.h"

G_BEGIN_DECLS

/* Instead of a slot: a volume that is the border value everywhere. */
#define ND_SLOT_BORDER (-1)

typedef struct _NdRing NdRing;  /* each back end's own */
typedef struct _NdMark NdMark;  /* a moment in a ring's work, likewise */
typedef struct _NdCanvas NdCanvas;      /* a picture in the making, likewise */

/* Seconds that work took on a device: bringing volumes in, filtering, and
 * taking responses out. */
typedef struct
{
  gdouble upload;
  gdouble compute;
  gdouble download;
} NdTimes;

typedef enum
{
  ND_PICTURE_SLICE,             /* the plane across an axis */
  ND_PICTURE_ORTHOGONAL,        /* three of them */
  ND_PICTURE_PROJECTION         /* the maximum along an axis */
} NdPictureMode;

/* What ndpicture.h makes pictures of. */
typedef struct
{
  NdPictureMode mode;
  NdAxis axis;
  NdSampleType type;
  NdShape shape;
  gsize width, height;
  guint channels;               /* values of a pixel */
} NdPictureJob;

/* Functions from `mark` to the last but one are NULL in a back end that has
 * done its work when push and respond return. With the others, these enqueue
 * it: memory that they were given must stay until a mark made after them is
 * reached. */
typedef struct
{
  const gchar *name;            /* "cpu", "cuda" */

  /* Whether it can be used on this machine; ND_ERROR_INIT says what is
   * missing. */
  gboolean (*available) (gint device_id, GError ** error);

  /* The name of a device, for which measurements hold; NULL: there is none. */
  gchar *(*device_name) (gint device_id);

  /* Estimated seconds per volume, push and one respond; infinite where the
   * method cannot do the job, and then @error says why. */
  gdouble (*cost) (const NdJob * job, NdMethod method, gint device_id,
      GError ** error);

  /* A ring of nd_job_reach().slots slots with undefined content.
   * ND_ERROR_NO_SPACE names the bytes wanted. */
  NdRing *(*ring_new) (const NdJob * job, NdMethod method, gint device_id,
      GError ** error);
  void (*ring_free) (NdRing * ring);
  gsize (*ring_bytes) (const NdRing * ring);

  /* Converts, borders and stores one volume, which may lie in host memory or in
   * memory of a device. */
  gboolean (*push) (NdRing * ring, guint slot, const NdSamples * volume,
      GError ** error);

  /* The volume last pushed into @slot, as it came; only of jobs with `keep`. */
  NdSamples (*kept) (const NdRing * ring, guint slot);

  /* All responses of the bank. slots[i] holds the volume at time offset
   * low[T] + i of the anchor, or is ND_SLOT_BORDER. */
  gboolean (*respond) (NdRing * ring, const gint * slots,
      const NdScale * scale, const NdSamples * out, GError ** error);

  /* A moment that is reached when all work enqueued so far is done. `reach`
   * waits for it, and gives the time that the work took since the mark before;
   * `after` has what is enqueued next wait, but not the caller. */
  NdMark *(*mark) (NdRing * ring, GError ** error);
  gboolean (*reach) (NdMark * mark, NdTimes * times, GError ** error);
  gboolean (*after) (NdRing * ring, NdMark * mark, GError ** error);
  void (*mark_free) (NdMark * mark);

  /* Memory of the device, and copies between any memory, which have arrived
   * when this returns. */
  gpointer (*memory_new) (gint device_id, gsize bytes, GError ** error);
  void (*memory_free) (gpointer memory);
  gboolean (*memory_copy) (gpointer to, gconstpointer from, gsize bytes,
      GError ** error);

  /* Host memory, whole pages, that the device may read and write by itself
   * until it is unpinned; it stays host memory whatever becomes of the device.
   */
  gboolean (*pin) (gint device_id, gpointer memory, gsize bytes,
      GError ** error);
  void (*unpin) (gpointer memory);

  /* The functions of ndpicture.h for volumes in memory of the device, dense.
   * `canvas_take` takes the planes at index @at of each axis; `canvas_sample`
   * gives what is shown of each @step-th of all voxels, of channels in turn;
   * `canvas_extremes` the least and the most of all finite ones. The volume is
   * read no more when `canvas_write` returns. */
  NdCanvas *(*canvas_new) (const NdPictureJob * job, gint device_id,
      GError ** error);
  void (*canvas_free) (NdCanvas * canvas);
  gboolean (*canvas_take) (NdCanvas * canvas, gconstpointer volume,
      const gsize at[3], GError ** error);
  gboolean (*canvas_sample) (NdCanvas * canvas, gconstpointer volume,
      gsize step, gfloat * samples, gsize n, GError ** error);
  gboolean (*canvas_extremes) (NdCanvas * canvas, gconstpointer volume,
      gdouble * low, gdouble * high, GError ** error);
  gboolean (*canvas_write) (NdCanvas * canvas, gdouble low, gdouble window,
      guint8 * pixels, gssize stride, GError ** error);

  /* Makes the output of a job that nd_job_combines() of the @responses of its
   * filters: dense float32 volumes in host memory, one behind the other. NULL:
   * respond does, and the job's type is that of the output. */
  void (*combine) (const NdJob * job, const gfloat * responses,
      NdSampleType type, const NdScale * scale, const NdSamples * out);
} NdBackend;

/* Adds a back end; those added first are preferred. */
void nd_backend_register (const NdBackend * backend);

/* Opens the module at @path and adds the back end that its function
 * nd_backend_module() names, before those there are. A module stays open.
 * ND_ERROR_INIT where it cannot be opened. */
#define ND_BACKEND_MODULE "nd_backend_module"
typedef const NdBackend *(*NdBackendModule) (void);
gboolean nd_backend_open (const gchar * path, GError ** error);

/* The back end @name, or with NULL the first that is available. ND_ERROR_INIT
 * otherwise. */
const NdBackend *nd_backend_find (const gchar * name, gint device_id,
    GError ** error);

G_END_DECLS
