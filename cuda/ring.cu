/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/ring.h"

#include "core/log.h"
#include "cuda/combine.cuh"

#include <algorithm>
#include <climits>

using namespace nd;

namespace
{

/* The number of buffers for downloads. Uploads have as many more than volumes
 * that stay in their buffers. One buffer is copied while kernels use
 * another. */
constexpr size_t AHEAD = 2;

/* Bytes from one row of a two-dimensional copy to the next. */
constexpr size_t MAX_PITCH = INT_MAX;

/* The stream on which the timing events of each kind are recorded. The time of
 * a push that runs while an earlier response is computed is not counted. */
constexpr StreamId timing_stream[KINDS] = { UPLOADS, RESPONSES, DOWNLOADS };

std::unique_ptr<Method>
make_method (const RingJob &job, NdMethod method, const ComputeStreams &streams,
    size_t available)
{
  switch (method) {
    case ND_METHOD_DIRECT:
      return make_direct (job, streams, available);
    case ND_METHOD_SEPARABLE:
      return make_separable (job, streams, available);
    case ND_METHOD_FFT:
      return make_fft (job, streams, available);
    case ND_METHOD_TENSOR:
      return make_tensor (job, streams, available);
    case ND_METHOD_REFERENCE:
    case ND_METHOD_AUTO:
      break;
  }
  throw no_method (method);
}

size_t
count_outputs (const RingJob &job)
{
  return nd_response_count (job.response, nd_bank_responses (job.bank));
}

size_t
stride (const NdSamples &samples, unsigned axis)
{
  return axis == ND_AXIS_Z ? samples.slice : samples.row;
}

/* @samples without the first @n along @axis. */
NdSamples
skip (NdSamples samples, unsigned axis, size_t n)
{
  samples.data += n * stride (samples, axis);
  return samples;
}

/* The shape of @n samples along @axis. */
NdShape
part (NdShape shape, unsigned axis, size_t n)
{
  shape.size[axis] = n;
  return shape;
}

} // namespace

void
nd::copy_volume (const NdSamples &to, const NdSamples &from,
    const NdShape &shape, size_t row_bytes, cudaStream_t stream)
{
  const size_t ny = shape.size[1], nz = shape.size[2];

  if (to.row == row_bytes && from.row == row_bytes && to.slice == from.slice
      && to.slice == row_bytes * ny) {
    ND_CUDA (cudaMemcpyAsync (to.data, from.data, to.slice * nz,
        cudaMemcpyDefault, stream));
    return;
  }
  if (to.row == row_bytes && from.row == row_bytes
      && std::max (to.slice, from.slice) <= MAX_PITCH) {
    ND_CUDA (cudaMemcpy2DAsync (to.data, to.slice, from.data, from.slice,
        row_bytes * ny, nz, cudaMemcpyDefault, stream));
    return;
  }
  if (to.slice == to.row * ny && from.slice == from.row * ny) {
    ND_CUDA (cudaMemcpy2DAsync (to.data, to.row, from.data, from.row, row_bytes,
        ny * nz, cudaMemcpyDefault, stream));
    return;
  }
  for (size_t z = 0; z < nz; z++)
    ND_CUDA (cudaMemcpy2DAsync (to.data + z * to.slice, to.row,
        from.data + z * from.slice, from.row, row_bytes, ny, cudaMemcpyDefault,
        stream));
}

_NdEvent::_NdEvent (ContextPointer context)
    : context (std::move (context)), done (*this->context)
{
}

Stream::Stream ()
{
  ND_CUDA (cudaStreamCreateWithFlags (&handle, cudaStreamNonBlocking));
}

/* Waits for enqueued work, which may use memory that the owner frees next. */
Stream::~Stream ()
{
  cudaStreamSynchronize (handle);
  cudaStreamDestroy (handle);
}

_NdRing::_NdRing (const RingJob &job, NdMethod wanted, ContextPointer context,
    size_t limit)
    : context (std::move (context)), job (job), limit (limit),
      n_slots (nd_job_reach (&job).slots), pushed (*this->context),
      n_outputs (count_outputs (job)), uploaded (n_slots),
      turned (*this->context)
{
  plan (wanted);
  check_limit ();
  expect_free (bytes ());
  allocate ();
  check_limit (); /* libraries may have needed more than planned */
  ND_DEBUG ("%zu bytes of device memory remain free", free_bytes ());
  for (unsigned i = 0; i < n_slots; i++)
    places.push_back (i);
  if (method->pushes_ahead ()) {
    pushing = PUSHES;
    while (spares.size () < spare_slots (job))
      spares.push_back ({ int (n_slots + spares.size ()),
          Event (*this->context) });
  }
  places.push_back (n_slots + spares.size ());
  if (job.border_volumes)
    method->push (places[n_slots], nullptr);
  warm_up ();
  ND_DEBUG ("kernels are loaded");
}

