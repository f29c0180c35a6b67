/* libndconv: filters images and volumes, and streams of them, with
 * non-separable filters in up to four dimensions, on the CPU or a GPU. It is
 * the engine of the GStreamer elements of the same name and does not use
 * GStreamer.
 *
 *   g_autoptr (NdSettings) settings = nd_settings_new ();
 *   g_autoptr (NdFilters) filters = NULL;
 *   g_autoptr (GError) error = NULL;
 *   const gsize size[4] = { 128, 128, 64, 20 };
 *   NdArray in, out;
 *
 *   nd_array_init (&in, volumes, "float32", 1, size);
 *   nd_array_init (&out, filtered, "float32", 1, size);
 *   if (!nd_settings_set (settings, "axes", "xyzt", &error)
 *       || !(filters = nd_filters_new ("gaussian,sigma=1.5", settings, NULL,
 *                &error))
 *       || !nd_convolve (filters, settings, &in, &out, NULL, &error))
 *     g_printerr ("%s\n", error->message);
 *
 * Axes are x, y, z, t in this order, x runs fastest in memory. Sizes are in
 * samples, strides in bytes. A frame has size 1 along z; t counts volumes.
 *
 *   out[i] = sum over m of w[m] in[i + k/2 + origin - m],   0 <= m < k
 *
 * along each axis, with integer division: a true convolution, like
 * scipy.ndimage.convolve and MATLAB's convn(in, w, 'same').
 *
 * Several threads may use an object one after the other. They may use filters
 * and settings at the same time if none of them changes the object. Functions
 * with a GError return FALSE or NULL if they set it; its message is a sentence
 * for the user.
 *
 * A child of fork() may use the library, with threads of its own. Streams and
 * recordings that the parent has open are refused there with ND_ERROR_FAILED,
 * and to free them does nothing. A GPU that the parent used is refused with
 * ND_ERROR_INIT, because its driver does not work there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_API extern __attribute__ ((visibility ("default")))

/* The version of the library, for example "0.9.0". */
ND_API const gchar *nd_version (void);

/* The cores that this process may use, 1 and more: those of its affinity, but
 * no more than the CPU time of its control groups allows. */
ND_API guint nd_count_cores (void);

/* The domain and the codes of errors. */
#ifndef ND_ERROR
typedef enum
{
  ND_ERROR_SETTINGS,   /* a setting, a parameter or an array is wrong */
  ND_ERROR_NOT_FOUND,  /* a file or a device does not exist */
  ND_ERROR_OPEN_READ,  /* a file cannot be opened for reading */
  ND_ERROR_READ,       /* reading failed, or data are truncated or damaged */
  ND_ERROR_OPEN_WRITE, /* a file cannot be opened for writing */
  ND_ERROR_WRITE,      /* writing failed */
  ND_ERROR_MEMORY,     /* not enough memory of the machine or of a device */
  ND_ERROR_FORMAT,     /* samples or files of an unsupported kind */
  ND_ERROR_INIT,       /* a back end is not available on this machine */
  ND_ERROR_CANCELLED,  /* the caller cancelled the call */
  ND_ERROR_FAILED,     /* anything else that failed while running */
  ND_ERROR_DISK_FULL   /* no space left for a file */
} NdError;
#define ND_ERROR (nd_library_error_quark ())
#endif

/* The domain of all errors of the library: ND_ERROR. */
ND_API GQuark nd_library_error_quark (void);

/* --- Settings ------------------------------------------------------------- */

/* Names and values as those of the elements' properties. */
typedef struct _NdSettings NdSettings;

/* Settings with their defaults, and a copy. Free them with nd_settings_free().
 * Used by one thread at a time. */
ND_API NdSettings *nd_settings_new (void);
ND_API NdSettings *nd_settings_copy (const NdSettings *settings);
ND_API void nd_settings_free (NdSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdSettings, nd_settings_free)

