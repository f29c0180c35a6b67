/* The functions of cuda/view/ on the host: the same random scenes as those of
 * the CPU, pixel by pixel against the reference; words and cells.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/view/rays.cuh"
#include "tests/engine/randomscene.h"
#include "tests/engine/scenereference.h"

#include <algorithm>
#include <vector>

using namespace nd;

namespace
{

/* The steps of _NdScene::draw(), thread after thread. */
class HostScene
{
public:
  HostScene (const NdRandomScene &scene, int channel)
      : volume{ scene.volume, scene.job.type, (int) scene.job.shape.components,
          channel, {} }
  {
    size_t n_cells = 1;

    for (int a = 0; a < 3; a++) {
      volume.size[a] = words.size[a] = scene.job.shape.size[a];
      cells.count[a] = (words.size[a] - 1) / ND_SCENE_CELL + 1;
      n_cells *= cells.count[a];
      spacing[a] = scene.job.spacing[a];
    }
    words.row = words.size[0] + WORDS_AROUND;
    words.slice = words.row * (words.size[1] + WORDS_AROUND);
    memory.resize ((size_t) words.slice * (words.size[2] + WORDS_AROUND));
    words.first = memory.data () + WORDS_BEFORE * (words.slice + words.row + 1);
    low.resize (n_cells);
    high.resize (n_cells);
    empty[0].resize (n_cells);
    empty[1].resize (n_cells);
    cells.low = low.data ();
    cells.high = high.data ();
  }

  template <typename T>
  void prepare (const Look &look, bool surface)
  {
    for (int z = -1; z < words.size[2] + WORDS_AFTER; z++)
      for (int y = -1; y < words.size[1] + WORDS_AFTER; y++)
        for (int x = -1; x < words.size[0] + WORDS_AFTER; x++)
          pack_word<T> (volume, words, x, y, z);
    for (size_t i = 0; i < low.size (); i++) {
      low[i] = INFINITY;
      high[i] = -INFINITY;
      for (int part = 0; part < 32; part++) {
        float part_low, part_high;

        range_of_part<T> (words, cells, i, part, part_low, part_high);
        low[i] = std::min (low[i], part_low);
        high[i] = std::max (high[i], part_high);
      }
      empty[0][i] = is_empty (cells, look, surface, i) ? ND_SCENE_FAR : 0;
    }
    for (int axis = 0; axis < 3; axis++)
      for (size_t i = 0; i < low.size (); i++)
        empty[(axis + 1) % 2][i] =
            distance_along (cells, empty[axis % 2].data (), axis, i);
    cells.empty = empty[1].data ();
  }

  Shot shot () const
  {
    return { words, cells, { spacing[0], spacing[1], spacing[2] } };
  }

  template <typename T>
  void draw (const NdPanel &panel, const Look &look, guint8 *pixels,
      size_t stride) const
  {
    for (int y = 0; y < panel.height; y++) {
      for (int x = 0; x < panel.width; x++) {
        guint8 *pixel =
            pixels + (panel.top + y) * stride + 3 * (panel.left + x);

        if (panel.kind == ND_PANEL_PLANE)
          draw_plane (volume, panel, look, look.entries, x, y, pixel);
        else if (panel.kind == ND_PANEL_VOLUME)
          draw_ray<T, RAYS_VOLUME> (shot (), panel, look, look.entries,
              volume.channel, x, y, pixel);
        else if (panel.kind == ND_PANEL_SURFACE)
          draw_ray<T, RAYS_SURFACE> (shot (), panel, look, look.entries,
              volume.channel, x, y, pixel);
        else
          draw_ray<T, RAYS_PROJECT> (shot (), panel, look, look.entries,
              volume.channel, x, y, pixel);
      }
    }
  }

  NdSampleType type () const
  {
    return is_one_number (volume)
        ? nd_sample_computed ((NdSampleType) volume.type, ND_PRECISION_SINGLE)
        : ND_FLOAT32;
  }

  Words words = {};
  Cells cells = {};

private:
  Direct volume;
  double spacing[3];
  std::vector<unsigned> memory;
  std::vector<float> low, high;
  std::vector<unsigned char> empty[2];
};

template <typename T>
void
draw_panel (HostScene &host, const NdPanel &panel, const Look &look,
    guint8 *pixels, size_t stride)
{
  host.prepare<T> (look, panel.kind == ND_PANEL_SURFACE);
  host.draw<T> (panel, look, pixels, stride);
}

