/* A test double of a CUDA driver with two devices whose memory is host memory.
 * It has the functions of libcuda and libnvcuvid that GStreamer's CUDA library,
 * cudaupload and cudadownload call. Work enqueued on a stream runs when that
 * stream is synchronized, and not before: code that does not wait reads old
 * data.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gmodule.h>
#include <string.h>

#define DEVICES 2
#define PITCH 512

#define DRIVER(name, ...)                  \
  G_MODULE_EXPORT gint name (__VA_ARGS__); \
  gint name (__VA_ARGS__)

/* Functions that are never called, or whose failure GStreamer accepts. */
#define ABSENT(name)      \
  DRIVER (name, void)     \
  {                       \
    return NOT_SUPPORTED; \
  }                       \
  gint name (void)

enum
{
  SUCCESS = 0,
  INVALID_VALUE = 1,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  NOT_SUPPORTED = 801
};

typedef struct
{
  gint device;
} Context;

/* The layout of cuda.h. */
typedef struct
{
  gsize x, y;
  gint type; /* 1: host, 2: device */
  guint8 *host, *device, *array;
  gsize pitch;
} Place;

typedef struct
{
  Place from, to;
  gsize width, height;
} Copy;

typedef struct
{
  Copy copy;
  guint8 *data; /* a copy of pageable host memory, or NULL */
  guint8 value; /* the source of the copy is missing */
} Work;

typedef struct
{
  GMutex lock;
  GQueue works;
} Stream;

static GPrivate current = G_PRIVATE_INIT ((GDestroyNotify) g_queue_free);

/* Contexts that are current in this thread, the latest first. */
static GQueue *
stack (void)
{
  GQueue *all = g_private_get (&current);

  if (!all) {
    all = g_queue_new ();
    g_private_set (&current, all);
  }
  return all;
}

/* Distinguishes the double from a real driver. */
ABSENT (driver_double);

DRIVER (cuInit, guint flags)
{
  return SUCCESS;
}

DRIVER (cuDriverGetVersion, gint *version)
{
  *version = 12000;
  return SUCCESS;
}

DRIVER (cuGetErrorName, gint error, const gchar **name)
{
  *name = "CUDA_ERROR";
  return SUCCESS;
}

DRIVER (cuGetErrorString, gint error, const gchar **text)
{
  *text = "an error of the driver's double";
  return SUCCESS;
}

DRIVER (cuDeviceGetCount, gint *n)
{
  *n = DEVICES;
  return SUCCESS;
}

DRIVER (cuDeviceGet, gint *device, gint i)
{
  *device = i;
  return i >= 0 && i < DEVICES ? SUCCESS : INVALID_DEVICE;
}

DRIVER (cuDeviceGetName, gchar *name, gint size, gint device)
{
  g_snprintf (name, size, "double %d", device);
  return SUCCESS;
}

DRIVER (cuDeviceGetAttribute, gint *value, gint attribute, gint device)
{
  switch (attribute) {
    case 14: /* alignment of textures */
      *value = PITCH;
      break;
    case 75: /* compute capability */
      *value = 9;
      break;
    default:
      *value = 0;
  }
  return SUCCESS;
}

DRIVER (cuDeviceCanAccessPeer, gint *can, gint device, gint peer)
{
  *can = 0;
  return SUCCESS;
}

DRIVER (cuCtxPushCurrent_v2, Context *context)
{
  if (!context)
    return INVALID_CONTEXT;
  g_queue_push_head (stack (), context);
  return SUCCESS;
}

DRIVER (cuCtxPopCurrent_v2, Context **context)
{
  Context *popped = g_queue_pop_head (stack ());

  if (context)
    *context = popped;
  return popped ? SUCCESS : INVALID_CONTEXT;
}

DRIVER (cuCtxGetCurrent, Context **context)
{
  *context = g_queue_peek_head (stack ());
  return SUCCESS;
}