/* Sets one setting; @value NULL restores its default. nd_list_settings() tells
 * what each means and may be.
 *
 * Of filters: axes, origin, causal, normalize, spacing and rate. Of streams,
 * nd_convolve() and nd_plan_blocks(): border, time-border (streams refuse
 * wrap), border-value, gain, offset, output-type, response, threshold, backend,
 * device-id, devices, method, accuracy, precision, n-threads and memory-limit.
 * Of nd_rank(): operation, footprint, percentile, with origin, causal, border,
 * time-border, border-value and n-threads.
 * Of nd_register() and nd_warp(): model, register-method, reference, channel,
 * mask, levels, iterations and interpolation, with spacing, border,
 * border-value and n-threads.
 * Of nd_deconvolve(): tv, tolerance, border, border-value and n-threads.
 *
 * ND_ERROR_SETTINGS if there is no such setting or it cannot have the value. */
ND_API gboolean nd_settings_set (NdSettings *settings, const gchar *name,
    const gchar *value, GError **error);

/* All settings as JSON: an object with the arrays "convolve" (of filters and
 * streams), "register", "rank" and "deconvolve". Each of their objects has
 * name, title, sentence, kind (boolean, enum, integer, number, text), default,
 * unit, and playing (whether a property of this name changes while playing);
 * low and high if it is a number, and values, with name and sentence, if it is
 * an enum. A new version may add members. Free it with g_free(). */
ND_API gchar *nd_list_settings (void);

/* --- Filters -------------------------------------------------------------- */

/* One filter or a bank of filters over one input. */
typedef struct _NdFilters NdFilters;

/* Filters from a text, as in the property filter of the elements:
 * "gaussian,sigma=1.5", or several that are separated by ';'. @settings may be
 * NULL. Another thread may set @cancelled (or NULL) to another value than 0, by
 * g_atomic_int_set().
 *
 * ND_ERROR_SETTINGS if the text or a parameter is wrong, ND_ERROR_NOT_FOUND,
 * _OPEN_READ, _READ, _FORMAT for files of coefficients, ND_ERROR_CANCELLED. */
ND_API NdFilters *nd_filters_new (const gchar *text, const NdSettings *settings,
    const gint *cancelled, GError **error);

/* @n filters (1 and more) of @size coefficients along x, y, z, t (1 and more).
 * @real has n * size[3] * size[2] * size[1] * size[0] finite numbers, x
 * fastest, filters slowest; so has @imaginary, which is NULL for real filters.
 * Both are copied. @settings may be NULL; its axes say which axes `origin`
 * means.
 *
 * ND_ERROR_SETTINGS if a number is wrong, ND_ERROR_MEMORY if there are too many
 * (2^28 in a filter). */
ND_API NdFilters *nd_filters_new_from_arrays (guint n, const gsize size[4],
    const gdouble *real, const gdouble *imaginary, const NdSettings *settings,
    GError **error);
ND_API void nd_filters_free (NdFilters *filters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdFilters, nd_filters_free)

/* The number of filters, 1 and more; a complex filter counts once. */
ND_API guint nd_filters_get_count (const NdFilters *filters);

/* Whether the responses are complex. */
ND_API gboolean nd_filters_are_complex (const NdFilters *filters);

/* Filter @i, 0 to count - 1: its size and origin along x, y, z, t, and its
 * coefficients, which belong to @filters. @imaginary becomes NULL if the filter
 * is real. Each of the pointers may be NULL. */
ND_API void nd_filters_get (const NdFilters *filters, guint i, gsize size[4],
    gint origin[4], const gdouble **real, const gdouble **imaginary);

/* The samples that an output of the bank reads: from @low (0 and less) to @high
 * (0 and more), as offsets along x, y, z, t. @high along t is the delay of a
 * stream in volumes. */
ND_API void nd_filters_get_reach (const NdFilters *filters, gint low[4],
    gint high[4]);

/* A sentence, which belongs to @filters, about a text that may mean something
 * else: derivatives or directions with sizes in samples, where the spacing
 * differs between the axes. NULL if there is none. */