/* Kernels are loaded when they first run. Two volumes of zeros load them before
 * the first volume of the stream arrives. */
void
_NdRing::warm_up ()
{
  std::vector<int> slots (places.begin (), places.begin () + n_slots);
  const NdScale unscaled = { 1, 0 };
  const LaunchRecord record;

  for (unsigned i = 0; i < 2; i++) {
    std::rotate (slots.begin (), slots.begin () + 1, slots.end ());
    method->push (slots.back (), &uploads[0].samples);
    ND_CUDA (cudaStreamSynchronize (streams[pushing]));
    method->begin (slots.data ());
    respond_here (slots.data (), unscaled, downloads[0].samples);
    ND_CUDA (cudaStreamSynchronize (streams[RESPONSES]));
  }
  launched = record.text ();
}

/* The bytes of device memory that the ring may take. */
size_t
_NdRing::available () const
{
  return limit > 0 ? std::min (limit, free_bytes ()) : free_bytes ();
}

void
_NdRing::check_limit () const
{
  if (limit > 0 && bytes () > limit)
    throw Error (ND_ERROR_MEMORY,
        "Not enough memory on the GPU: " + std::to_string (bytes ())
            + " bytes are needed, memory-limit allows " + std::to_string (limit)
            + "; smaller volumes or a shorter filter in time need less, and "
              "backend=cpu needs none");
}

void
_NdRing::plan_responses ()
{
  size_t samples = 0;

  if (!nd_shape_samples (&job.shape, &samples))
    samples = SIZE_MAX;
  responses.plan (multiply (samples,
      job.bank->n_filters
          * nd_sample_size (nd_sample_computed (ND_FLOAT64, job.precision))));
}

/* Makes the method, and decides the size of all device memory of the ring. */
void
_NdRing::plan (NdMethod wanted)
{
  /* A volume that is kept stays in the buffer that it was uploaded to. */
  add_buffers (uploads, AHEAD + (job.keep ? n_slots : 1), job.shape, 1,
      job.in_type);
  RingJob filters = job;
  NdShape made = job.shape;

  if (nd_job_combines (&job)) {
    plan_responses ();
    filters.out_type = nd_sample_computed (ND_FLOAT64, job.precision);
    filters.response = ND_RESPONSE_ALL;
    filters.combined = &this->job;
    if (job.response == ND_RESPONSE_TENSOR
        && !nd_tensor_recipe (job.bank, &recipe, nullptr))
      throw Error (ND_ERROR_SETTINGS, "The bank makes no tensor");
    made.components = nd_output_components (job.response, job.bank->is_complex,
        recipe.axes, job.shape.components);
  }
  add_buffers (downloads, AHEAD, made, n_outputs, job.out_type);
  const size_t unused = available (), buffers = bytes ();

  method = make_method (filters, wanted,
      ComputeStreams{ streams[PUSHES], streams[RESPONSES] },
      unused > buffers ? unused - buffers : 0);
  if (method->combines ())
    responses = Memory<unsigned char> ();
}

void
_NdRing::allocate ()
{
  for (auto *buffers : { &uploads, &downloads }) {
    for (TransferBuffer &buffer : *buffers) {
      buffer.memory.allocate ();
      buffer.samples.data = buffer.memory.get ();
    }
  }
  method->allocate ();
  /* Another way may have been chosen that does not combine them. */
  if (nd_job_combines (&job) && !method->combines ()) {
    plan_responses ();
    responses.allocate ();
  }
}

_NdRing::~_NdRing ()
{
  for (const Stream &stream : streams)
    cudaStreamSynchronize (stream);
}

