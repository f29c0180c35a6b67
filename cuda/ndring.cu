/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndring.h"

#include <algorithm>

#include "ndcombine.cuh"

using namespace nd;

namespace
{

/* While one volume is uploaded another is filtered, and one more response is
 * on its way out. */
constexpr size_t AHEAD = 2;

/* The stream that knows when work of a kind may begin and is done: what is
 * pushed beside an earlier response takes no time. */
constexpr Lane knows[KINDS] = { UPLOADS, RESPONSES, DOWNLOADS };

std::unique_ptr<Method>
make_method (const NdJob &job, NdMethod method, const ComputeStreams &streams)
{
  switch (method) {
    case ND_METHOD_DIRECT:
      return make_direct (job, streams);
    case ND_METHOD_SEPARABLE:
      return make_separable (job, streams);
    case ND_METHOD_FFT:
      return make_fft (job, streams);
    case ND_METHOD_TENSOR:
      return make_tensor (job, streams);
    default:
      throw Error (ND_ERROR_SETTINGS, "method=reference runs on the CPU only: "
          "use backend=cpu with it");
  }
}

/* Copies a volume between any memory, of any row and slice stride. */
void
copy_volume (const NdSamples &to, const NdSamples &from, const NdShape &shape,
    size_t row_bytes, cudaStream_t stream)
{
  const size_t ny = shape.size[1], nz = shape.size[2];

  if (to.row == row_bytes && from.row == row_bytes && to.slice == from.slice
      && to.slice == row_bytes * ny) {
    ND_CUDA (cudaMemcpyAsync (to.data, from.data, to.slice * nz,
            cudaMemcpyDefault, stream));
    return;
  }
  if (to.slice == to.row * ny && from.slice == from.row * ny) {
    ND_CUDA (cudaMemcpy2DAsync (to.data, to.row, from.data, from.row,
            row_bytes, ny * nz, cudaMemcpyDefault, stream));
    return;
  }
  for (size_t z = 0; z < nz; z++)
    ND_CUDA (cudaMemcpy2DAsync (to.data + z * to.slice, to.row,
            from.data + z * from.slice, from.row, row_bytes, ny,
            cudaMemcpyDefault, stream));
}

} // namespace

_NdMark::_NdMark (ContextPointer context)
  : context (std::move (context)), done (*this->context)
{
}

Stream::Stream ()
{
  ND_CUDA (cudaStreamCreateWithFlags (&handle, cudaStreamNonBlocking));
}

/* What was enqueued may use memory that goes next. */
Stream::~Stream ()
{
  cudaStreamSynchronize (handle);
  cudaStreamDestroy (handle);
}

_NdRing::_NdRing (const NdJob &job, NdMethod wanted, ContextPointer context)
  : context (std::move (context)), job (job),
    n_slots (nd_job_reach (&job).slots),
    pushed (*this->context), responded (*this->context),
    n_outputs (nd_response_count (job.response,
            nd_bank_responses (job.bank))), staged (n_slots)
{
  {
    Count all;

    try {
      make (wanted);
    } catch (const Count::Counted &) {
    }
    all.expect_free ();
  }
  method.reset ();
  ins.clear ();
  outs.clear ();
  responses = Memory<float> ();
  make (wanted);
  for (unsigned i = 0; i < n_slots; i++)
    places.push_back (i);
  spare = n_slots;
  if (method->pushes_ahead ()) {
    pushing = PUSHES;
    places.push_back (n_slots + 1);
  } else {
    places.push_back (n_slots);
  }
  if (job.border_volumes)
    method->push (places[n_slots], nullptr);
  warm_up ();
}

/* Kernels are loaded when they run first: here, by two volumes of zeros, not
 * while the stream waits. */
void
_NdRing::warm_up ()
{
  std::vector<int> slots (places.begin (), places.begin () + n_slots);
  const NdScale unscaled = { 1, 0 };

  for (unsigned i = 0; i < 2; i++) {
    std::rotate (slots.begin (), slots.begin () + 1, slots.end ());
    method->push (slots.back (), &ins[0].samples);
    ND_CUDA (cudaStreamSynchronize (streams[pushing]));
    respond_here (slots.data (), unscaled, outs[0].samples);
    ND_CUDA (cudaStreamSynchronize (streams[RESPONSES]));
  }
}

/* Takes all memory that the ring will have. */
void
_NdRing::make (NdMethod wanted)
{
  /* A volume that is kept stays in the memory it came to. */
  add_stages (ins, AHEAD + (job.keep ? n_slots : 1), job.shape, 1,
      job.in_type);
  NdJob filters = job;
  NdShape made = job.shape;

  if (nd_job_combines (&job)) {
    size_t samples = 0;

    if (!nd_shape_samples (&job.shape, &samples))
      samples = SIZE_MAX;
    responses = Memory<float> (multiply (samples, job.bank->n_filters));
    filters.out_type = ND_FLOAT32;
    filters.response = ND_RESPONSE_ALL;
    made.components = nd_response_components (job.response,
        job.bank->is_complex, job.shape.components);
  }
  add_stages (outs, AHEAD, made, n_outputs, job.out_type);
  method = make_method (filters, wanted, ComputeStreams { streams[PUSHES],
        streams[RESPONSES] });
}

_NdRing::~_NdRing ()
{
  for (const Stream &stream : streams)
    cudaStreamSynchronize (stream);
}