ND_API const gchar *nd_filters_get_warning (const NdFilters *filters);

/* Size, sum, rank, symmetry, gain, band, lag and errors of each filter, in
 * lines for people. Free it with g_free(). */
ND_API gchar *nd_filters_describe (const NdFilters *filters);

/* The names of all designs, terminated by NULL. */
ND_API const gchar *const *nd_list_designs (void);

/* --- Arrays --------------------------------------------------------------- */

/* Volumes in memory of the caller. Component c of sample (x, y, z) of response
 * k at time t is at
 *
 *   data + x * strides[0] + y * strides[1] + z * strides[2] + t * strides[3]
 *     + c * component_stride + k * response_stride
 *
 * in bytes. Strides may be 0 (of an input) or negative. Pointer and strides
 * must be multiples of the size of a sample. Volumes whose rows are not dense,
 * or of the types int8, int32, uint32, float16 and, with precision=single,
 * float64, are copied one by one on the way; others are not copied. */
typedef struct
{
  gpointer data;
  const gchar *type; /* see nd_array_init() */
  gsize components;  /* 1 and more; 2: real and imaginary part */
  gsize responses;   /* 1, but for the output of a bank */
  gsize size[4];
  gssize strides[4];
  gssize component_stride;
  gssize response_stride;
  gboolean on_device;   /* data is memory of a GPU, for the back end cuda */
  gpointer reserved[4]; /* NULL */
} NdArray;

/* A dense array of one response: components innermost, then x, y, z, t. @type
 * is uint8, int16, uint16, float32, int8, int32, uint32, float16 or float64 and
 * must stay valid; 32 bit integers and float64 are computed in float32 or, with
 * precision=double, in float64. It is checked when the array is used. */
ND_API void nd_array_init (NdArray *array, gpointer data, const gchar *type,
    gsize components, const gsize size[4]);

/* --- Streams -------------------------------------------------------------- */

/* A filter over volumes that arrive one by one. Push a volume; take outputs
 * while there are any. After the last volume, end, and take the rest. N volumes
 * give N outputs. One thread at a time. */
typedef struct _NdStream NdStream;

/* A stream of volumes like @volume, of which data, size[3] and strides are
 * ignored. @settings may be NULL; @cancelled as in nd_filters_new(). The stream
 * copies filters and settings.
 *
 * ND_ERROR_SETTINGS or _FORMAT if filters, settings and volume do not fit each
 * other, _MEMORY, _INIT if the back end is not available, _CANCELLED. */
ND_API NdStream *nd_stream_new (const NdFilters *filters,
    const NdSettings *settings, const NdArray *volume, const gint *cancelled,
    GError **error);
ND_API void nd_stream_free (NdStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdStream, nd_stream_free)

/* Pushes one volume, size[3] of which is 1. Returns when it was read, so that
 * the caller may overwrite it. GPU work that writes the volume must be complete
 * before the call. ND_ERROR_SETTINGS if the volume is not like that of
 * nd_stream_new() or the stream has ended, ND_ERROR_FAILED if the device
 * fails. */
ND_API gboolean nd_stream_push (NdStream *stream, const NdArray *volume,
    GError **error);

/* Whether an output can be taken. */
ND_API gboolean nd_stream_ready (const NdStream *stream);

/* A dense output without memory: set data, or change the strides, and take. */
ND_API void nd_stream_init_output (const NdStream *stream, NdArray *output);

/* Writes the next output, and returns when it is written. Errors as for
 * nd_stream_push(), and ND_ERROR_SETTINGS if no output is ready. */
ND_API gboolean nd_stream_take (NdStream *stream, const NdArray *output,
    GError **error);

/* Drops the next output, which is not computed. Does nothing if no output is
 * ready. */
ND_API void nd_stream_skip (NdStream *stream);

/* No volume follows: the outputs that waited for later ones become ready. */
ND_API void nd_stream_end (NdStream *stream);

/* Forgets all volumes, and that the stream was cancelled: the next volume
 * begins a new stream. */
