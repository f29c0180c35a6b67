/* A volume in the form that rays read: a word of 32 bits for each sample, which
 * also has as many of its neighbours along x as fit in it, so that a ray needs
 * few reads. Around the volume there are copies of its outer samples, so that
 * indices need no limits.
 *
 *   uint8          samples x - 1, x, x + 1 and x + 2, from the lowest byte on
 *   int16, uint16  samples x and x + 1
 *   float32        sample x
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/view/samples.cuh"

#include <cmath>
#include <cstring>

namespace nd
{

/* The value at a position depends on the samples 0 and 1 before and after it
 * along each axis, its gradient on samples -1 to 2. */
constexpr int WORDS_BEFORE = 1, WORDS_AFTER = 2;
constexpr int WORDS_AROUND = WORDS_BEFORE + WORDS_AFTER;

struct Words
{
  unsigned *first; /* sample (0, 0, 0) */
  int size[3];     /* samples of the volume */
  int row;         /* words */
  int slice;
};

__host__ __device__ inline int
clamped (int i, int size)
{
  return i < 0 ? 0 : i < size ? i : size - 1;
}

/* How samples of type T are kept in a word. */
template <typename T>
struct Packing;

__host__ __device__ inline float
float_of (unsigned bits)
{
#ifdef __CUDA_ARCH__
  return __uint_as_float (bits);
#else
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
#endif
}

__host__ __device__ inline unsigned
bits_of (float value)
{
#ifdef __CUDA_ARCH__
  return __float_as_uint (value);
#else
  unsigned bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
#endif
}

/* The integer in the bytes @selected of @word as a float. On a device this is
 * faster than a conversion: the bytes become the last ones of 2^23. */
template <unsigned selector>
__host__ __device__ inline float
unpacked (unsigned word, float shift)
{
#ifdef __CUDA_ARCH__
  return __uint_as_float (__byte_perm (word, 0x4b000000u, selector)) - shift;
#else
  unsigned bits = 0;

  for (int i = 0; i < 4; i++) {
    const unsigned from = selector >> 4 * i & 7;
    const unsigned byte =
        from < 4 ? word >> 8 * from & 255 : 0x4b000000u >> 8 * (from - 4) & 255;

    bits |= byte << 8 * i;
  }
  return float_of (bits) - shift;
#endif
}

constexpr float UNPACK = 8388608; /* 2^23 */

template <>
struct Packing<unsigned char>
{
  static constexpr bool is_float = false;

  __host__ __device__ static unsigned pack (const Direct &d, size_t row, int x)
  {
    unsigned word = 0;

    for (int i = 0; i < 4; i++)
      word |= (unsigned) ((const unsigned char *)
                              d.data)[(row + clamped (x - 1 + i, d.size[0]))
                      * d.components
                  + (d.channel > 0 ? d.channel : 0)]
          << 8 * i;
    return word;
  }
  __host__ __device__ static float sample (const unsigned *p)
  {
    return unpacked<0x7441> (*p, UNPACK);
  }
  /* Samples 0 and 1 of the row at @p. */
  __host__ __device__ static void pair (const unsigned *p, float s[2])
  {
    const unsigned word = *p;

    s[0] = unpacked<0x7441> (word, UNPACK);
    s[1] = unpacked<0x7442> (word, UNPACK);
  }
  /* Samples -1 to 2. */
  __host__ __device__ static void four (const unsigned *p, float s[4])
  {
    const unsigned word = *p;

    s[0] = unpacked<0x7440> (word, UNPACK);
    s[1] = unpacked<0x7441> (word, UNPACK);
    s[2] = unpacked<0x7442> (word, UNPACK);
    s[3] = unpacked<0x7443> (word, UNPACK);
  }
};

/* Signed numbers have their first bit inverted, so that they are 2^15 above
 * their value. */
template <typename T, unsigned inverted>
struct Packing16
{
  static constexpr bool is_float = false;
  static constexpr float shift = UNPACK + inverted;

  __host__ __device__ static unsigned number (const Direct &d, size_t row,
      int x)
  {
    const int v = number_at (d,
        (row + clamped (x, d.size[0])) * d.components
            + (d.channel > 0 ? d.channel : 0));

    return ((unsigned) v & 0xffffu) ^ inverted;
  }
  __host__ __device__ static unsigned pack (const Direct &d, size_t row, int x)
  {
    return number (d, row, x) | number (d, row, x + 1) << 16;
  }
  __host__ __device__ static float sample (const unsigned *p)
  {
    return unpacked<0x7410> (*p, shift);
  }
  __host__ __device__ static void pair (const unsigned *p, float s[2])
  {
    const unsigned word = *p;

    s[0] = unpacked<0x7410> (word, shift);
    s[1] = unpacked<0x7432> (word, shift);
  }
  __host__ __device__ static void four (const unsigned *p, float s[4])
  {
    pair (p - 1, s);
    pair (p + 1, s + 2);
  }
};

