/* A ring on the device: a method, and the copies of volumes to it and of
 * responses from it. Upload, push, respond and download each have a CUDA stream
 * and wait for one another by events. If the method allows it, the next
 * volume is pushed while a response is computed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/context.h"
#include "engine/slabs.h"
#include "filters/tensor.h"

namespace nd
{

/* The kinds of work whose times NdTimes reports. */
enum Kind
{
  UPLOAD,
  COMPUTE,
  DOWNLOAD,
  KINDS
};

/* The CUDA streams of a ring. */
enum StreamId
{
  UPLOADS,
  PUSHES,
  RESPONSES,
  DOWNLOADS,
  STREAMS
};

/* Work of one kind between two timing events. */
struct Span
{
  Kind kind;
  Event begin, end;
};

/* Device memory for one volume that is uploaded or downloaded. */
struct TransferBuffer
{
  Memory<unsigned char> memory;
  NdSamples samples; /* dense */
  Event free;        /* complete when the buffer may be written again */
  Event full;        /* complete when it is written, if that is not timed */
};

/* A slot of the method that the window does not use. */
struct SpareSlot
{
  int slot;
  Event free; /* complete when no response reads it */
};

class Stream
{
public:
  Stream ();
  ~Stream ();
  Stream (const Stream &) = delete;
  operator cudaStream_t () const { return handle; }

private:
  cudaStream_t handle;
};

/* Copies a volume in any direction. Samples of a row have no gaps; rows and
 * slices may have any stride. */
void copy_volume (const NdSamples &to, const NdSamples &from,
    const NdShape &shape, size_t row_bytes, cudaStream_t stream);

} // namespace nd

struct _NdEvent
{
  explicit _NdEvent (nd::ContextPointer context);

  const nd::ContextPointer context;
  const nd::Event done;
  std::vector<nd::Span> spans;
};

struct _NdRing
{
  /* @limit: the most bytes of device memory; 0: no limit. */
  _NdRing (const nd::RingJob &job, NdMethod method, nd::ContextPointer context,
      size_t limit = 0);
  ~_NdRing ();

  /* @slab: nullptr if the ring has whole volumes. */
  void push (unsigned slot, const NdSamples &volume,
      const NdSlab *slab = nullptr);
  void respond (const int *slots, const NdScale &scale, const NdSamples &out,
      const NdSlab *slab = nullptr);
  NdEvent *record ();
  void wait (const NdEvent &event);
  size_t bytes () const;

  /* LaunchRecord::text() of a push and a response. */
  const std::string &kernels () const { return launched; }

  /* The volume that was last pushed into @slot. Valid if job.keep is set. */
  NdSamples kept (unsigned slot) const { return uploaded[slot]->samples; }

  const nd::ContextPointer context;

private:
  size_t available () const;
  void check_limit () const;
  void plan_responses ();
  void plan (NdMethod wanted);
  void allocate ();
  void warm_up ();
  template <typename F>
  void timed (nd::Kind kind, nd::StreamId id, F work);
  const nd::Event &close_span ();
  void add_buffers (std::vector<nd::TransferBuffer> &buffers, size_t n,
      const NdShape &shape, size_t responses, NdSampleType type);
  bool stores_only (const NdSlab &slab) const;
  void respond_here (const int *slots, const NdScale &scale,
      const NdSamples &out);
  void upload (const nd::TransferBuffer &to, const NdSamples &volume,
      const nd::TransferBuffer *before, const NdSlab *slab,
      cudaStream_t stream);
  const NdSamples &to_device (unsigned slot, const NdSamples &volume,
      const NdSlab *slab);

  const nd::RingJob job;
  const size_t limit;
  const unsigned n_slots;
  const nd::Stream streams[nd::STREAMS];
  std::unique_ptr<nd::Method> method;
  nd::StreamId pushing = nd::RESPONSES; /* that method->push () enqueues on */
  std::vector<int> places; /* the slot that the method uses for each slot of the
                            * window; [n_slots]: for the border volume */
  std::vector<nd::SpareSlot> spares; /* that the method uses for the next
                                      * volumes, if it pushes ahead */
  nd::Event pushed;
  nd::Memory<unsigned char> responses; /* of the filters, before they are
                                        * combined; empty if the job does not
                                        * combine them */
  NdTensorRecipe recipe = {};          /* of ND_RESPONSE_TENSOR */
  const size_t n_outputs;              /* volumes of an output */
  std::vector<nd::TransferBuffer> uploads, downloads;
  std::vector<const nd::TransferBuffer *> uploaded; /* into each slot */
  nd::TransferBuffer *last_upload = nullptr;
  nd::StreamId uploading = nd::UPLOADS; /* the stream of that upload */
  nd::Event turned; /* complete when uploads may go on on another stream */
  size_t n_pushes = 0, n_uploads = 0, n_downloads = 0; /* so far */
  bool downloading = false;    /* since the last event */
  std::vector<nd::Span> spans; /* since the last event */
  bool open_span = false;      /* the last span has no end yet */
  std::string launched;
};
