/* Filtering by matrix products: the interface between the method, its kernels
 * and the conversion of samples.
 *
 * A product has 64 rows: 8 blocks of 8 outputs side by side, in 8 groups of 4
 * rows of the volume. It sums over the samples that a block needs: 7 plus the
 * width of the filter. Its columns are the 8 outputs of a block, for each piece
 * of the coefficients and each row of a group. The filter along x becomes
 * banded (Toeplitz) matrices, and one row of input samples is read once for all
 * rows of output that need it. The other axes of the filter are sums over
 * products.
 *
 * Samples are converted to `pieces` volumes, one after the other:
 *   8 bit integers: u8, one piece. Coefficients are integers of up to 24 bits
 *     in signed bytes. Products are summed exactly in int32.
 *   16 bit integers, minus the smallest: high and low u8.
 *   float32, times a power of two for each volume: high and low fp16.
 *     Coefficients likewise.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

constexpr int TENSOR_WIDTH = 64; /* outputs of a tile */
constexpr int TENSOR_ROWS = 4;   /* of outputs in a group */
constexpr int TENSOR_HEIGHT = 64;
constexpr int TENSOR_THREADS = 256; /* for each output plane that a thread
                                     * block computes: two products at once */

/* A plane of the filter's box: a volume of the window and an offset in z. */
struct TensorPlane
{
  int slot;
  int z;
};

/* Samples of the border to the left and to the right of each row of an unpadded
 * volume. They are in separate memory. */
constexpr int TENSOR_EDGE = 16;

/* A volume of bytes that is read without a padded copy. It is the only volume
 * of the window. */
struct TensorUnpadded
{
  const unsigned char *edges;   /* [z][y][left, right]; nullptr: volumes are
                                 * padded */
  const unsigned char *outside; /* eight border values */
  int border;                   /* NdBorder */
  int end;                      /* of the samples of a row that are read */
  bool eight;                   /* eight samples are side by side, at multiples
                                 * of eight bytes; otherwise four */
};

struct TensorArguments
{
  TensorUnpadded unpadded;
  const unsigned char *volumes;
  size_t volume, piece; /* bytes from one to the next */
  size_t row, slice;
  int slots[MAX_SLOTS];
  const TensorPlane *planes;
  int n_planes;    /* for pairs: those that at least one output reads */
  bool z_sliding;  /* planes are neighbours in z, and stay in shared memory for
                    * the next output plane */
  int copied;      /* planes at a time; 1 if z_sliding */
  int ring_planes; /* in shared memory: if z_sliding those that an output reads
                    * and 2, otherwise twice as many as are copied at a time */
  const unsigned char *weights; /* coefficients of the planes, as products read
                                 * them */
  int weight_bytes;             /* of a plane */
  int kept_bytes;      /* of all planes, if they stay in shared memory, or 0 */
  TensorPlane first;   /* for pairs: the filter has all planes of a box, from
                        * this one on */
  int depth, duration; /* of that box: planes in z, and volumes */
  int ky;              /* rows of a plane, odd */
  int x, y;            /* padded samples before the box; if the volume is not
                        * padded, the offset of the box */
  int size[3];
  int length;               /* output planes in z of an item */
  int start[4];             /* initial values of integer sums */
  float scale;              /* of the sums */
  const float *slot_scales; /* of halves, @scale_step from slot to slot */
  int scale_step;
  const float *coefficients; /* of halves: [plane][ky][coefficient_row] from x
                              * on, in the order of samples */
  int coefficient_row;
  bool paired; /* outputs can be stored two at a time */
  Store store;
};

struct TensorKernel
{
  void (*function) (TensorArguments); /* nullptr: there is no such kernel */
  int ky;                             /* rows of a plane */
  int window;     /* samples that a product sums over, at least 7 + columns of a
                   * plane */
  int unit;       /* bytes of a sample */
  int columns;    /* pieces of coefficients side by side */
  int pieces;     /* of samples */
  int load_bytes; /* of a tile, all pieces */
  void (*pairs) (TensorArguments); /* kernel for pairs of output planes, with
                                    * twice the threads; or nullptr */
};

/* The kernel for planes of @ky rows, odd, and a @window of 16 or 32 samples.
 * For bytes (@unit 1) kernels have 1 to 3 columns and 1 piece, or 2 to 4
 * columns and 2 pieces. For halves (@unit 2) they have 1 column and 1 piece, or
 * 2 columns and 2 pieces. */
typedef TensorKernel FindTensorKernel (int unit, int window, int ky,
    int columns, int pieces);
FindTensorKernel find_wgmma_kernel, find_mma_kernel;

/* Sets of coefficients that a kernel multiplies. */
inline int
tensor_sets (const TensorKernel &kernel)
{
  return kernel.unit == 1 ? kernel.pieces : 1;
}

/* Bytes of the coefficients of one plane. Their order is [set][window * unit /
 * 16 matrices][row][column][8 outputs][16 bytes along the window], with
 * TENSOR_ROWS - 1 rows of zeros before and after the rows of the filter. */
int tensor_weight_bytes (const TensorKernel &kernel);

} // namespace nd
