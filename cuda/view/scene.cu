/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/view/scene.h"

#include "cuda/guarded.h"
#include "cuda/rounding.h"
#include "cuda/view/scenekernels.cuh"

#include <algorithm>

using namespace nd;

namespace
{

/* Sizes up to this one are exact in Near. */
constexpr size_t MOST_SAMPLES = 1 << 22;

/* Thread blocks of a grid-stride loop. */
unsigned
blocks (size_t n, size_t per_block)
{
  return std::min<size_t> (divide_up (n, per_block), 1 << 16);
}

/* The largest panel of each kind decides the size of its grid. */
dim3
tiles (const NdPanel *panels, unsigned n)
{
  int width = 1, height = 1;

  for (unsigned i = 0; i < n; i++) {
    width = std::max (width, panels[i].width);
    height = std::max (height, panels[i].height);
  }
  return dim3 (divide_up (width, TILE_X), divide_up (height, TILE_Y), n);
}

/* Calls @function with a number of the type of the words. */
template <typename F>
void
with_type (NdSampleType type, F function)
{
  switch (type) {
    case ND_UINT8:
      function ((unsigned char) 0);
      break;
    case ND_INT16:
      function ((short) 0);
      break;
    case ND_UINT16:
      function ((unsigned short) 0);
      break;
    default:
      function (0.0f);
      break;
  }
}

} // namespace

/* The rectangle around all panels, and the grid that draws them. */
struct _NdScene::Box
{
  int left, top, right, bottom;
  dim3 grid;

  int row () const { return 3 * (right - left); }
  size_t bytes () const { return multiply (row (), bottom - top); }
};

_NdScene::_NdScene (const NdSceneJob &job, ContextPointer context)
    : context (std::move (context)), job (job)
{
  size_t samples, slice = 1, n_cells = 1;

  for (int a = 0; a < 3; a++) {
    const size_t size = job.shape.size[a];

    if (size > MOST_SAMPLES)
      throw Error (ND_ERROR_SETTINGS,
          "Volumes on the GPU are drawn if they have up to "
              + std::to_string (MOST_SAMPLES) + " samples along an axis, not "
              + std::to_string (size) + ": use backend=cpu");
    words.size[a] = size;
    cells.count[a] = (size - 1) / ND_SCENE_CELL + 1;
    n_cells = multiply (n_cells, cells.count[a]);
    if (a < 2)
      slice = multiply (slice, size + WORDS_AROUND);
  }
  if (!nd_shape_samples (&job.shape, &samples) || slice > INT_MAX
      || n_cells > INT_MAX || job.shape.components > INT_MAX)
    throw Error (ND_ERROR_SETTINGS,
        "Volumes with so many samples are not drawn on the GPU: use "
        "backend=cpu");
  words.row = words.size[0] + WORDS_AROUND;
  words.slice = slice;
}

Direct
_NdScene::direct (int channel) const
{
  return Direct{ volume, job.type, (int) job.shape.components, channel,
    { words.size[0], words.size[1], words.size[2] } };
}

void
_NdScene::take (const void *given)
{
  size_t n;

  packed_channel = NOTHING;
  ranged = false;
  if (context->can_access (given)) {
    volume = given;
    return;
  }
  nd_shape_samples (&job.shape, &n);
  if (!copy.count ())
    copy = Memory<unsigned char> (multiply (n, nd_sample_size (job.type)));
  volume = copy.get ();
  ND_CUDA (cudaMemcpyAsync (copy.get (), given, copy.count (),
      cudaMemcpyDefault, stream));
}

void
_NdScene::allocate_words ()
{
  const size_t n_cells =
      (size_t) cells.count[0] * cells.count[1] * cells.count[2];

  if (cells.low)
    return;
  word_memory = Memory<unsigned> (multiply (words.slice,
      (size_t) words.size[2] + WORDS_AROUND));
  low = Memory<float> (n_cells);
  high = Memory<float> (n_cells);
  for (auto &memory : empty)
    memory = Memory<unsigned char> (n_cells);
  words.first = word_memory.get ()
      + WORDS_BEFORE * ((size_t) words.slice + words.row + 1);
  cells.high = high.get ();
  cells.low = low.get ();
}