ND_API void nd_stream_flush (NdStream *stream);

/* From any thread: the push or take that runs returns ND_ERROR_CANCELLED within
 * milliseconds (on a GPU after the volumes that it has begun), and so do the
 * next ones until nd_stream_flush(). An output that was being written is
 * undefined. */
ND_API void nd_stream_cancel (NdStream *stream);

/* The plan of the stream and its reason; the stream owns the texts. Seconds
 * per volume are estimated or measured, bytes are those of all buffers. */
ND_API const gchar *nd_stream_get_backend (const NdStream *stream);
ND_API const gchar *nd_stream_get_method (const NdStream *stream);
ND_API const gchar *nd_stream_get_reason (const NdStream *stream);
ND_API gdouble nd_stream_get_estimate (const NdStream *stream);
ND_API gsize nd_stream_get_bytes (const NdStream *stream);

/* Volumes pushed, outputs taken, and samples that did not fit in their integer
 * type (on a GPU only those of int8, int32 and uint32 are counted), since the
 * stream was made. */
ND_API guint64 nd_stream_get_pushed (const NdStream *stream);
ND_API guint64 nd_stream_get_taken (const NdStream *stream);
ND_API guint64 nd_stream_get_saturated (const NdStream *stream);

/* The most volumes that are pushed before the first output is ready, less
 * one. */
ND_API guint nd_stream_get_delay (const NdStream *stream);

/* --- Time and memory ------------------------------------------------------ */

/* What a volume takes on a back end of this machine. */
typedef struct
{
  gchar backend[16], method[16];
  gdouble seconds;   /* of a volume and its output, in memory of the host: the
                      * median */
  gdouble slowest;   /* the most that was measured */
  gsize bytes;       /* of all buffers, the input and the output */
  guint delay;       /* volumes that an output waits for */
  gboolean measured; /* FALSE: seconds are the estimate of the plan, or 0 if it
                      * has none, because to fill the window takes longer than
                      * ten times the time that was given */
  gpointer reserved[4];
} NdTiming;

/* Filters volumes like @volume, which hold noise, for about @seconds, and at
 * least three. Data, size[3] and strides of @volume are ignored. The back end
 * is that of @settings, which may be NULL. Other work on the machine counts.
 *
 * Errors of nd_stream_new() and nd_stream_push(). */
ND_API gboolean nd_time_filters (const NdFilters *filters,
    const NdSettings *settings, const NdArray *volume, gdouble seconds,
    const gint *cancelled, NdTiming *timing, GError **error);

/* The same for the element nddenoise. @options are properties of it, as
 * "quality=best,latency=0"; NULL: the defaults. It uses backend and device-id
 * of @settings. ND_ERROR_SETTINGS if an option is wrong, ND_ERROR_FORMAT for
 * types that the element does not take, ND_ERROR_MEMORY, _INIT, _CANCELLED. */
ND_API gboolean nd_time_denoiser (const gchar *options,
    const NdSettings *settings, const NdArray *volume, gdouble seconds,
    const gint *cancelled, NdTiming *timing, GError **error);

/* --- A whole array -------------------------------------------------------- */

/* Called by nd_convolve() after each of @total volumes, in its thread. */
typedef void (*NdProgress) (gsize done, gsize total, gpointer data);

typedef struct
{
  const gint *cancelled; /* as in nd_filters_new(), or NULL */
  NdProgress progress;   /* or NULL */
  gpointer data;         /* of progress */
  guint64 *saturated;    /* or NULL; receives nd_stream_get_saturated() */
  gpointer reserved[3];  /* NULL */
} NdWatch;

/* Filters @in into @out, all volumes. Sizes of both are equal; components and
 * responses of @out are those of nd_convolve_init_output(). @out may be @in if
 * type and strides are the same and time-border is not wrap; otherwise they
 * must not overlap. @settings and @watch may be NULL.
 *
 * Errors of nd_stream_new() and nd_stream_push(). When it is cancelled, it
 * returns within milliseconds (on a GPU after the volumes that it has begun).
 * After an error, or when it is cancelled, @out has undefined content. */
