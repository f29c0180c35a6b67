/* A ring on the device: a method, and what brings volumes to it and responses
 * from it. Upload, push, respond and download run in streams of their own, and
 * wait for each other only, by events: the next volume is pushed while a
 * response is made, where the method allows it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndcontext.h"

namespace nd
{

/* What one stretch of work is counted as. */
enum Kind
{
  UPLOAD,
  COMPUTE,
  DOWNLOAD,
  KINDS
};

/* The streams. */
enum Lane
{
  UPLOADS,
  PUSHES,
  RESPONSES,
  DOWNLOADS,
  LANES
};

struct Span
{
  Kind kind;
  Event begin, end;
};

/* Dense memory that one volume at a time goes through. */
struct Stage
{
  Memory<unsigned char> memory;
  NdSamples samples;
  Event free;                   /* reached when it may be written again */
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

} // namespace nd

struct _NdMark
{
  explicit _NdMark (nd::ContextPointer context);

  const nd::ContextPointer context;
  const nd::Event done;
  std::vector<nd::Span> spans;
};

struct _NdRing
{
  _NdRing (const NdJob &job, NdMethod method, nd::ContextPointer context);
  ~_NdRing ();

  void push (unsigned slot, const NdSamples &volume);
  void respond (const int *slots, const NdScale &scale, const NdSamples &out);
  NdMark *mark ();
  void after (const NdMark &mark);
  size_t bytes () const;

  /* The volume last pushed into @slot, where the job says keep. */
  NdSamples kept (unsigned slot) const { return staged[slot]->samples; }

  const nd::ContextPointer context;

private:
  void make (NdMethod wanted);
  void warm_up ();
  template <typename F> void timed (nd::Kind kind, nd::Lane lane, F work);
  const nd::Event &close_span ();
  void add_stages (std::vector<nd::Stage> &stages, size_t n,
      const NdShape &shape, size_t responses, NdSampleType type);
  void respond_here (const int *slots, const NdScale &scale,
      const NdSamples &out);
  const NdSamples &bring_in (unsigned slot, const NdSamples &volume);

  const NdJob job;
  const unsigned n_slots;
  const nd::Stream streams[nd::LANES];
  std::unique_ptr<nd::Method> method;
  nd::Lane pushing = nd::RESPONSES;     /* where volumes are pushed */
  std::vector<int> places;      /* the method's slot for each of the window, and
                                 * for border volumes */
  int spare = 0;                /* its slot for the next volume */
  nd::Event pushed;
  nd::Event responded;          /* until then the spare slot may be read */
  nd::Memory<float> responses;  /* to combine, or none */
  const size_t n_outputs;       /* volumes that respond makes */
  std::vector<nd::Stage> ins, outs;
  std::vector<const nd::Stage *> staged;        /* of each slot */
  nd::Stage *last_in = nullptr;
  size_t n_in = 0, n_out = 0;   /* so far */
  bool downloads = false;       /* since the last mark */
  std::vector<nd::Span> spans;  /* likewise */
  bool open_span = false;       /* the last one has no end yet */
};