void
_NdRing::add_stages (std::vector<Stage> &stages, size_t n,
    const NdShape &shape, size_t responses, NdSampleType type)
{
  size_t samples;

  if (!nd_shape_samples (&shape, &samples))
    throw Error (ND_ERROR_NO_SPACE, "A volume so large does not fit in "
        "memory");
  stages.reserve (n);
  while (stages.size () < n) {
    Memory<unsigned char> memory (multiply (samples * nd_sample_size (type),
            responses));
    const NdSamples dense = nd_samples_dense (memory.get (), &shape, type);

    stages.push_back (Stage { std::move (memory), dense, Event (*context) });
  }
}

/* Runs @work, which enqueues on a stream. Stretches of one kind that follow
 * each other are one: an event between two kernels takes as long as a small
 * one. */
template <typename F> void
_NdRing::timed (Kind kind, Lane lane, F work)
{
  if (open_span && spans.back ().kind != kind)
    close_span ();
  if (!open_span) {
    spans.push_back (Span { kind, Event (*context, true),
        Event (*context, true) });
    spans.back ().begin.record (streams[knows[kind]]);
    open_span = true;
  }
  work (streams[lane]);
}

/* The end of the last stretch. */
const Event &
_NdRing::close_span ()
{
  Span &span = spans.back ();

  if (open_span)
    span.end.record (streams[knows[span.kind]]);
  open_span = false;
  return span.end;
}

/* Where kernels find @volume. */
const NdSamples &
_NdRing::bring_in (unsigned slot, const NdSamples &volume)
{
  const bool reached = context->reaches (volume.data);

  /* What the method was given last may have been read in place until now. */
  if (last_in)
    last_in->free.record (streams[RESPONSES]);
  last_in = nullptr;
  if (reached && !job.keep)
    return volume;

  Stage &stage = ins[n_in++ % ins.size ()];
  const Lane lane = reached ? pushing : UPLOADS;

  stage.free.before (streams[lane]);
  timed (reached ? COMPUTE : UPLOAD, lane, [&] (cudaStream_t stream) {
    copy_volume (stage.samples, volume, job.shape, stage.samples.row, stream);
  });
  if (!reached) {
    const Event &there = close_span ();

    there.before (streams[pushing]);
    if (pushing != RESPONSES)
      there.before (streams[RESPONSES]);
  }
  staged[slot] = last_in = &stage;
  return stage.samples;
}

void
_NdRing::push (unsigned slot, const NdSamples &volume)
{
  const NdSamples &samples = bring_in (slot, volume);

  if (pushing == PUSHES) {
    /* What responses read until the push before this one. */
    responded.before (streams[PUSHES]);
    responded.record (streams[RESPONSES]);
    std::swap (places[slot], spare);
  }
  timed (COMPUTE, pushing, [&] (cudaStream_t) {
    method->push (places[slot], &samples);
  });
  if (pushing == PUSHES) {
    pushed.record (streams[PUSHES]);
    pushed.before (streams[RESPONSES]);
  }
}

/* The job's output, into memory of the device. */
void
_NdRing::respond_here (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  const NdScale unscaled = { 1, 0 };

  if (responses.count () == 0) {
    method->respond (slots, scale, out);
    return;
  }
  method->respond (slots, unscaled, nd_samples_dense (responses.get (),
          &job.shape, ND_FLOAT32));
  combine_responses (job, responses.get (), scale, out, streams[RESPONSES]);
}

void
_NdRing::respond (const int *slots, const NdScale &scale, const NdSamples &out)
{
  int device_slots[MAX_SLOTS];

  for (unsigned i = 0; i < n_slots; i++)
    device_slots[i] = places[slots[i] == ND_SLOT_BORDER ? n_slots : slots[i]];
  if (context->reaches (out.data)) {
    timed (COMPUTE, RESPONSES, [&] (cudaStream_t) {
      respond_here (device_slots, scale, out);
    });
    return;
  }
  Stage &stage = outs[n_out++ % outs.size ()];

  /* Waiting for an earlier response to be gone is not computing. */
  if (open_span)
    close_span ();
  stage.free.before (streams[RESPONSES]);
  timed (COMPUTE, RESPONSES, [&] (cudaStream_t) {
    respond_here (device_slots, scale, stage.samples);
  });
  close_span ().before (streams[DOWNLOADS]);
  timed (DOWNLOAD, DOWNLOADS, [&] (cudaStream_t stream) {
    for (size_t k = 0; k < n_outputs; k++) {
      NdSamples from = stage.samples, to = out;

      from.data += k * from.response;
      to.data += k * to.response;
      copy_volume (to, from, job.shape, from.row, stream);
    }
  });
  stage.free.record (streams[DOWNLOADS]);
  downloads = true;
}

NdMark *
_NdRing::mark ()
{
  auto mark = std::make_unique<NdMark> (context);

  if (open_span)
    close_span ();
  if (downloads) {
    /* Volumes may have been pushed since the response that is taken out. */
    mark->done.record (streams[RESPONSES]);
    mark->done.before (streams[DOWNLOADS]);
  }
  mark->done.record (streams[downloads ? DOWNLOADS : RESPONSES]);
  downloads = false;
  mark->spans.swap (spans);
  return mark.release ();
}

void
_NdRing::after (const NdMark &mark)
{
  if (open_span)
    close_span ();
  for (const Stream &stream : streams)
    mark.done.before (stream);
}

size_t
_NdRing::bytes () const
{
  size_t bytes = method->bytes () + responses.bytes ();

  for (const auto *stages : { &ins, &outs }) {
    for (const Stage &stage : *stages)
      bytes += stage.memory.bytes ();
  }
  return bytes;
}