template <typename T>
void
_NdScene::pack_as (const Direct &from)
{
  const dim3 grid (divide_up (words.row, LINE_X),
      divide_up (words.size[1] + WORDS_AROUND, LINE_Y),
      std::min (words.size[2] + WORDS_AROUND, 65535));

  scene_pack_kernel<T>
      <<<grid, dim3 (LINE_X, LINE_Y), 0, stream>>> (Pack{ from, words });
  ND_CUDA_LAUNCHED (scene_pack_kernel);
}

void
_NdScene::pack (int channel)
{
  const Direct from = direct (channel);

  if (packed_channel == channel)
    return;
  allocate_words ();
  packed_channel = NOTHING;
  ranged = false;
  packed_type = is_one_number (from)
      ? nd_sample_computed (job.type, ND_PRECISION_SINGLE)
      : ND_FLOAT32;
  with_type (packed_type,
      [&] (auto sample) { pack_as<decltype (sample)> (from); });
  packed_channel = channel;
}

void
_NdScene::find_ranges ()
{
  constexpr unsigned threads = 128;

  if (ranged)
    return;
  with_type (packed_type, [&] (auto sample) {
    scene_range_kernel<decltype (sample)>
        <<<blocks (low.count (), threads / 32), threads, 0, stream>>> (Ranges{
            words, cells, low.count () });
    ND_CUDA_LAUNCHED (scene_range_kernel);
  });
  ranged = true;
}

/* Three passes, so that the result is in empty[1]. */
void
_NdScene::find_empty (bool surface)
{
  const size_t n = low.count ();
  constexpr unsigned threads = 128;
  Cells from = cells;

  from.empty = empty[0].get ();
  scene_empty_kernel<<<blocks (n, threads), threads, 0, stream>>> (Empty{
      from, n, (const Look *) inputs_there.get (), surface });
  ND_CUDA_LAUNCHED (scene_empty_kernel);
  for (int axis = 0; axis < 3; axis++) {
    cells.empty = empty[(axis + 1) % 2].get ();
    scene_distance_kernel<<<blocks (n, threads), threads, 0,
        stream>>> (Distances{ cells, n, empty[axis % 2].get (), axis });
    ND_CUDA_LAUNCHED (scene_distance_kernel);
  }
}

template <typename T>
void
_NdScene::draw_rays_as (RayKind kind, unsigned n, int channel, const Box &box)
{
  const Look *look = (const Look *) inputs_there.get ();
  const Rays rays = { { words, cells,
                          { job.spacing[0], job.spacing[1], job.spacing[2] } },
    { look, (const NdPanel *) (look + 1), channel,
        { picture_there.get (), (size_t) box.row (), box.left, box.top } } };

  switch (kind) {
    case RAYS_PROJECT:
      scene_ray_kernel<T, RAYS_PROJECT>
          <<<box.grid, THREADS, 0, stream>>> (rays);
      break;
    case RAYS_VOLUME:
      scene_ray_kernel<T, RAYS_VOLUME><<<box.grid, THREADS, 0, stream>>> (rays);
      break;
    case RAYS_SURFACE:
      scene_ray_kernel<T, RAYS_SURFACE>
          <<<box.grid, THREADS, 0, stream>>> (rays);
      break;
  }
  ND_CUDA_LAUNCHED (scene_ray_kernel);
}

void
_NdScene::draw_rays (RayKind kind, unsigned n, int channel, const Box &box)
{
  pack (channel);
  find_ranges ();
  if (kind != RAYS_PROJECT)
    find_empty (kind == RAYS_SURFACE);
  with_type (packed_type, [&] (auto sample) {
    draw_rays_as<decltype (sample)> (kind, n, channel, box);
  });
}

/* @channel is that of coloured planes and projections; -1: all other panels. */
void
_NdScene::draw_channel (const NdPanel *panels, unsigned n, int channel,
    const Box &box)
{
  const bool is_colored = job.shape.components == 3;
  const auto has = [&] (auto is_drawn) {
    return std::any_of (panels, panels + n, is_drawn);
  };

  if (is_colored == (channel >= 0)) {
    if (has ([] (const NdPanel &p) { return p.kind == ND_PANEL_PLANE; })) {
      const Look *look = (const Look *) inputs_there.get ();

      scene_plane_kernel<<<box.grid, THREADS, 0, stream>>> (Planes{
          direct (channel),
          { look, (const NdPanel *) (look + 1), channel,
              { picture_there.get (), (size_t) box.row (), box.left,
                  box.top } } });
      ND_CUDA_LAUNCHED (scene_plane_kernel);
    }
    if (has ([] (const NdPanel &p) { return is_of_kind (p, RAYS_PROJECT); }))
      draw_rays (RAYS_PROJECT, n, channel, box);
  }
  for (const RayKind kind : { RAYS_VOLUME, RAYS_SURFACE }) {
    if (channel < 0
        && has ([kind] (const NdPanel &p) { return is_of_kind (p, kind); }))
      draw_rays (kind, n, channel, box);
  }
}

