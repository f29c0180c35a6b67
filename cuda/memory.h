/* Memory on the device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"
#include "engine/backend.h"

#include <vector>

namespace nd
{

/* Memory that the engine holds: of the device, or pinned memory of the host. */
extern const NdDeviceMemoryFuncs memory_funcs;

/* The free bytes of the current device. */
size_t free_bytes ();

/* Throws Error if fewer than @bytes are free. */
void expect_free (size_t bytes);

/* Allocates @bytes of zeros; nullptr if @bytes is 0. */
void *allocate_zeroed (size_t bytes);

/* Copies from the host to the device, and returns when the copy is complete,
 * because the streams of a ring do not wait for it. */
void upload (void *to, const void *from, size_t bytes);

/* An array in device memory. Its size can be planned before it is allocated, so
 * that a ring adds up the bytes that it needs and compares them with the free
 * ones before it allocates any. */
template <typename T>
class Memory
{
public:
  Memory () = default;
  /* Allocates zeros, because kernels also read samples that are never
   * written. */
  explicit Memory (size_t n)
  {
    plan (n);
    allocate ();
  }
  ~Memory () { cudaFree (data); }
  Memory (Memory &&other) { swap (other); }
  Memory &operator= (Memory &&other)
  {
    swap (other);
    return *this;
  }

  /* Decides the size and contents for allocate(): zeros, or @contents. */
  void plan (size_t count)
  {
    multiply (count, sizeof (T));
    n = count;
  }
  void plan (std::vector<T> contents)
  {
    plan (contents.size ());
    planned = std::move (contents);
  }
  void allocate ()
  {
    data = static_cast<T *> (allocate_zeroed (bytes ()));
    if (!planned.empty ())
      upload (planned.data (), planned.size ());
    std::vector<T> ().swap (planned);
  }

  T *get () const { return data; }
  size_t count () const { return n; }
  size_t bytes () const { return n * sizeof (T); }
  void upload (const T *from, size_t count)
  {
    nd::upload (data, from, count * sizeof (T));
  }

private:
  void swap (Memory &other)
  {
    std::swap (data, other.data);
    std::swap (n, other.n);
    planned.swap (other.planned);
  }
  T *data = nullptr;
  size_t n = 0;
  std::vector<T> planned; /* contents, until allocate() */
};

/* The sum of bytes () of objects of class Memory or of classes with the same
 * functions. */
template <typename... M>
size_t
total_bytes (const M &...memory)
{
  return (memory.bytes () + ... + 0);
}

template <typename... M>
void
allocate_all (M &...memory)
{
  (memory.allocate (), ...);
}

} // namespace nd
