/* The content of IMAGE messages: a header of 72 bytes, then samples of a volume
 * or of a subvolume, from which volumes are assembled.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

G_BEGIN_DECLS

#define ND_IGTL_IMAGE_SIZE 72

/* The numbers are those of the protocol. */
typedef enum
{
  ND_IGTL_INT8 = 2,
  ND_IGTL_UINT8 = 3,
  ND_IGTL_INT16 = 4,
  ND_IGTL_UINT16 = 5,
  ND_IGTL_INT32 = 6,
  ND_IGTL_UINT32 = 7,
  ND_IGTL_FLOAT32 = 10,
  ND_IGTL_FLOAT64 = 11
} NdIgtlScalar;

typedef enum
{
  ND_IGTL_RAS = 1, /* axes to the Right, Anterior, Superior */
  ND_IGTL_LPS = 2
} NdIgtlCoordinates;

typedef struct
{
  guint components; /* 1 to 255, interleaved */
  NdIgtlScalar scalar;
  gboolean big_endian; /* the samples; numbers of the header always are */
  NdIgtlCoordinates coordinates;
  gsize size[3]; /* x, y, z of the volume, 1 or more */
  /* Columns: direction times spacing in mm of x, y and z, then the position of
   * the centre of the volume, index (size - 1) / 2. Numbers may be NaN. */
  gfloat matrix[12];
  gsize offset[3], subvolume[3]; /* place and size of the message's samples */
} NdIgtlImage;

/* Reads ND_IGTL_IMAGE_SIZE bytes; @samples_size bytes follow them.
 * ND_ERROR_FORMAT if version, type or sizes are not possible, or do not match
 * @samples_size. */
gboolean nd_igtl_image_parse (NdIgtlImage *image, const guint8 *bytes,
    guint64 samples_size, GError **error);

/* Appends ND_IGTL_IMAGE_SIZE bytes; sizes must be 1 to 65535. */
void nd_igtl_image_build (const NdIgtlImage *image, GByteArray *out);

/* The bytes of one component: 1, 2, 4 or 8; 0 if @scalar is not a type of
 * IMAGE. */
gsize nd_igtl_scalar_size (NdIgtlScalar scalar);

/* The name of the type as in caps, for example "uint8". */
const gchar *nd_igtl_scalar_name (NdIgtlScalar scalar);
gboolean nd_igtl_scalar_from_name (const gchar *name, NdIgtlScalar *scalar);

/* The bytes of the whole volume, and of the subvolume; 0 on overflow. */
gsize nd_igtl_image_volume_size (const NdIgtlImage *image);
gsize nd_igtl_image_subvolume_size (const NdIgtlImage *image);

/* TRUE if the samples are the whole volume. */
gboolean nd_igtl_image_is_whole (const NdIgtlImage *image);

/* Splits the matrix into spacing in mm, origin (position of the first sample in
 * mm, axes to the Right, Anterior, Superior) and directions (row by row, column
 * a is the unit vector of axis a). FALSE, and nothing is written, if a number
 * is not finite or a column is 0. */
gboolean nd_igtl_image_get_geometry (const NdIgtlImage *image,
    gdouble spacing[3], gdouble origin[3], gdouble directions[9]);

/* The inverse, for the sizes in @image. Coordinates become RAS. */
void nd_igtl_image_set_geometry (NdIgtlImage *image, const gdouble spacing[3],
    const gdouble origin[3], const gdouble directions[9]);

/* The sample type of a volume for samples of @scalar, which is the same. */
NdSampleType nd_igtl_sample_type (NdIgtlScalar scalar);

/* The type in an IMAGE for samples of a volume, which is the same. FALSE if
 * IMAGE does not have it. */
gboolean nd_igtl_scalar_type (NdSampleType type, NdIgtlScalar *scalar);

/* Reverses the bytes of @n samples of @size bytes, in place. */
void nd_igtl_samples_swap (gpointer samples, gsize size, gsize n);

/* Gives @n samples of @scalar the byte order of this computer, in place. They
 * need not be aligned. */
void nd_igtl_samples_to_native (gpointer samples, NdIgtlScalar scalar,
    gboolean big_endian, gsize n);

typedef struct _NdIgtlSubvolumes NdIgtlSubvolumes;

typedef enum
{
  ND_IGTL_SUBVOLUME_ADDED,    /* other subvolumes of the volume are missing */
  ND_IGTL_SUBVOLUME_COMPLETE, /* every sample has arrived */
  ND_IGTL_SUBVOLUME_ANEW      /* it overlaps another subvolume, or is of another
                                 volume: see below */
} NdIgtlSubvolume;

/* Used by one thread at a time. No samples are kept, only the places of
 * subvolumes. */
NdIgtlSubvolumes *nd_igtl_subvolumes_new (void);
void nd_igtl_subvolumes_free (NdIgtlSubvolumes *subvolumes);

/* Adds the subvolume in @image. After ND_IGTL_SUBVOLUME_COMPLETE the next
 * subvolume begins another volume. ND_IGTL_SUBVOLUME_ANEW: the subvolume begins
 * another volume, although subvolumes of this one are missing and will not
 * come. The subvolume is not added; call nd_igtl_subvolumes_reset() and add it
 * again. */
NdIgtlSubvolume nd_igtl_subvolumes_add (NdIgtlSubvolumes *subvolumes,
    const NdIgtlImage *image, guint64 timestamp);
void nd_igtl_subvolumes_reset (NdIgtlSubvolumes *subvolumes);

/* TRUE if a volume has begun and is not complete. */
gboolean nd_igtl_subvolumes_pending (const NdIgtlSubvolumes *subvolumes);

/* Copies the samples of a subvolume, @sample_size bytes each with all
 * components, to their places in the volume. */
void nd_igtl_subvolumes_copy (const NdIgtlImage *image, gsize sample_size,
    guint8 *volume, const guint8 *subvolume);

G_END_DECLS