DRIVER (cuCtxCreate_v2, Context **context, guint flags, gint device)
{
  if (device < 0 || device >= DEVICES)
    return INVALID_DEVICE;
  *context = g_new0 (Context, 1);
  (*context)->device = device;
  return cuCtxPushCurrent_v2 (*context);
}

DRIVER (cuCtxDestroy_v2, Context *context)
{
  g_queue_remove_all (stack (), context);
  g_free (context);
  return SUCCESS;
}

DRIVER (cuCtxSynchronize, void)
{
  return g_queue_is_empty (stack ()) ? INVALID_CONTEXT : SUCCESS;
}

DRIVER (cuMemAlloc_v2, guint8 **memory, gsize bytes)
{
  if (g_queue_is_empty (stack ()))
    return INVALID_CONTEXT;
  *memory = g_malloc0 (MAX (bytes, 1));
  return SUCCESS;
}

DRIVER (cuMemAllocPitch_v2, guint8 **memory, gsize *pitch, gsize width,
    gsize height, guint element)
{
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return cuMemAlloc_v2 (memory, *pitch * height);
}

DRIVER (cuMemAllocHost_v2, guint8 **memory, gsize bytes)
{
  return cuMemAlloc_v2 (memory, bytes);
}

DRIVER (cuMemFree_v2, guint8 *memory)
{
  g_free (memory);
  return SUCCESS;
}

DRIVER (cuMemFreeHost, guint8 *memory)
{
  g_free (memory);
  return SUCCESS;
}

static guint8 *
place_start (const Place *place)
{
  return (place->type == 1 ? place->host : place->device)
      + place->y * place->pitch + place->x;
}

static void
do_work (const Work *work)
{
  const Copy *copy = &work->copy;
  const guint8 *from = work->data ? work->data : place_start (&copy->from);
  const gsize pitch = work->data ? copy->width : copy->from.pitch;
  guint8 *to = place_start (&copy->to);

  for (gsize y = 0; y < copy->height; y++) {
    if (from)
      memcpy (to + y * copy->to.pitch, from + y * pitch, copy->width);
    else
      memset (to + y * copy->to.pitch, work->value, copy->width);
  }
}

static void
free_work (Work *work)
{
  g_free (work->data);
  g_free (work);
}

/* Enqueues @work, or runs it at once if there is no stream. */
static gint
enqueue (Stream *stream, Work *work)
{
  if (g_queue_is_empty (stack ())) {
    free_work (work);
    return INVALID_CONTEXT;
  }
  if (!stream) {
    do_work (work);
    free_work (work);
    return SUCCESS;
  }
  g_mutex_lock (&stream->lock);
  g_queue_push_tail (&stream->works, work);
  g_mutex_unlock (&stream->lock);
  return SUCCESS;
}

DRIVER (cuMemcpy2DAsync_v2, const Copy *copy, Stream *stream)
{
  Work *work = g_new0 (Work, 1);

  if (copy->from.type > 2 || copy->to.type > 2) {
    g_free (work);
    return INVALID_VALUE;
  }
  work->copy = *copy;
  /* Pageable memory may be freed at once. */
  if (copy->from.type == 1 && stream) {
    const guint8 *from = place_start (&copy->from);

    work->data = g_malloc (copy->width * copy->height);
    for (gsize y = 0; y < copy->height; y++)
      memcpy (work->data + y * copy->width, from + y * copy->from.pitch,
          copy->width);
  }
  return enqueue (stream, work);
}

DRIVER (cuMemcpy2D_v2, const Copy *copy)
{
  return cuMemcpy2DAsync_v2 (copy, NULL);
}

DRIVER (cuMemsetD8Async, guint8 *memory, guint8 value, gsize n, Stream *stream)
{
  Work *work = g_new0 (Work, 1);

  work->copy.to = (Place){ .type = 2, .device = memory, .pitch = n };
  work->copy.width = n;
  work->copy.height = 1;
  work->value = value;
  return enqueue (stream, work);
}