void
_NdRing::add_buffers (std::vector<TransferBuffer> &buffers, size_t n,
    const NdShape &shape, size_t responses, NdSampleType type)
{
  size_t samples;

  if (!nd_shape_samples (&shape, &samples))
    throw too_large_volume ();
  buffers.reserve (n);
  while (buffers.size () < n) {
    buffers.push_back (TransferBuffer{ {},
        nd_samples_dense (nullptr, &shape, type), Event (*context),
        Event (*context) });
    buffers.back ().memory.plan (multiply (samples * nd_sample_size (type),
        responses));
  }
}

/* Calls @work, which enqueues on stream @id, between two timing events.
 * Successive work of one kind shares a span, because an event between two
 * kernels takes as long as a small kernel. Copies between devices are not
 * timed: four small parts of a volume on four H200s took longer to enqueue than
 * to compute. */
template <typename F>
void
_NdRing::timed (Kind kind, StreamId id, F work)
{
  if (open_span && spans.back ().kind != kind)
    close_span ();
  if (!open_span) {
    spans.push_back (Span{
        kind, Event (*context, true), Event (*context, true) });
    spans.back ().begin.record (streams[timing_stream[kind]]);
    open_span = true;
  }
  work (streams[id]);
}

/* Ends the last span if it is open. Returns the event at its end. */
const Event &
_NdRing::close_span ()
{
  Span &span = spans.back ();

  if (open_span)
    span.end.record (streams[timing_stream[span.kind]]);
  open_span = false;
  return span.end;
}

/* Copies @volume. What it shares with the slab @before, which was uploaded on
 * the same stream, comes from there. */
void
_NdRing::upload (const TransferBuffer &to, const NdSamples &volume,
    const TransferBuffer *before, const NdSlab *slab, cudaStream_t stream)
{
  const size_t shared = slab && before ? slab->shared : 0;
  NdSamples target = to.samples, source = volume;
  NdShape shape = job.shape;

  if (shared > 0) {
    const size_t height = job.shape.size[slab->axis];

    copy_volume (target, skip (before->samples, slab->axis, height - shared),
        part (shape, slab->axis, shared), target.row, stream);
    target = skip (target, slab->axis, shared);
    source = skip (source, slab->axis, shared);
    shape = part (shape, slab->axis, height - shared);
  }
  if (shape.size[slab ? slab->axis : 0] > 0)
    copy_volume (target, source, shape, target.row, stream);
}

/* Returns @volume, or a copy in device memory if kernels cannot access @volume
 * or the job keeps volumes. */
const NdSamples &
_NdRing::to_device (unsigned slot, const NdSamples &volume, const NdSlab *slab)
{
  const TransferBuffer *const before = last_upload;
  const Context::Place place = context->place_of (volume.data);
  const bool accessible = place == Context::HERE;

  ND_LOG ("push into slot %u, %s", slot,
      !accessible            ? "uploaded"
          : job.keep || slab ? "copied on the device"
                             : "read in place");

  /* The method may have read the last upload in place until now. */
  if (last_upload)
    last_upload->free.record (streams[RESPONSES]);
  last_upload = nullptr;
  /* The output may be written over a volume before its next slab is read. */
  if (accessible && !job.keep && !slab)
    return volume;

  TransferBuffer &buffer = uploads[n_uploads++ % uploads.size ()];
  const StreamId id = accessible ? pushing : UPLOADS;

  /* An upload may overwrite a buffer that work on the other stream still
   * reads. */
  if (id != uploading) {
    turned.record (streams[uploading]);
    turned.make_wait (streams[id]);
    uploading = id;
  }
  buffer.free.make_wait (streams[id]);
  if (place == Context::ELSEWHERE) {
    upload (buffer, volume, before, slab, streams[id]);
    buffer.full.record (streams[id]);
    buffer.full.make_wait (streams[pushing]);
  } else {
    timed (accessible ? COMPUTE : UPLOAD, id, [&] (cudaStream_t stream) {
      upload (buffer, volume, before, slab, stream);
    });
    if (!accessible)
      close_span ().make_wait (streams[pushing]);
  }
  uploaded[slot] = last_upload = &buffer;
  return buffer.samples;
}

void
_NdRing::push (unsigned slot, const NdSamples &volume, const NdSlab *slab)
{
  const NdSamples &samples = to_device (slot, volume, slab);

  if (pushing == PUSHES) {
    SpareSlot &spare = spares[n_pushes++ % spares.size ()];

    spare.free.make_wait (streams[PUSHES]);
    std::swap (places[slot], spare.slot);
    spare.free.record (streams[RESPONSES]);
  }
  timed (COMPUTE, pushing,
      [&] (cudaStream_t) { method->push (places[slot], &samples); });
  if (pushing == PUSHES) {
    pushed.record (streams[PUSHES]);
    pushed.make_wait (streams[RESPONSES]);
  }
}

