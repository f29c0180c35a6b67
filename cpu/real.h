/* The type that the methods compute with: float32 or, if ND_DOUBLE is defined,
 * float64. The sources of the methods and their kernels are compiled for both.
 * The names of one must not be those of the other, so that this file renames
 * all that a source gives to others. "Floats" in comments of these sources are
 * numbers of type NdReal.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

#ifdef ND_DOUBLE

typedef gdouble NdReal;
typedef guint64 NdRealBits;
#define ND_REAL_BYTES 8
#define ND_REAL_EXPONENT G_GUINT64_CONSTANT (0x7ff0000000000000)
#define ND_REAL_TYPE ND_FLOAT64
#define ND_REAL_PRECISION ND_PRECISION_DOUBLE

/* The sums of the reference have more digits than its samples. */
typedef long double NdReferenceSum;

#define nd_cost_direct nd_double_cost_direct
#define nd_cost_fft_blocks nd_double_cost_fft_blocks
#define nd_cost_fft_lines nd_double_cost_fft_lines
#define nd_cost_fft_whole nd_double_cost_fft_whole
#define nd_cost_separable nd_double_cost_separable
#define nd_cost_transform nd_double_cost_transform
#define nd_cpu_direct nd_double_cpu_direct
#define nd_cpu_fft nd_double_cpu_fft
#define nd_cpu_fft_blocks nd_double_cpu_fft_blocks
#define nd_cpu_fft_lines nd_double_cpu_fft_lines
#define nd_cpu_fft_whole nd_double_cpu_fft_whole
#define nd_cpu_reference nd_double_cpu_reference
#define nd_cpu_separable nd_double_cpu_separable
#define nd_fft_add_non_finite nd_double_fft_add_non_finite
#define nd_fft_count_spectra nd_double_fft_count_spectra
#define nd_fft_filter_row nd_double_fft_filter_row
#define nd_fft_grid_choose nd_double_fft_grid_choose
#define nd_fft_grid_origin nd_double_fft_grid_origin
#define nd_fft_kernels nd_double_fft_kernels
#define nd_fft_level nd_double_fft_level
#define nd_fft_samples_begin nd_double_fft_samples_begin
#define nd_fft_samples_bytes nd_double_fft_samples_bytes
#define nd_fft_samples_clear nd_double_fft_samples_clear
#define nd_fft_samples_end nd_double_fft_samples_end
#define nd_fft_samples_init nd_double_fft_samples_init
#define nd_fft_samples_row nd_double_fft_samples_row
#define nd_fft_slot nd_double_fft_slot
#define nd_floats_new nd_double_floats_new
#define nd_kernels nd_double_kernels
#define nd_kernels_all nd_double_kernels_all
#define nd_line_fft_free nd_double_line_fft_free
#define nd_line_fft_new nd_double_line_fft_new
#define nd_line_fft_new_real nd_double_line_fft_new_real
#define nd_line_kernels nd_double_line_kernels
#define nd_output_bytes nd_double_output_bytes
#define nd_output_clear nd_double_output_clear
#define nd_output_combine nd_double_output_combine
#define nd_output_init nd_double_output_init
#define nd_output_layer nd_double_output_layer
#define nd_output_layers nd_double_output_layers
#define nd_pad_clear nd_double_pad_clear
#define nd_pad_fold nd_double_pad_fold
#define nd_pad_init nd_double_pad_init
#define nd_pad_part nd_double_pad_part
#define nd_pad_row nd_double_pad_row
#define nd_padded_bytes nd_double_padded_bytes
#define nd_padded_clear nd_double_padded_clear
#define nd_padded_init nd_double_padded_init
#define nd_padded_push nd_double_padded_push
#define nd_padded_volume nd_double_padded_volume
#define nd_pass_clear nd_double_pass_clear
#define nd_pass_init nd_double_pass_init
#define nd_separable_first nd_double_separable_first
#define nd_separable_last nd_double_separable_last
#define nd_separable_respond nd_double_separable_respond
#define nd_separable_weigh nd_double_separable_weigh
#define nd_stencil_begin nd_double_stencil_begin
#define nd_stencil_begun_floats nd_double_stencil_begun_floats
#define nd_stencil_clear nd_double_stencil_clear
#define nd_stencil_init nd_double_stencil_init
#define nd_stencil_layer_floats nd_double_stencil_layer_floats
#define nd_stencil_line nd_double_stencil_line
#define nd_stencil_rows nd_double_stencil_rows
#define nd_stencil_run nd_double_stencil_run
#define nd_stencil_slack nd_double_stencil_slack
#define nd_stencil_split nd_double_stencil_split
#define nd_tiles_bytes nd_double_tiles_bytes
#define nd_tiles_clear nd_double_tiles_clear
#define nd_tiles_fit nd_double_tiles_fit
#define nd_tiles_init nd_double_tiles_init
#define nd_tiles_push nd_double_tiles_push
#define nd_tiles_run nd_double_tiles_run
#define nd_transform_bytes nd_double_transform_bytes
#define nd_transform_convolve nd_double_transform_convolve
#define nd_transform_forward nd_double_transform_forward
#define nd_transform_free nd_double_transform_free
#define nd_transform_inverse nd_double_transform_inverse
#define nd_transform_new nd_double_transform_new
#define nd_transform_floats nd_double_transform_floats
#define nd_transform_multiply_add nd_double_transform_multiply_add
#define nd_transform_size nd_double_transform_size

#else

typedef gfloat NdReal;
typedef guint32 NdRealBits;
#define ND_REAL_BYTES 4
#define ND_REAL_EXPONENT 0x7f800000
#define ND_REAL_TYPE ND_FLOAT32
#define ND_REAL_PRECISION ND_PRECISION_SINGLE

typedef gdouble NdReferenceSum;

#endif