template <>
struct Packing<short> : Packing16<short, 0x8000>
{
};

template <>
struct Packing<unsigned short> : Packing16<unsigned short, 0>
{
};

template <>
struct Packing<float>
{
  static constexpr bool is_float = true;

  __host__ __device__ static unsigned pack (const Direct &d, size_t row, int x)
  {
    return bits_of (value_at (d, row + clamped (x, d.size[0])));
  }
  __host__ __device__ static float sample (const unsigned *p)
  {
    return float_of (*p);
  }
  __host__ __device__ static void pair (const unsigned *p, float s[2])
  {
    s[0] = float_of (p[0]);
    s[1] = float_of (p[1]);
  }
  __host__ __device__ static void four (const unsigned *p, float s[4])
  {
    for (int i = 0; i < 4; i++)
      s[i] = float_of (p[i - 1]);
  }
};

/* The word of sample (@x, @y, @z), which may be in the border. */
__host__ __device__ inline unsigned *
word_at (const Words &w, int x, int y, int z)
{
  return w.first + (ptrdiff_t) z * w.slice + y * w.row + x;
}

template <typename T>
__host__ __device__ inline void
pack_word (const Direct &d, const Words &w, int x, int y, int z)
{
  const size_t row =
      ((size_t) clamped (z, d.size[2]) * d.size[1] + clamped (y, d.size[1]))
      * d.size[0];

  *word_at (w, x, y, z) = Packing<T>::pack (d, row, x);
}

/* Between @a and @b; a @b of weight 0 may be NaN. */
template <typename T>
__host__ __device__ inline float
between (float a, float b, float part)
{
  if (Packing<T>::is_float && !(part > 0))
    b = a;
  return a + part * (b - a);
}

/* The samples around a position. */
template <typename T>
struct Near
{
  const unsigned *p; /* sample 0 */
  int row, slice;
  float part[3]; /* of the way from sample 0 to sample 1 */

  /* @at is between the first and the last sample. */
  __host__ __device__ Near (const Words &w, const float at[3])
      : row (w.row), slice (w.slice)
  {
    int i[3];

    for (int a = 0; a < 3; a++) {
#ifdef __CUDA_ARCH__
      /* Rounded down to an integer in the last bits of 2^23. */
      const float whole = __fadd_rd (at[a], UNPACK);

      i[a] = __float_as_int (whole) & 0x7fffff;
      part[a] = at[a] - (whole - UNPACK);
#else
      i[a] = at[a];
      part[a] = at[a] - i[a];
#endif
    }
    p = word_at (w, i[0], i[1], i[2]);
  }

  __host__ __device__ float row_value (int y, int z) const
  {
    float s[2];

    Packing<T>::pair (p + (ptrdiff_t) z * slice + y * row, s);
    return between<T> (s[0], s[1], part[0]);
  }

  __host__ __device__ float value () const
  {
    return between<T> (between<T> (row_value (0, 0), row_value (1, 0), part[1]),
        between<T> (row_value (0, 1), row_value (1, 1), part[1]), part[2]);
  }

  /* Differences of the values one sample after and one before. */
  __host__ __device__ void gradient (float g[3]) const
  {
    float values[2][2], slopes[2][2], y[2], z[2];

    for (int k = 0; k < 2; k++) {
      for (int j = 0; j < 2; j++) {
        float s[4];

        Packing<T>::four (p + (ptrdiff_t) k * slice + j * row, s);
        values[k][j] = between<T> (s[1], s[2], part[0]);
        slopes[k][j] =
            between<T> (s[2], s[3], part[0]) - between<T> (s[0], s[1], part[0]);
      }
    }
    for (int k = 0; k < 2; k++) {
      y[k] = between<T> (values[k][1], row_value (2, k), part[1])
          - between<T> (row_value (-1, k), values[k][0], part[1]);
      z[k] = between<T> (values[1][k], row_value (k, 2), part[2])
          - between<T> (row_value (k, -1), values[0][k], part[2]);
    }
    g[0] = between<T> (between<T> (slopes[0][0], slopes[0][1], part[1]),
        between<T> (slopes[1][0], slopes[1][1], part[1]), part[2]);
    g[1] = between<T> (y[0], y[1], part[2]);
    g[2] = between<T> (z[0], z[1], part[1]);
  }
};

} // namespace nd