void
_NdScene::draw (const NdPanel *panels, unsigned n, const NdLook &look,
    unsigned char *pixels, ptrdiff_t stride)
{
  const Look there = make_look (look);
  const size_t bytes = sizeof (Look) + n * sizeof (NdPanel);
  Box box = { INT_MAX, INT_MAX, 0, 0, tiles (panels, n) };

  if (n == 0)
    return;
  for (unsigned i = 0; i < n; i++) {
    box.left = std::min (box.left, panels[i].left);
    box.top = std::min (box.top, panels[i].top);
    box.right = std::max (box.right, panels[i].left + panels[i].width);
    box.bottom = std::max (box.bottom, panels[i].top + panels[i].height);
  }
  inputs.grow (bytes);
  if (inputs_there.count () < bytes)
    inputs_there = Memory<unsigned char> (bytes);
  picture.grow (box.bytes ());
  if (picture_there.count () < box.bytes ())
    picture_there = Memory<unsigned char> (box.bytes ());
  memcpy (inputs.get (), &there, sizeof there);
  memcpy (inputs.get () + sizeof there, panels, n * sizeof *panels);
  ND_CUDA (cudaMemcpyAsync (inputs_there.get (), inputs.get (), bytes,
      cudaMemcpyHostToDevice, stream));

  for (int channel = -1; channel < (job.shape.components == 3 ? 3 : 0);
       channel++)
    draw_channel (panels, n, channel, box);

  ND_CUDA (cudaMemcpyAsync (picture.get (), picture_there.get (), box.bytes (),
      cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
  for (unsigned i = 0; i < n; i++) {
    const NdPanel &p = panels[i];

    for (int y = p.top; y < p.top + p.height; y++)
      memcpy (pixels + y * stride + 3 * p.left,
          picture.get () + (size_t) (y - box.top) * box.row ()
              + 3 * (p.left - box.left),
          3 * (size_t) p.width);
  }
}

void
_NdScene::line (size_t first, size_t step, float *to, size_t n)
{
  if (line_there.count () < n)
    line_there = Memory<float> (n);
  scene_line_kernel<<<blocks (n, 128), 128, 0, stream>>> (Line{
      direct (-1), first, step, n, line_there.get () });
  ND_CUDA_LAUNCHED (scene_line_kernel);
  ND_CUDA (cudaMemcpyAsync (to, line_there.get (), n * sizeof (float),
      cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
}

static NdScene *
scene_create (const NdSceneJob *job, gint device_id, GError **error)
{
  NdScene *scene = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    scene = new NdScene (*job, context);
  });
  return scene;
}

static void
scene_destroy (NdScene *scene)
{
  const ContextPointer context = scene->context;
  const ScopedContext scope (*context);

  delete scene;
  cudaGetLastError ();
}

static gboolean
scene_take (NdScene *scene, gconstpointer volume, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*scene->context);

    scene->take (volume);
  });
}

static gboolean
scene_draw (NdScene *scene, const NdPanel *panels, guint n, const NdLook *look,
    guint8 *pixels, gssize stride, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*scene->context);

    scene->draw (panels, n, *look, pixels, stride);
  });
}

static gboolean
scene_line (NdScene *scene, gsize first, gsize step, gfloat *values, gsize n,
    GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*scene->context);

    scene->line (first, step, values, n);
  });
}

static NdSceneFuncs
make_funcs ()
{
  NdSceneFuncs f = {};

  f.create = scene_create;
  f.destroy = scene_destroy;
  f.take = scene_take;
  f.draw = scene_draw;
  f.line = scene_line;
  return f;
}

const NdSceneFuncs nd::scene_funcs = make_funcs ();