/* Whether a response writes the outputs of @slab and no others. */
bool
_NdRing::stores_only (const NdSlab &slab) const
{
  const NdRange &wanted = job.wanted[slab.axis];

  return wanted.n == slab.count && wanted.first == slab.first
      && method->stores_wanted_only ();
}

/* Writes the job's output to device memory. */
void
_NdRing::respond_here (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  const NdScale unscaled = { 1, 0 };

  if (responses.count () == 0) {
    method->respond (slots, scale, out);
    return;
  }
  method->respond (slots, unscaled,
      nd_samples_dense (responses.get (), &job.shape,
          nd_sample_computed (ND_FLOAT64, job.precision)));
  combine_responses (job, recipe, responses.get (), scale, out,
      streams[RESPONSES]);
}

void
_NdRing::respond (const int *slots, const NdScale &scale, const NdSamples &out,
    const NdSlab *slab)
{
  int device_slots[MAX_SLOTS];

  for (unsigned i = 0; i < n_slots; i++)
    device_slots[i] = places[slots[i] == ND_SLOT_BORDER ? n_slots : slots[i]];
  const Context::Place place = context->place_of (out.data);
  const bool in_place =
      place == Context::HERE && (!slab || stores_only (*slab));
  const NdShape shape =
      slab ? part (job.shape, slab->axis, slab->count) : job.shape;

  ND_LOG ("respond, %s", in_place ? "stored in place" : "downloaded");
  timed (COMPUTE, RESPONSES,
      [&] (cudaStream_t) { method->begin (device_slots); });
  if (in_place) {
    NdSamples whole = out;

    if (slab)
      whole.data -= slab->first * stride (out, slab->axis);
    timed (COMPUTE, RESPONSES,
        [&] (cudaStream_t) { respond_here (device_slots, scale, whole); });
    return;
  }
  TransferBuffer &buffer = downloads[n_downloads++ % downloads.size ()];
  const auto download = [&] (cudaStream_t stream) {
    for (size_t k = 0; k < n_outputs; k++) {
      NdSamples from = buffer.samples, to = out;

      from.data += k * from.response;
      to.data += k * to.response;
      if (slab)
        from = skip (from, slab->axis, slab->first);
      copy_volume (to, from, shape, from.row, stream);
    }
  };

  /* Time spent waiting for an earlier download to the host is not computing
   * time. */
  if (open_span && place == Context::HOST)
    close_span ();
  buffer.free.make_wait (streams[RESPONSES]);
  timed (COMPUTE, RESPONSES, [&] (cudaStream_t) {
    respond_here (device_slots, scale, buffer.samples);
  });
  if (place == Context::HOST) {
    close_span ().make_wait (streams[DOWNLOADS]);
    timed (DOWNLOAD, DOWNLOADS, download);
  } else {
    buffer.full.record (streams[RESPONSES]);
    buffer.full.make_wait (streams[DOWNLOADS]);
    download (streams[DOWNLOADS]);
  }
  buffer.free.record (streams[DOWNLOADS]);
  downloading = true;
}

NdEvent *
_NdRing::record ()
{
  auto event = std::make_unique<NdEvent> (context);

  if (open_span)
    close_span ();
  if (downloading) {
    /* Volumes may have been pushed since the response that is downloaded. */
    event->done.record (streams[RESPONSES]);
    event->done.make_wait (streams[DOWNLOADS]);
  }
  event->done.record (streams[downloading ? DOWNLOADS : RESPONSES]);
  downloading = false;
  event->spans.swap (spans);
  return event.release ();
}

void
_NdRing::wait (const NdEvent &event)
{
  if (open_span)
    close_span ();
  for (const Stream &stream : streams)
    event.done.make_wait (stream);
}

size_t
_NdRing::bytes () const
{
  size_t bytes = responses.bytes () + (method ? method->bytes_needed () : 0);

  for (const auto *buffers : { &uploads, &downloads }) {
    for (const TransferBuffer &buffer : *buffers)
      bytes += buffer.memory.bytes ();
  }
  return bytes;
}
