/* The interface of a back end, and the list of back ends.
 *
 * A back end keeps the volumes of a window in a ring, in the form that the
 * method reads. Push does all work that depends on one volume only, once;
 * respond reads the ring and writes one output.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/buildid.h"
#include "core/log.h"
#include "engine/algorithm.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* Engine and module exchange structures of all rooms below them, so that a
 * module works only with the engine of its own build. */
#define ND_BACKEND_VERSION nd_build_number ()
#define ND_BACKEND_SIZE sizeof (NdBackend)

/* view/picture.h, view/scene.h */
typedef struct _NdRendererFuncs NdRendererFuncs;
typedef struct _NdSceneFuncs NdSceneFuncs;

/* In place of a slot: a volume of the border value. */
#define ND_SLOT_BORDER (-1)

typedef enum
{
  /* Rings are in the memory of the machine, so that their total must fit in
   * it. */
  ND_BACKEND_HOST_MEMORY = 1 << 0,

  /* Takes the jobs that a preferred back end refuses. */
  ND_BACKEND_FALLBACK = 1 << 1,

  /* Makes ND_RESPONSE_TENSOR. */
  ND_BACKEND_TENSOR_RESPONSE = 1 << 2,

  /* Compares with the threshold of ND_RESPONSE_ARGMAX. */
  ND_BACKEND_THRESHOLD = 1 << 3,

  /* Counts saturated samples (NdScale). */
  ND_BACKEND_COUNTS_SATURATION = 1 << 4,

  /* Computes in double precision. */
  ND_BACKEND_DOUBLE = 1 << 5
} NdBackendFlags;

/* Events of a back end that only enqueues its work. */
typedef struct _NdRing NdRing;
typedef struct _NdEvent NdEvent; /* each back end defines its own */

/* Seconds of a device's work: uploading volumes, filtering, and downloading
 * responses. */
typedef struct
{
  gdouble upload;
  gdouble compute;
  gdouble download;
} NdTimes;

typedef struct
{
  /* An event after all work that is enqueued on @ring so far. */
  NdEvent *(*record) (NdRing *ring, GError **error);

  /* Blocks the caller until that work is done. @times receives the time that
   * the work since the previous event of the ring took. */
  gboolean (*synchronize) (NdEvent *event, NdTimes *times, GError **error);

  /* Work that is enqueued on @ring from now on starts after @event. Does not
   * block the caller. */
  gboolean (*wait) (NdRing *ring, NdEvent *event, GError **error);

  void (*destroy) (NdEvent *event);
} NdEventFuncs;

/* Memory of a back end's device. */
typedef struct
{
  /* Allocates @bytes of zeros. ND_ERROR_MEMORY if the device does not have
   * enough memory. */
  gpointer (*alloc) (gint device_id, gsize bytes, GError **error);
  void (*free) (gpointer memory);

  /* Copies between memory of devices and of the host, in any combination.
   * Returns when the bytes have arrived. */
  gboolean (*copy) (gpointer to, gconstpointer from, gsize bytes,
      GError **error);

  /* Page-locks host memory, which must be whole pages, so that the device
   * reads and writes it directly. If the device is lost, the memory stays valid
   * for the host. */
  gboolean (*pin) (gint device_id, gpointer memory, gsize bytes,
      GError **error);
  void (*unpin) (gpointer memory);

  /* Whether @memory is of the host and not page-locked, so that a thread that
   * enqueues a copy from or to it waits for the copy. NULL: may be. */
  gboolean (*is_pageable) (gconstpointer memory);
} NdDeviceMemoryFuncs;

/* Required members come first; optional ones are NULL if a back end does not
 * have them.
 *
 * A back end without `events` has done its work when push and respond return.
 * With `events`, push and respond only enqueue it, and their memory must stay
 * valid until an event that is recorded later is synchronized. */
