/* Filtering by matrix products: what the method, the kernels and the
 * conversion into their form share.
 *
 * A product has 64 rows: 8 blocks of 8 outputs side by side, in 8 groups of 4
 * rows of the volume. Along its sum lie the samples that a block needs (8 plus
 * the filter's width), along its columns the 8 outputs of a block, for each
 * piece of the coefficients and each row of a group: the filter's x axis as
 * banded (Toeplitz) matrices. One row of input samples is thus read once for
 * all rows of output that need it; the other axes are sums over products.
 *
 * Forms of samples (`pieces` volumes, one behind the other):
 *   8 bit integers: u8, one piece. Coefficients are integers of up to 24 bits
 *     in signed bytes, products are summed exactly in int32.
 *   16 bit integers, above an offset: high and low u8.
 *   float32: times a power of two of each volume, high and low fp16;
 *     coefficients likewise.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndsamples.cuh"

namespace nd
{

constexpr int TENSOR_WIDTH = 64;        /* outputs of a tile */
constexpr int TENSOR_ROWS = 4;          /* of outputs in a group */
constexpr int TENSOR_HEIGHT = 64;
constexpr int TENSOR_THREADS = 256;     /* for two products at once, of each
                                         * output plane */

/* One plane of the filter's box: volume of the window and offset in z. */
struct TensorPlane
{
  int slot;
  int z;
};

/* A volume of bytes that is read as it is, where it is the only one of the
 * window: what lies beside its rows comes from elsewhere. */
constexpr int TENSOR_EDGE = 16; /* samples to the left of a row, and right */

struct TensorBare
{
  const unsigned char *edges;   /* [z][y][left, right]; nullptr: volumes are
                                 * padded */
  const unsigned char *outside; /* eight border values */
  int border;                   /* NdBorder */
  int end;                      /* of a row's samples that count */
  bool eight;                   /* eight samples lie side by side, at multiples
                                 * of eight bytes; otherwise four */
};

struct TensorArguments
{
  TensorBare bare;
  const unsigned char *volumes;
  size_t volume, piece;         /* bytes from one to the next */
  size_t row, slice;
  int slots[MAX_SLOTS];
  const TensorPlane *planes;
  int n_planes;                 /* of pairs: all that either output reads */
  bool march;                   /* planes are neighbours in z, kept for the
                                 * next output plane */
  int copied;                   /* planes at once: while a block marches 1 */
  int ring_planes;              /* in shared memory: those that an output reads
                                 * and 2, or twice what is copied at once */
  const unsigned char *weights; /* for each plane of the filter, as the kernel
                                 * reads them */
  int weight_bytes;             /* of a plane */
  int kept_bytes;               /* of all, where they stay in shared memory */
  TensorPlane first;            /* of pairs, whose filters have all planes of */
  int depth, duration;          /* a box: of it, planes in z, and volumes */
  int ky;                       /* rows of a plane, odd */
  int x, y;                     /* padded samples before the box; the box's
                                 * own offset where volumes are not padded */
  int size[3];
  int length;                   /* output planes in z of one item of work */
  int start[4];                 /* of the sums, integers */
  float scale;                  /* of the sums */
  const float *slot_scales;     /* of halves, one each scale_step */
  int scale_step;
  const float *coefficients;    /* of halves: [plane][ky][coefficient_row] from
                                 * x on, in the order of samples */
  int coefficient_row;
  bool paired;                  /* outputs are stored two at a time, as they
                                 * are */
  Store store;
};

struct TensorKernel
{
  void (*function) (TensorArguments);   /* nullptr: there is none */
  int ky;                       /* rows of a plane that it takes */
  int window;                   /* samples along a product's sum: 8 + columns of
                                 * a plane - 1 at most */
  int unit;                     /* bytes of a sample */
  int columns;                  /* pieces of coefficients side by side */
  int pieces;                   /* of samples */
  int load_bytes;               /* of a tile, all pieces */
  void (*pairs) (TensorArguments);      /* for pairs of output planes, with
                                         * twice the threads; or nullptr */
};

/* Kernels for planes of @ky rows, odd, and a @window of 16 or 32 samples. Bytes
 * (@unit 1): 1 to 3 columns of 1 piece, 2 to 4 of 2. Halves (2): 1 column of 1
 * piece, 2 of 2. */
typedef TensorKernel FindTensorKernel (int unit, int window, int ky,
    int columns, int pieces);
FindTensorKernel find_wgmma_kernel, find_mma_kernel;

/* Sets of coefficients that a kernel multiplies. */
inline int
tensor_sets (const TensorKernel &kernel)
{
  return kernel.unit == 1 ? kernel.pieces : 1;
}

/* Bytes of the coefficients of one plane: sets, each of window * unit / 16
 * matrices, of rows (and TENSOR_ROWS - 1 of zeros before and behind), of
 * columns, of 8 outputs, of 16 bytes along the window. */
int tensor_weight_bytes (const TensorKernel &kernel);

} // namespace nd
