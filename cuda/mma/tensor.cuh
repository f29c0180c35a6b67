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
 *     octet, for each of the 4 rows of a quartet, and for each byte of the
 *     coefficients. It is banded (Toeplitz): from output to output, a row of
 *     the filter moves by one sample.
 * A row of samples is thus read once for all 4 rows of outputs that it belongs
 * to. The responses are sums of these products over the rows of samples, the
 * planes and the volumes that the filter reads.
 *
 * Samples are uint8. Coefficients are integers of up to 24 bits, which are cut
 * into signed bytes. Products are summed exactly in int32. (For uint16 and
 * float32 samples the same products took longer than method `fft`.)
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
  size_t volume; /* bytes from one volume to the next */
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
  float scale;         /* of the sums */
  bool paired;         /* outputs can be stored two at a time */
  Store store;
};

struct TensorKernel
{
  void (*function) (TensorArguments); /* nullptr: there is no such kernel */
  int ky;                             /* rows of coefficients of a plane */
  int window;     /* samples that a product sums over, at least 7 more than the
                   * columns of the filter */
  int columns;    /* bytes of a coefficient, which are side by side */
  int load_bytes; /* of the samples of a plane that a tile reads */
  void (*pairs) (TensorArguments); /* kernel for pairs of output planes, with
                                    * twice the threads; or nullptr */
};

/* The kernel for planes of @ky rows, odd, a @window of 16 or 32 samples, and 1
 * to 3 @columns. */
typedef TensorKernel FindTensorKernel (int window, int ky, int columns);
FindTensorKernel find_wgmma_kernel, find_mma_kernel;

/* The most rows of the kernels with wgmma. */
constexpr int WGMMA_ROWS = 9;

/* Bytes of the coefficients of one plane. Their order is [window / 16
 * matrices][row][column][8 outputs][16 bytes along the window], with
 * TENSOR_ROWS - 1 rows of zeros before and after the rows of the filter. */
int tensor_weight_bytes (const TensorKernel &kernel);

} // namespace nd