void
draw (const NdRandomScene &scene, const NdLayout &layout, guint8 *pixels,
    size_t stride)
{
  const Look look = make_look (scene.look);

  for (guint i = 0; i < layout.n; i++) {
    const NdPanel &panel = layout.panels[i];
    const bool is_colored =
        scene.job.shape.components == 3 && panel.kind < ND_PANEL_VOLUME;

    for (int channel = is_colored ? 0 : -1; channel < (is_colored ? 3 : 0);
         channel++) {
      HostScene host (scene, channel);

      switch (host.type ()) {
        case ND_UINT8:
          draw_panel<unsigned char> (host, panel, look, pixels, stride);
          break;
        case ND_INT16:
          draw_panel<short> (host, panel, look, pixels, stride);
          break;
        case ND_UINT16:
          draw_panel<unsigned short> (host, panel, look, pixels, stride);
          break;
        default:
          draw_panel<float> (host, panel, look, pixels, stride);
          break;
      }
    }
  }
}

void
test_reference ()
{
  GRand *rand = g_rand_new_with_seed (g_test_rand_int ());
  NdLayout *layout = g_new (NdLayout, 1);

  for (guint i = 0; i < 54 * (ND_VIEW_SURFACE + 1); i++) {
    NdRandomScene scene;

    nd_random_scene_init (&scene, rand, i);
    nd_random_scene_layout (&scene, layout);
    const size_t stride = 3 * scene.width + 1;
    std::vector<guint8> have (stride * scene.height);
    std::vector<guint8> want (stride * scene.height);
    draw (scene, *layout, have.data (), stride);
    nd_reference_draw (&scene.job, scene.volume, layout->panels, layout->n,
        &scene.look, want.data (), stride);
    const gsize bad = nd_random_scene_differences (&scene, have.data (),
        want.data (), stride);

    if (bad > nd_random_scene_allowed (&scene)) {
      gchar *text = nd_random_scene_text (&scene);

      g_error ("%s: %" G_GSIZE_FORMAT " numbers differ", text, bad);
    }
    nd_random_scene_clear (&scene);
  }
  g_free (layout);
  g_rand_free (rand);
}

/* Distances are those to the nearest cell that may show, diagonals included,
 * and the ranges those of the samples of a cell and the next ones. */
void
test_cells ()
{
  GRand *rand = g_rand_new_with_seed (g_test_rand_int ());

  for (guint round = 0; round < 20; round++) {
    NdRandomScene scene = {};
    const NdSceneJob &job = scene.job;

    scene.job = { ND_FLOAT32, { 1, {} }, { 1, 1, 1 } };
    for (int a = 0; a < 3; a++)
      scene.job.shape.size[a] = g_rand_int_range (rand, 1, 90);
    const gsize *size = job.shape.size, n = size[0] * size[1] * size[2];
    std::vector<float> samples (n);

    for (float &sample : samples)
      sample = g_rand_int_range (rand, 0, (gint) n) < 3
          ? 20
          : g_rand_double_range (rand, 0, 10);
    scene.volume = samples.data ();
    nd_random_look (rand, &scene.look, ND_COLORMAP_GRAY);
    scene.look.level = 15;
    HostScene host (scene, -1);

    host.prepare<float> (make_look (scene.look), true);
    const int *count = host.cells.count;
    std::vector<int> shows (count[0] * count[1] * count[2]);

    for (size_t i = 0; i < shows.size (); i++) {
      int cell[3];
      float low = INFINITY, high = -INFINITY;

      cell_index (host.cells, i, cell);
      for (gsize z = 8 * cell[2]; z < MIN (8u * cell[2] + 9, size[2]); z++) {
        for (gsize y = 8 * cell[1]; y < MIN (8u * cell[1] + 9, size[1]); y++) {
          for (gsize x = 8 * cell[0]; x < MIN (8u * cell[0] + 9, size[0]);
               x++) {
            low = MIN (low, samples[(z * size[1] + y) * size[0] + x]);
            high = MAX (high, samples[(z * size[1] + y) * size[0] + x]);
          }
        }
      }
      g_assert_cmpfloat (host.cells.low[i], ==, low);
      g_assert_cmpfloat (host.cells.high[i], ==, high);
      shows[i] = high >= 15;
    }
    for (size_t i = 0; i < shows.size (); i++) {
      int here[3], there[3], least = ND_SCENE_FAR;

      cell_index (host.cells, i, here);
      for (size_t j = 0; j < shows.size (); j++) {
        cell_index (host.cells, j, there);
        if (shows[j])
          least = MIN (least,
              MAX (MAX (ABS (here[0] - there[0]), ABS (here[1] - there[1])),
                  ABS (here[2] - there[2])));
      }
      g_assert_cmpint (host.cells.empty[i], ==, least);
    }
  }
  g_rand_free (rand);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scenes/reference", test_reference);
  g_test_add_func ("/scenes/cells", test_cells);
  return g_test_run ();
}
