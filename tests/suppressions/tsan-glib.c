/* Tells the thread sanitizer about GLib's locks. GLib is not built with the
 * sanitizer and implements its locks with futexes, so every field protected by
 * a lock would look like a race. This library is preloaded; each function calls
 * GLib's and annotates the order for the sanitizer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <dlfcn.h>
#include <gst/gst.h>
#include <stdatomic.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

/* GLib's function of this name. GCC reads a pointer that is atomic without an
 * atomic load if the pointer is called, hence the local variable. */
#define REAL(name)                                   \
  static void *_Atomic found;                        \
  void *address = atomic_load (&found);              \
  __typeof__ (name) *real;                           \
  if (!address) {                                    \
    address = dlsym (RTLD_NEXT, G_STRINGIFY (name)); \
    atomic_store (&found, address);                  \
  }                                                  \
  real = (__typeof__ (name) *) address

#define LOCK(type, name)   \
  void name (type *lock)   \
  {                        \
    REAL (name);           \
    real (lock);           \
    __tsan_acquire (lock); \
  }

#define TRYLOCK(type, name)  \
  gboolean name (type *lock) \
  {                          \
    gboolean got;            \
    REAL (name);             \
    got = real (lock);       \
    if (got)                 \
      __tsan_acquire (lock); \
    return got;              \
  }

#define UNLOCK(type, name) \
  void name (type *lock)   \
  {                        \
    REAL (name);           \
    __tsan_release (lock); \
    real (lock);           \
  }

LOCK (GMutex, g_mutex_lock);
TRYLOCK (GMutex, g_mutex_trylock);
UNLOCK (GMutex, g_mutex_unlock);
LOCK (GRecMutex, g_rec_mutex_lock);
TRYLOCK (GRecMutex, g_rec_mutex_trylock);
UNLOCK (GRecMutex, g_rec_mutex_unlock);
LOCK (GRWLock, g_rw_lock_reader_lock);
UNLOCK (GRWLock, g_rw_lock_reader_unlock);
LOCK (GRWLock, g_rw_lock_writer_lock);
UNLOCK (GRWLock, g_rw_lock_writer_unlock);

void
g_cond_wait (GCond *cond, GMutex *lock)
{
  REAL (g_cond_wait);
  __tsan_release (lock);
  real (cond, lock);
  __tsan_acquire (lock);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *lock, gint64 end_time)
{
  gboolean in_time;

  REAL (g_cond_wait_until);
  __tsan_release (lock);
  in_time = real (cond, lock, end_time);
  __tsan_acquire (lock);
  return in_time;
}

/* What is initialised once is visible to all who find it done. GLib's macros of
 * the same names would cast the argument. */
gboolean (g_once_init_enter) (volatile void *location)
{
  gboolean first;

  REAL (g_once_init_enter);
  first = real (location);
  if (!first)
    __tsan_acquire ((void *) location);
  return first;
}

void (g_once_init_leave) (volatile void *location, gsize result)
{
  REAL (g_once_init_leave);
  __tsan_release ((void *) location);
  real (location, result);
}

/* Work done before a push is visible after the pop. */
void
g_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  REAL (g_async_queue_push);
  __tsan_release (queue);
  real (queue, data);
}

gpointer
g_async_queue_pop (GAsyncQueue *queue)
{
  gpointer data;

  REAL (g_async_queue_pop);
  data = real (queue);
  __tsan_acquire (queue);
  return data;
}

gpointer
g_async_queue_timeout_pop (GAsyncQueue *queue, guint64 timeout)
{
  gpointer data;

  REAL (g_async_queue_timeout_pop);
  data = real (queue, timeout);
  __tsan_acquire (queue);
  return data;
}

/* The release of the last reference comes after all other releases. */
void
gst_mini_object_unref (GstMiniObject *object)
{
  REAL (gst_mini_object_unref);
  __tsan_release (object);
  __tsan_acquire (object);
  real (object);
}

void
g_object_unref (gpointer object)
{
  REAL (g_object_unref);
  __tsan_release (object);
  __tsan_acquire (object);
  real (object);
}

void
gst_object_unref (gpointer object)
{
  REAL (gst_object_unref);
  __tsan_release (object);
  __tsan_acquire (object);
  real (object);
}

/* Taking a buffer from a pool comes after its release. The pool passes buffers
 * through an atomic queue. */
GstFlowReturn
gst_buffer_pool_acquire_buffer (GstBufferPool *pool, GstBuffer **buffer,
    GstBufferPoolAcquireParams *params)
{
  GstFlowReturn ret;

  REAL (gst_buffer_pool_acquire_buffer);
  ret = real (pool, buffer, params);
  if (ret == GST_FLOW_OK)
    __tsan_acquire (*buffer);
  return ret;
}
