/* Samples of IMAGE messages in the byte order and the types of volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "live/image.h"

G_BEGIN_DECLS

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

G_END_DECLS