ND_API gboolean nd_convolve (const NdFilters *filters,
    const NdSettings *settings, const NdArray *in, const NdArray *out,
    const NdWatch *watch, GError **error);

/* The output that @in gives: dense, without memory, volumes slowest. Errors of
 * nd_stream_new() that concern @in and @settings. */
ND_API gboolean nd_convolve_init_output (const NdFilters *filters,
    const NdSettings *settings, const NdArray *in, NdArray *output,
    GError **error);

/* --- Registration --------------------------------------------------------- */

/* The motion of one volume. Positions are in mm along x, y, z from the first
 * sample: index times spacing (1 without that setting). */
typedef struct
{
  gdouble matrix[12];  /* the rows of 3 x 4 numbers that take positions in the
                         * reference to positions in the volume */
  gdouble residual;    /* root mean square of what the motion does not explain,
                         * in sample values of smoothed volumes */
  gdouble unexplained; /* its square as a share of the variance, 0 to 1 */
  gdouble overlap;     /* share of the reference that lies in the volume */
  guint iterations;    /* on all levels */
  gboolean measured;   /* FALSE: nothing could be measured; no motion */
  gboolean restarted;  /* the search began afresh, because the last motion was
                         * no help */
  gpointer reserved[4];
} NdVolumeMotion;

/* Finds the motion of each volume of @in to a reference, from the first volume
 * to the last, and moves it there, on the CPU. @out has type, components and
 * sizes of @in, and may be @in; otherwise they must not overlap. NULL: nothing
 * is moved. @motions has in->size[3] elements, or is NULL. @settings and @watch
 * may be NULL.
 *
 * ND_ERROR_SETTINGS or _FORMAT if settings and arrays do not fit each other,
 * _MEMORY, _CANCELLED, between two volumes. */
ND_API gboolean nd_register (const NdSettings *settings, const NdArray *in,
    const NdArray *out, NdVolumeMotion *motions, const NdWatch *watch,
    GError **error);

/* Moves the volumes of @in by the matrices of NdVolumeMotion, 12 finite numbers
 * for each volume, which may also come from elsewhere: sample x of @out is the
 * interpolation of @in at matrix (x). Otherwise as nd_register(). */
ND_API gboolean nd_warp (const NdSettings *settings, const gdouble *matrices,
    const NdArray *in, const NdArray *out, const NdWatch *watch,
    GError **error);

/* Sorts the samples under a footprint around each sample of @in, and writes the
 * one at the rank, or what erosions and dilations make of it, to @out: the
 * element ndrank, on the CPU. @out has type, components and sizes of @in, whose
 * memory it must not overlap. Integers are exact; NaN counts as larger than all
 * other samples. @settings and @watch may be NULL.
 *
 * ND_ERROR_SETTINGS or _FORMAT if settings and arrays do not fit each other,
 * _NOT_FOUND, _OPEN_READ, _READ for files of footprints, _MEMORY, _CANCELLED,
 * between two volumes. */
ND_API gboolean nd_rank (const NdSettings *settings, const NdArray *in,
    const NdArray *out, const NdWatch *watch, GError **error);

/* --- Deconvolution -------------------------------------------------------- */

/* What nd_deconvolve() computed for one volume: the largest numbers of its
 * components. */
typedef struct
{
  gdouble residue;  /* root of the squared differences between the volume and
                     * the estimate blurred again, before the last iteration,
                     * as a share of the volume */
  guint iterations; /* that were computed */
  gpointer reserved[2];
} NdVolumeResidue;