DRIVER (cuStreamCreate, Stream **stream, guint flags)
{
  *stream = g_new0 (Stream, 1);
  g_mutex_init (&(*stream)->lock);
  g_queue_init (&(*stream)->works);
  return SUCCESS;
}

DRIVER (cuStreamSynchronize, Stream *stream)
{
  Work *work;

  if (g_queue_is_empty (stack ()))
    return INVALID_CONTEXT;
  if (!stream)
    return SUCCESS;
  g_mutex_lock (&stream->lock);
  while ((work = g_queue_pop_head (&stream->works))) {
    do_work (work);
    free_work (work);
  }
  g_mutex_unlock (&stream->lock);
  return SUCCESS;
}

DRIVER (cuStreamDestroy, Stream *stream)
{
  g_queue_clear_full (&stream->works, (GDestroyNotify) free_work);
  g_mutex_clear (&stream->lock);
  g_free (stream);
  return SUCCESS;
}

DRIVER (cuStreamDestroy_v2, Stream *stream)
{
  return cuStreamDestroy (stream);
}

/* Kernels do nothing. */
DRIVER (cuModuleLoadData, gpointer *module, const void *code)
{
  *module = NULL;
  return SUCCESS;
}

DRIVER (cuModuleUnload, gpointer module)
{
  return SUCCESS;
}

DRIVER (cuModuleGetFunction, gpointer *function, gpointer module,
    const gchar *name)
{
  *function = NULL;
  return SUCCESS;
}

DRIVER (cuLaunchKernel, gpointer function, guint gx, guint gy, guint gz,
    guint bx, guint by, guint bz, guint shared, Stream *stream,
    gpointer *arguments, gpointer *extra)
{
  return SUCCESS;
}

ABSENT (cuCtxEnablePeerAccess);
ABSENT (cuCtxDisablePeerAccess);
ABSENT (cuDevicePrimaryCtxRetain);
ABSENT (cuMemGetInfo_v2);
ABSENT (cuEventCreate);
ABSENT (cuEventDestroy_v2);
ABSENT (cuEventRecord);
ABSENT (cuEventSynchronize);
ABSENT (cuGLGetDevices_v2);
ABSENT (cuGraphicsGLRegisterBuffer);
ABSENT (cuGraphicsGLRegisterImage);
ABSENT (cuGraphicsMapResources);
ABSENT (cuGraphicsResourceGetMappedPointer_v2);
ABSENT (cuGraphicsResourceSetMapFlags_v2);
ABSENT (cuGraphicsSubResourceGetMappedArray);
ABSENT (cuGraphicsUnmapResources);
ABSENT (cuGraphicsUnregisterResource);
ABSENT (cuIpcCloseMemHandle);
ABSENT (cuIpcGetEventHandle);
ABSENT (cuIpcGetMemHandle);
ABSENT (cuIpcOpenEventHandle);
ABSENT (cuIpcOpenMemHandle);
ABSENT (cuTexObjectCreate);
ABSENT (cuTexObjectDestroy);

/* A part of libnvcuvid, without which GStreamer registers no cudaupload; it
 * decodes nothing. */
ABSENT (cuvidCreateDecoder);
ABSENT (cuvidCreateVideoParser);
ABSENT (cuvidCtxLock);
ABSENT (cuvidCtxLockCreate);
ABSENT (cuvidCtxLockDestroy);
ABSENT (cuvidCtxUnlock);
ABSENT (cuvidDecodePicture);
ABSENT (cuvidDestroyDecoder);
ABSENT (cuvidDestroyVideoParser);
ABSENT (cuvidGetDecoderCaps);
ABSENT (cuvidMapVideoFrame64);
ABSENT (cuvidParseVideoData);
ABSENT (cuvidReconfigureDecoder);
ABSENT (cuvidUnmapVideoFrame64);
