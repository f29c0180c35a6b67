/* Makes HDF5 as Imaris, BigDataViewer and USTB do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <hdf5.h>
#include <string.h>

#define MADE_X 5
#define MADE_Y 4
#define MADE_Z 3

/* Arrays of Imaris have whole chunks. */
#define MADE_WIDE 8

typedef enum
{
  MADE_PLAIN,  /* not in chunks */
  MADE_CHUNKS, /* 2 x 3 x 4, as they are */
  MADE_PACKED, /* shuffled, deflated, with sums */
  MADE_LARGE,  /* one chunk */
  MADE_TINY,   /* chunks of a sample */
  MADE_OTHER   /* by a method that is not read */
} MadeLayout;

static inline guint16
made_value (guint t, guint c, guint z, guint y, guint x)
{
  return 10000 * t + 30000 * c + 1000 * z + 100 * y + x;
}

static inline hid_t
made_file (const gchar *path)
{
  return H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

/* Text as Imaris has it, a letter for each element. */
static inline void
made_letters (hid_t object, const gchar *name, const gchar *text)
{
  const hsize_t n = strlen (text);
  const hid_t space = H5Screate_simple (1, &n, NULL);
  const hid_t attribute =
      H5Acreate2 (object, name, H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT);

  H5Awrite (attribute, H5T_C_S1, text);
  H5Aclose (attribute);
  H5Sclose (space);
}

static inline hid_t
made_group (hid_t file, const gchar *path)
{
  const hid_t links = H5Pcreate (H5P_LINK_CREATE);
  hid_t group;

  H5Pset_create_intermediate_group (links, 1);
  group = H5Gcreate2 (file, path, links, H5P_DEFAULT, H5P_DEFAULT);
  H5Pclose (links);
  return group;
}

static inline void
made_array (hid_t file, const gchar *path, MadeLayout layout, guint axes,
    const hsize_t *sizes, hid_t type, hid_t of_memory, gconstpointer samples)
{
  static const hsize_t chunk[] = { 2, 3, 4 }, tiny[] = { 1, 1, 1 };
  const hid_t links = H5Pcreate (H5P_LINK_CREATE);
  const hid_t how = H5Pcreate (H5P_DATASET_CREATE);
  const hid_t space = H5Screate_simple (axes, sizes, NULL);
  hid_t set;

  H5Pset_create_intermediate_group (links, 1);
  if (layout != MADE_PLAIN)
    H5Pset_chunk (how, axes,
        layout == MADE_LARGE      ? sizes
            : layout == MADE_TINY ? tiny
                                  : chunk);
  if (layout == MADE_PACKED) {
    H5Pset_shuffle (how);
    H5Pset_deflate (how, 5);
    H5Pset_fletcher32 (how);
  } else if (layout == MADE_OTHER) {
    H5Pset_scaleoffset (how, H5Z_SO_INT, 0);
  }
  set = H5Dcreate2 (file, path, type, space, links, how, H5P_DEFAULT);
  g_assert_cmpint (set, >=, 0);
  if (samples)
    H5Dwrite (set, of_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, samples);
  H5Dclose (set);
  H5Sclose (space);
  H5Pclose (how);
  H5Pclose (links);
}

/* Three time points, of which the second is a quarter of a second after the
 * first, and two channels. */
static inline void
made_imaris (const gchar *path, MadeLayout layout)
{
  static const hsize_t sizes[] = { MADE_Z, MADE_Y, MADE_WIDE };
  static const gchar *const times[] = { "2009-05-12 23:59:59.900",
    "2009-05-13 00:00:00.150", "2009-05-13 00:00:00.400" };
  const hid_t file = made_file (path);
  gchar name[100];
  hid_t group;

  for (guint t = 0; t < 3; t++) {
    for (guint c = 0; c < 2; c++) {
      guint16 samples[MADE_Z * MADE_Y * MADE_WIDE] = { 0 };

      for (guint i = 0; i < G_N_ELEMENTS (samples); i++) {
        const guint x = i % MADE_WIDE, y = i / MADE_WIDE % MADE_Y;

        if (x < MADE_X)
          samples[i] = made_value (t, c, i / MADE_WIDE / MADE_Y, y, x);
      }
      g_snprintf (name, sizeof (name),
          "DataSet/ResolutionLevel 0/TimePoint %u/Channel %u", t, c);
      group = made_group (file, name);
      made_letters (group, "ImageSizeX", "5");
      made_letters (group, "ImageSizeY", "4");
      made_letters (group, "ImageSizeZ", "3");
      made_array (group, "Data", layout, 3, sizes, H5T_STD_U16LE,
          H5T_NATIVE_UINT16, samples);
      H5Gclose (group);
    }
  }
  group = made_group (file, "DataSetInfo/Image");
  made_letters (group, "Unit", "um");
  made_letters (group, "ExtMin0", "10");
  made_letters (group, "ExtMax0", "12.5");
  made_letters (group, "ExtMin1", "-2");
  made_letters (group, "ExtMax1", "0");
  made_letters (group, "ExtMin2", "0.0");
  made_letters (group, "ExtMax2", "6.0");
  H5Gclose (group);
  group = made_group (file, "DataSetInfo/TimeInfo");
  for (guint t = 0; t < 3; t++) {
    g_snprintf (name, sizeof (name), "TimePoint%u", t + 1);
    made_letters (group, name, times[t]);
  }
  H5Gclose (group);
  H5Fclose (file);
}

/* Time points 1, 2 and 4; set-up 2 has another size than 0 and 1. */
static inline void
made_bigdataviewer (const gchar *path, MadeLayout layout)
{
  static const hsize_t sizes[] = { MADE_Z, MADE_Y, MADE_X };
  static const hsize_t other[] = { MADE_Z, MADE_Y, MADE_X + 1 };
  static const guint times[] = { 1, 2, 4 };
  const hid_t file = made_file (path);
  gchar name[100];

  for (guint t = 0; t < 3; t++) {
    for (guint s = 0; s < 3; s++) {
      guint16 samples[MADE_Z * MADE_Y * (MADE_X + 1)] = { 0 };

      for (guint i = 0; i < MADE_Z * MADE_Y * MADE_X; i++)
        samples[i] = made_value (times[t], s, i / MADE_X / MADE_Y,
            i / MADE_X % MADE_Y, i % MADE_X);
      g_snprintf (name, sizeof (name), "t%05u/s%02u/0/cells", times[t], s);
      made_array (file, name, layout, 3, s == 2 ? other : sizes, H5T_STD_I16BE,
          H5T_NATIVE_INT16, samples);
    }
  }
  for (guint s = 0; s < 3; s++) {
    g_snprintf (name, sizeof (name), "s%02u", s);
    H5Gclose (made_group (file, name));
  }
  H5Fclose (file);
}

/* Two frames of a scan of MADE_Y lines of MADE_X samples, real and imaginary
 * parts apart; the value of the imaginary one is that of the real one + 0.5. */
static inline void
made_uff (const gchar *path, MadeLayout layout)
{
  static const hsize_t sizes[] = { 2, 1, 1, MADE_X * MADE_Y };
  static const hsize_t depths[] = { 1, MADE_X }, lines[] = { MADE_Y, 1 };
  static const gfloat z[MADE_X] = { 0.01, 0.0101, 0.0102, 0.0103, 0.0104 };
  static const gfloat x[MADE_Y] = { -0.001, -0.0005, 0, 0.0005 };
  const hid_t file = made_file (path);
  gfloat samples[2 * MADE_X * MADE_Y];

  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    samples[i] = i;
  made_array (file, "beam/data/real", layout, 4, sizes, H5T_IEEE_F32LE,
      H5T_NATIVE_FLOAT, samples);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    samples[i] += 0.5;
  made_array (file, "beam/data/imag", layout, 4, sizes, H5T_IEEE_F32LE,
      H5T_NATIVE_FLOAT, samples);
  made_array (file, "beam/scan/z_axis", MADE_PLAIN, 2, depths, H5T_IEEE_F32LE,
      H5T_NATIVE_FLOAT, z);
  made_array (file, "beam/scan/x_axis", MADE_PLAIN, 2, lines, H5T_IEEE_F32LE,
      H5T_NATIVE_FLOAT, x);
  H5Fclose (file);
}