/* Removes the blur @psf from each volume of @in, on the CPU, by at most
 * @iterations (1 to 1000) of the method of Richardson and Lucy, with the
 * settings tv and tolerance. @psf has one real filter without negative
 * coefficients and of size 1 along t, which is scaled to sum 1. @out has type,
 * components and sizes of @in, and may be @in; otherwise they must not overlap.
 * @residues has in->size[3] elements, or is NULL. @settings and @watch may be
 * NULL.
 *
 * Samples below 0 count as 0, and samples that are not finite are missing.
 * Components are deconvolved by themselves.
 *
 * ND_ERROR_SETTINGS or _FORMAT if psf, settings and arrays do not fit each
 * other, _MEMORY, _CANCELLED, also within a volume. */
ND_API gboolean nd_deconvolve (const NdFilters *psf, guint iterations,
    const NdSettings *settings, const NdArray *in, const NdArray *out,
    NdVolumeResidue *residues, const NdWatch *watch, GError **error);

/* --- Blocks --------------------------------------------------------------- */

/* One block of an array that is too large for memory, or is filtered by several
 * machines. Starts and sizes along x, y, z, t, in samples: `out` are its
 * outputs, `in` the input that they need, both in the whole array. Filter the
 * input box with the same settings; the outputs of the block begin at out_start
 * - in_start of the result. */
typedef struct
{
  gsize out_start[4];
  gsize out_size[4];
  gsize in_start[4];
  gsize in_size[4];
} NdBlock;

/* Plans blocks that cover @size (1 and more along each axis) once, x fastest.
 * An output box has @block samples, rounded up to a multiple of @chunk (NULL:
 * 1), and fewer at the ends, so that no two blocks write into one chunk of a
 * store. An input box also has the samples around its outputs that the filters
 * read. At an edge of the array it has the samples that border and time-border
 * of @settings (NULL: defaults) repeat there; with wrap it has the whole axis.
 * Sets @n; free the blocks with g_free().
 *
 * ND_ERROR_SETTINGS if a size is 0, ND_ERROR_MEMORY if there are too many. */
ND_API NdBlock *nd_plan_blocks (const NdFilters *filters,
    const NdSettings *settings, const gsize size[4], const gsize block[4],
    const gsize *chunk, gsize *n, GError **error);

/* Writes to @indices the samples that replace those at @first and the @n - 1
 * after it on an axis of @size samples, 0 to size - 1, or -1 for the border
 * value. @border: see the setting; @size is 1 and more.
 *
 * ND_ERROR_SETTINGS if there is no such border. */
ND_API gboolean nd_border_get_indices (const gchar *border, gsize size,
    gssize first, gsize n, gssize *indices, GError **error);

/* --- Recordings ----------------------------------------------------------- */

/* Reads a recording, a volume at a time: a file of any format that
 * docs/formats.md lists, or of raw samples; a folder of DICOM, Micro-Manager or
 * numbered files, or of OME-Zarr, if the library was built with it; or the
 * files of a pattern (img_%04d.tif). The content of a file determines its
 * format. One thread at a time. */
typedef struct _NdRecordingReader NdRecordingReader;

/* @raw describes the samples of a file without a header: type, components,
 * responses and size[0] to size[2]; @offset bytes come before them. NULL for
 * other files. Reading takes at most @max_memory bytes of memory, with one
 * volume of the caller; 0: a quarter of what the process may use. With
 * @keep_truncated, the whole volumes of a file that has fewer samples than its
 * header says are read, with a warning.
 *
 * ND_ERROR_NOT_FOUND, _OPEN_READ, _READ (truncated or damaged, or a wrong size
 * for raw samples), _FORMAT (an unsupported format or type), _SETTINGS (no
 * header and no @raw), _MEMORY (more than @max_memory, also of later reads). */
ND_API NdRecordingReader *nd_recording_reader_new (const gchar *path,
    const NdArray *raw, gsize offset, gsize max_memory, gboolean keep_truncated,
    GError **error);
ND_API void nd_recording_reader_free (NdRecordingReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdRecordingReader, nd_recording_reader_free)

/* All its volumes as a dense array without memory. Volumes follow each other
 * with all their responses. */
ND_API void nd_recording_reader_init_array (const NdRecordingReader *reader,
    NdArray *volumes);