typedef struct
{
  /* Modules only, and always first: ND_BACKEND_VERSION and ND_BACKEND_SIZE. */
  guint32 version;
  gsize size;

  const gchar *name; /* "cpu", "cuda" */
  NdBackendFlags flags;

  /* Whether the back end works on this machine. Otherwise ND_ERROR_INIT says
   * what is missing. @device_id is -1 for any device. */
  gboolean (*available) (gint device_id, GError **error);

  /* Estimated seconds per volume, for one push and one respond. INFINITY with
   * ND_ERROR_SETTINGS if the method cannot do the job. */
  gdouble (*cost) (const NdJob *job, const NdRingOptions *options,
      NdMethod method, gint device_id, GError **error);

  /* Optional: estimated seconds that ring_new() takes, for a method whose cost
   * is finite. NULL: next to none. */
  gdouble (*setup_cost) (const NdJob *job, const NdRingOptions *options,
      NdMethod method, gint device_id);

  /* A ring of nd_job_reach().slots slots with undefined content.
   * ND_ERROR_MEMORY names the bytes that are needed. */
  NdRing *(*ring_new) (const NdJob *job, const NdRingOptions *options,
      NdMethod method, gint device_id, GError **error);

  /* Waits for work that is enqueued. */
  void (*ring_free) (NdRing *ring);
  gsize (*ring_bytes) (const NdRing *ring);

  /* Optional: the kernels that push and respond run, with their files, for the
   * log and statistics. Free it with g_free(). */
  gchar *(*ring_kernels) (const NdRing *ring);

  /* Converts one volume, adds its border and stores it in @slot. @volume is in
   * memory of the host or of a device. */
  gboolean (*push) (NdRing *ring, guint slot, const NdSamples *volume,
      GError **error);

  /* The input volume that was last pushed into @slot, unchanged. Only with the
   * option `keep`. */
  NdSamples (*kept) (const NdRing *ring, guint slot);

  /* The output of the job: all responses of the bank or, if the job
   * nd_job_combines() them, the values made of them. slots[i] is the slot of
   * the volume at time offset low[T] + i from the anchor, or ND_SLOT_BORDER. */
  gboolean (*respond) (NdRing *ring, const gint *slots, const NdScale *scale,
      const NdSamples *out, GError **error);

  /* Optional: begins the next output before the volume of its last slot is
   * pushed. @slots are those of respond. FALSE if the method does not begin
   * outputs. Only with the option `ahead`. The bits of outputs do not depend on
   * it. */
  gboolean (*begin) (NdRing *ring, const gint *slots);

  /* Optional: the name of the device, under which measured times are stored.
   * Free it with g_free(). */
  gchar *(*device_name) (gint device_id);

  /* Optional parts. */
  const NdEventFuncs *events;
  const NdDeviceMemoryFuncs *memory;
  const NdRendererFuncs *renderer;
  const NdAlgorithmFuncs *algorithms;
  const NdSceneFuncs *scenes;

  /* Modules only: nd_log_set_handler() of the module's copy of core/. */
  NdLogSetHandler set_log_handler;
} NdBackend;

/* Adds a back end to the end of the list. Those at the front are preferred.
 * These functions may be called from any thread. */
void nd_backend_register (const NdBackend *backend);

/* Opens the module at @path and adds the back end that its function
 * nd_backend_module() returns to the front of the list. The module stays open.
 * ND_ERROR_INIT if it cannot be opened or is of another build. */
#define ND_BACKEND_MODULE "nd_backend_module"
typedef const NdBackend *(*NdBackendModule) (void);
gboolean nd_backend_open (const gchar *path, GError **error);

/* The back end @name, or the first available one if @name is NULL. Otherwise
 * NULL with ND_ERROR_INIT. */
const NdBackend *nd_backend_find (const gchar *name, gint device_id,
    GError **error);

/* FALSE with ND_ERROR_INIT if a back end with devices does not work here,
 * because this process was forked from one that used it. nd_backend_find()
 * refuses it then. */
gboolean nd_backend_check_fork (GError **error);

/* The first back end with ND_BACKEND_FALLBACK, or NULL. */
const NdBackend *nd_backend_fallback (void);

/* The path of the CUDA module: the file named by the environment variable
 * NDCONV_CUDA_MODULE or, without that variable, the first one of @places, which
 * are relative to @folder and terminated by NULL. NULL if there is no such
 * file; the caller frees it. If @folder is NULL, @places are not searched. */
gchar *nd_module_find (const gchar *folder, const gchar *const *places);

G_END_DECLS
