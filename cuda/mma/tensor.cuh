/* Filtering by matrix products: the interface between the method, its kernels
 * and the conversion of samples.
 *
 * A tile is 64 x 64 outputs of one plane. In x it has 8 octets: 8 outputs side
 * by side. In y it has 16 quartets: 4 neighbouring rows (TENSOR_ROWS). A
 * product of matrices is computed for half of a tile, 8 octets in 8 quartets,
 * and for one of the rows of samples that a quartet reads:
 *   The matrix of samples has 64 rows, one for each octet of each quartet. A
 *     row is a window: the samples in x that the octet reads, which are 7 more
 *     than the columns of the filter.
 *   The matrix of coefficients has a column for each of the 8 outputs of an
 *     octet, for each of the 4 rows of a quartet, and for each piece of the
 *     coefficients. It is banded (Toeplitz): from output to output, a row of
 *     the filter moves by one sample.
 * A row of samples is thus read once for all 4 rows of outputs that it belongs
 * to. The responses are sums of these products over the rows of samples, the
 * planes and the volumes that the filter reads.
 *
 * Samples are converted to one or two pieces. Each piece is a volume:
 *   8 bit integers: one piece of u8. Coefficients are integers of up to 24 bits
 *     in signed bytes. Products are summed exactly in int32.
 *   16 bit integers, minus the least value of their type: a high and a low u8.
 *     Coefficients as above.
 *   float32, times a power of two for each volume: a high and a low fp16, for
 *     samples and for coefficients.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

constexpr int TENSOR_WIDTH = 64;  /* outputs of a tile in x */
constexpr int TENSOR_HEIGHT = 64; /* outputs of a tile in y */
constexpr int TENSOR_ROWS = 4;    /* rows of outputs of a quartet */

/* Threads for each output plane that a thread block computes. They compute the
 * products of both halves of a tile at the same time. */
constexpr int TENSOR_THREADS = 256;

/* A plane of the filter's box: a volume of the window and an offset in z. */
struct TensorPlane
{
  int slot;
  int z;
};

/* The samples of the border that are stored to the left and to the right of
 * each row of an unpadded volume, in separate memory. */
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
  bool eight;                   /* eight samples can be copied at once, because
                                 * they are at multiples of eight bytes;
                                 * otherwise four */
};

struct TensorArguments
{
  TensorUnpadded unpadded;
  const unsigned char *volumes;
  size_t volume, piece; /* bytes from one volume or piece to the next */
  size_t row, slice;
  int slots[MAX_SLOTS];
  const TensorPlane *planes;
  int n_planes;    /* for pairs: those that one of the two outputs reads */
  bool z_sliding;  /* planes are neighbours in z, and stay in shared memory for
                    * the next output plane */
  int copied;      /* planes that are copied at a time; 1 if z_sliding */
  int ring_planes; /* in shared memory: if z_sliding those that an output reads
                    * and 2 more, otherwise twice as many as are copied at a
                    * time */
  const unsigned char *weights; /* coefficients of the planes, as products read
                                 * them */
  int weight_bytes;             /* of a plane */
  int kept_bytes;      /* of the coefficients of all planes, if they stay in
                        * shared memory, or 0 */
  TensorPlane first;   /* for pairs: the first plane of the filter's box */
  int depth, duration; /* of that box: planes in z, and volumes */
  int ky;              /* rows of coefficients of a plane, odd */
  int x, y;            /* padded samples before the box; if the volume is not
                        * padded, the offset of the box */
  int size[3];         /* of the volume */
  int length;          /* output planes in z of an item */
  int start[4];        /* initial values of integer sums */
  float scale;         /* of the sums */
  const float *slot_scales; /* of halves: the scale of the volume in slot 0;
                             * @scale_step from slot to slot */
  int scale_step;
  const float *coefficients; /* of halves: [plane][ky][coefficient_row], in the
                              * order of the samples from @x on */
  int coefficient_row;
  bool paired; /* outputs can be stored two at a time */
  Store store;
};

struct TensorKernel
{
  void (*function) (TensorArguments); /* nullptr: there is no such kernel */
  int ky;                             /* rows of coefficients of a plane */
  int window;     /* samples that a product sums over, at least 7 more than the
                   * columns of the filter */
  int unit;       /* bytes of a piece of a sample */
  int columns;    /* pieces of a coefficient, which are side by side */
  int pieces;     /* of samples */
  int load_bytes; /* of the samples of a plane that a tile reads, all pieces */
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

/* The sets of coefficients of a kernel. Each byte of a sample has its own set;
 * both halves of a sample share one. */
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