/* Text like "NRRD, int16, compressed". */
ND_API const gchar *
nd_recording_reader_get_format (const NdRecordingReader *reader);

/* Sentences about differences between the file and the samples read, terminated
 * by NULL. */
ND_API const gchar *const *
nd_recording_reader_get_warnings (const NdRecordingReader *reader);

/* TRUE if volumes can be read in any order at the same cost. In a compressed
 * file the volumes before are decompressed. */
ND_API gboolean
nd_recording_reader_is_seekable (const NdRecordingReader *reader);

/* Volumes per second, as a fraction; FALSE and 0/1 if it is unknown. */
ND_API gboolean nd_recording_reader_get_rate (const NdRecordingReader *reader,
    gint *n, gint *d);

/* The position in space: mm to right, anterior, superior; column a of
 * @directions, which is row by row, is the direction of axis a. FALSE if it is
 * unknown. Each of the pointers may be NULL. */
ND_API gboolean
nd_recording_reader_get_geometry (const NdRecordingReader *reader,
    gdouble spacing[3], gdouble origin[3], gdouble directions[9]);

/* Reads @volume, counted from 0, into @data, which has the bytes of a volume
 * with all its responses (strides[3] of nd_recording_reader_init_array()).
 *
 * ND_ERROR_SETTINGS if there is no such volume, ND_ERROR_READ if the file is
 * truncated or damaged. */
ND_API gboolean nd_recording_reader_read (NdRecordingReader *reader,
    gsize volume, gpointer data, GError **error);

/* Writes a recording, a volume at a time. Until it is complete, the file has
 * the name @path with ".part" appended. */
typedef struct _NdRecordingWriter NdRecordingWriter;

/* The extension of @path names the format: .nii, .nii.gz, .nrrd, .nhdr, .mha,
 * .mhd, .npy, .tif, .zarr (OME-Zarr 0.5), .v2.zarr (0.4), otherwise raw
 * samples. @compress compresses the samples of NRRD, MetaImage and OME-Zarr.
 * @volumes describes the volumes; size[3] is their number,
 * 0 if it is unknown. The recording gets rate, times, geometry and other
 * metadata of @like, which may be NULL, and must stay open as long as the
 * writer.
 *
 * ND_ERROR_SETTINGS, _OPEN_WRITE, ND_ERROR_FORMAT if the format cannot store
 * the volumes, ND_ERROR_DISK_FULL. */
ND_API NdRecordingWriter *nd_recording_writer_new (const gchar *path,
    const NdArray *volumes, const NdRecordingReader *like, gboolean compress,
    GError **error);

/* Without nd_recording_writer_finish() the partial file stays if it has
 * volumes. */
ND_API void nd_recording_writer_free (NdRecordingWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdRecordingWriter, nd_recording_writer_free)

/* Writes the next volume, dense, with all its responses.
 * ND_ERROR_DISK_FULL, _WRITE. */
ND_API gboolean nd_recording_writer_write (NdRecordingWriter *writer,
    gconstpointer data, GError **error);

/* No volume follows: completes the file and gives it its name. ND_ERROR_WRITE,
 * also if no volume was written. */
ND_API gboolean nd_recording_writer_finish (NdRecordingWriter *writer,
    GError **error);

/* After nd_recording_writer_finish(): a sentence about metadata that the format
 * could not store, or NULL. */
ND_API const gchar *
nd_recording_writer_get_warning (const NdRecordingWriter *writer);

/* --- Back ends and devices ------------------------------------------------ */

/* The names of the back ends that work on this machine, the preferred one
 * first, terminated by NULL. Free them with g_strfreev(). */
ND_API gchar **nd_list_backends (void);

/* The names of the devices of a back end, in the order of their numbers; none
 * for "cpu".
 * ND_ERROR_INIT if the back end does not work here. Free them with
 * g_strfreev(). */
ND_API gchar **nd_list_devices (const gchar *backend, GError **error);

G_END_DECLS
