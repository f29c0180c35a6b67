/* ndconv-file: describes a recording, draws a picture of it, compares two,
 * converts one, checks a folder.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/budget.h"
#include "core/error.h"
#include "core/printable.h"
#include "formats/recording.h"
#include "tools/filecompare.h"
#include "tools/fileconvert.h"
#include "tools/filepicture.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_STATUS 2

/* Of numbers that are not given. */
#define NONE G_MININT

typedef struct
{
  gchar *png;
  gint64 volume;
  gboolean fields, version;
  gchar *size, *type;
  gchar *crop, *axes, *spacing, *rate, *to, *truncated;
  gboolean compress;
  gint64 offset, max_memory;
  gint components;
} Options;

static void
print_times (NdReader *reader)
{
  const NdRecording *recording = nd_reader_recording (reader);
  const NdMetadata *metadata = nd_reader_metadata (reader);
  const gdouble begin = metadata->origin / 1e9;
  const gdouble last = nd_reader_time (reader, recording->volumes - 1) / 1e9;

  if (recording->volumes == 1) {
    g_print ("times       one volume, at %.9g s\n", begin);
    return;
  }
  if (recording->rate_n == 0 && metadata->times->len == 0) {
    g_print ("times       unknown; volumes are read one second apart\n");
    return;
  }
  g_print ("times       %.9g to %.9g s, ", begin, begin + last);
  if (recording->rate_n > 0)
    g_print ("%d/%d volumes per second\n", recording->rate_n,
        recording->rate_d);
  else
    g_print ("irregular, %.6g volumes per second on average\n",
        (recording->volumes - 1) / last);
}

static void
print_geometry (const NdGeometry *geometry)
{
  const gdouble *s = geometry->spacing, *o = geometry->origin;
  const gdouble *d = geometry->directions;

  if (!geometry->known) {
    g_print ("geometry    unknown\n");
    return;
  }
  g_print (
      "geometry    spacing %.6g x %.6g x %.6g mm, origin (%.6g, %.6g, %.6g) "
      "mm, directions x (%.4g, %.4g, %.4g) y (%.4g, %.4g, %.4g) z (%.4g, %.4g, "
      "%.4g), to right, anterior, superior\n",
      s[0], s[1], s[2], o[0], o[1], o[2], d[0], d[3], d[6], d[1], d[4], d[7],
      d[2], d[5], d[8]);
}

static void
print_field (const NdField *field)
{
  g_autofree gchar *key = nd_printable (field->key);
  g_autofree gchar *value = nd_printable (field->value);

  g_print ("%s = %s\n", key, value);
}

static void
print_fields (const NdMetadata *metadata, gboolean all)
{
  const NdList *fields = metadata->fields,
               *of_volumes = metadata->volume_fields;

  g_print ("fields      %u of the recording, %u of single volumes\n",
      fields->len, of_volumes->len);
  for (guint i = 0; all && i < fields->len; i++) {
    const NdField *field = &g_array_index (fields, NdField, i);

    g_print ("  ");
    print_field (field);
  }
  for (guint i = 0; all && i < of_volumes->len; i++) {
    const NdField *field = &g_array_index (of_volumes, NdField, i);

    g_print ("  %" G_GUINT64_FORMAT " ", field->volume);
    print_field (field);
  }
}

static void
print_info (const gchar *path, NdReader *reader, gboolean all_fields)
{
  const NdRecording *recording = nd_reader_recording (reader);
  const gsize *size = recording->shape.size;
  g_autofree gchar *file = nd_printable (path);
  g_autofree gchar *format = nd_printable (nd_reader_format (reader));

  g_print ("file        %s\n", file);
  g_print ("format      %s; %s\n", format,
      nd_reader_seekable (reader) ? "seekable" : "not seekable");
  g_print ("size        %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
           " x %" G_GSIZE_FORMAT " samples, %" G_GUINT64_FORMAT " volume%s",
      size[0], size[1], size[2], recording->volumes,
      recording->volumes > 1 ? "s" : "");
  if (recording->responses > 1)
    g_print (" of %u responses", recording->responses);
  g_print ("\ntype        %s", nd_sample_name (recording->type));
  if (recording->shape.components > 1)
    g_print (", %" G_GSIZE_FORMAT " components", recording->shape.components);
  g_print (", %" G_GSIZE_FORMAT " bytes per volume\n",
      nd_recording_volume_size (recording));
  print_times (reader);
  print_geometry (&recording->geometry);
  if (nd_reader_not_held (reader))
    g_print ("not held    %s\n", nd_reader_not_held (reader));
  print_fields (nd_reader_metadata (reader), all_fields);
}

/* The description of a raw file; FALSE if its options are wrong. */
static gboolean
get_hint (const Options *options, NdRecording *hint, GError **error)
{
  NdSampleType type = ND_UINT8;

  if ((!options->type || nd_sample_from_name (options->type, &type))
      && options->offset >= 0 && options->components >= 1
      && nd_recording_init_raw (hint, options->size, options->components,
          type)) {
    hint->offset = options->offset;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "--volume-size must be X:Y:Z (or X:Y), and --type uint8, int8, uint16, "
      "int16, uint32, int32, float16, float32 or float64; --offset is 0 or "
      "more and --components 1 or more");
  return FALSE;
}

static NdTruncated
get_truncated (const Options *options)
{
  return g_strcmp0 (options->truncated, "keep") == 0 ? ND_TRUNCATED_KEEP
                                                     : ND_TRUNCATED_REFUSE;
}

static NdReader *
open_recording (const gchar *path, const Options *options, GError **error)
{
  NdReader *reader;
  NdRecording hint;

  if (options->size && !get_hint (options, &hint, error))
    return NULL;
  reader = nd_reader_open_within (path, options->size ? &hint : NULL,
      options->max_memory, get_truncated (options), error);
  if (!reader) {
    if (g_error_matches (*error, ND_ERROR, ND_ERROR_SETTINGS)
        && !options->size) {
      g_clear_error (error);
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "\"%s\" has no header of " ND_RECORDING_FORMATS ": to "
          "read it as raw samples, give --volume-size=X:Y:Z and --type",
          path);
    }
  }
  return reader;
}

/* Reads again, because compressed recordings are read forwards only. */
static gboolean
draw_both (const gchar *a, const gchar *b, const Options *options,
    GError **error)
{
  g_autoptr (NdReader) reader_a = open_recording (a, options, error);
  g_autoptr (NdReader) reader_b =
      reader_a ? open_recording (b, options, error) : NULL;

  return reader_b
      && nd_recordings_draw (reader_a, reader_b, options->volume, options->png,
          error);
}

/* The status is 0 if both recordings are equal, otherwise 1. */
static gint
compare (const gchar *a, const gchar *b, const Options *options, GError **error)
{
  g_autoptr (NdReader) reader_a = open_recording (a, options, error);
  g_autoptr (NdReader) reader_b =
      reader_a ? open_recording (b, options, error) : NULL;
  gboolean equal = FALSE;

  if (!reader_b || !nd_recordings_compare (reader_a, reader_b, &equal, error)
      || (options->png && !draw_both (a, b, options, error)))
    return EXIT_FAILURE;
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}

static gboolean
info (const gchar *path, const Options *options, GError **error)
{
  g_autoptr (NdReader) reader = open_recording (path, options, error);

  if (!reader)
    return FALSE;
  print_info (path, reader, options->fields);
  for (const gchar *const *warning = nd_reader_warnings (reader); *warning;
       warning++) {
    g_autofree gchar *message = nd_message_text (*warning);

    g_print ("warning     %s\n", message);
  }
  return !options->png
      || nd_recording_draw (reader, options->volume, options->png, error);
}

static gboolean
convert (const gchar *from, const gchar *to, const Options *options,
    GError **error)
{
  g_autoptr (NdReader) reader = NULL;
  const gchar *type =
      options->to || options->size ? options->to : options->type;
  const NdConversion conversion = { type, options->crop, options->axes,
    options->spacing, options->rate, options->compress };

  if (options->to && options->type && !options->size) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "--to and --type both name the type of the copy: give one of them, or "
        "--volume-size if --type is that of raw samples");
    return FALSE;
  }
  reader = open_recording (from, options, error);
  return reader && nd_recording_convert (reader, to, &conversion, error);
}

/* Whether the command exists, with that many files and these options. */
static gboolean
check_command (Options *options, gint argc, gchar **argv, GError **error)
{
  static const struct
  {
    const gchar *name;
    gint files;
  } commands[] = { { "info", 1 }, { "compare", 2 }, { "convert", 2 },
    { "check", 1 } };
  const struct
  {
    const gchar *name;
    gboolean given;
    const gchar *commands;
  } given[] = {
    { "png", options->png != NULL, "info and compare" },
    { "volume", options->volume != NONE, "info and compare" },
    { "fields", options->fields, "info" },
    { "volume-size", options->size != NULL, "info, compare and convert" },
    { "type", options->type != NULL, "info, compare and convert" },
    { "components", options->components != NONE, "info, compare and convert" },
    { "offset", options->offset != NONE, "info, compare and convert" },
    { "to", options->to != NULL, "convert" },
    { "crop", options->crop != NULL, "convert" },
    { "axes", options->axes != NULL, "convert" },
    { "spacing", options->spacing != NULL, "convert" },
    { "rate", options->rate != NULL, "convert" },
    { "compress", options->compress, "convert" },
  };
  const gchar *command = argc > 1 ? argv[1] : "";
  guint c = 0;

  while (c < G_N_ELEMENTS (commands) && strcmp (command, commands[c].name) != 0)
    c++;
  if (c == G_N_ELEMENTS (commands)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        argc > 1 ? "There is no command \"%s\"" : "The command is missing%s",
        command);
    return FALSE;
  }
  if (argc - 2 != commands[c].files) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The command %s takes %s, not %d", command,
        commands[c].files == 1 ? "one file or folder" : "two files", argc - 2);
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (given); i++) {
    if (given[i].given && !strstr (given[i].commands, command)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "--%s is an option of %s, not of %s", given[i].name,
          given[i].commands, command);
      return FALSE;
    }
  }
  options->volume = options->volume == NONE ? 0 : options->volume;
  options->components = options->components == NONE ? 1 : options->components;
  options->offset = options->offset == NONE ? 0 : options->offset;
  return TRUE;
}

static void
report (const GError *error)
{
  g_autofree gchar *message = nd_message_text (error->message);

  g_printerr ("ndconv-file: %s\n", message);
}

int
main (int argc, char **argv)
{
  Options options = { .volume = NONE, .components = NONE, .offset = NONE };
  const GOptionEntry entries[] = {
    { "png", 'p', 0, G_OPTION_ARG_FILENAME, &options.png,
        "Write a picture: a frame, or three planes through a volume; compare: "
        "A, B and B - A side by side",
        "FILE" },
    { "volume", 'n', 0, G_OPTION_ARG_INT64, &options.volume,
        "Number of the volume for the picture, from 0 (default 0)", "N" },
    { "fields", 'f', 0, G_OPTION_ARG_NONE, &options.fields,
        "List the key/value pairs of the recording and of its volumes", NULL },
    { "volume-size", 's', 0, G_OPTION_ARG_STRING, &options.size,
        "For raw samples: the size of a volume", "X:Y:Z" },
    { "type", 't', 0, G_OPTION_ARG_STRING, &options.type,
        "For raw samples: uint8 (default), int8, int16, uint16, int32, uint32, "
        "float16, float32, float64",
        "TYPE" },
    { "components", 'c', 0, G_OPTION_ARG_INT, &options.components,
        "For raw samples: components of a sample (default 1)", "N" },
    { "offset", 'o', 0, G_OPTION_ARG_INT64, &options.offset,
        "For raw samples: bytes before the first volume (default 0)", "BYTES" },
    { "max-memory", 0, 0, G_OPTION_ARG_INT64, &options.max_memory,
        "Memory that reading a file may take (default: a quarter of the "
        "memory)",
        "BYTES" },
    { "truncated", 0, 0, G_OPTION_ARG_STRING, &options.truncated,
        "A file with fewer samples than its header says: refuse (default), or "
        "keep its whole volumes",
        "WHAT" },
    { "to", 0, 0, G_OPTION_ARG_STRING, &options.to,
        "convert: the type of the samples of B (default: that of A); if A has "
        "a header, --type says the same",
        "TYPE" },
    { "crop", 0, 0, G_OPTION_ARG_STRING, &options.crop,
        "convert: ranges of samples and volumes, as 10:20,:,5:,0:100",
        "X,Y,Z,T" },
    { "axes", 0, 0, G_OPTION_ARG_STRING, &options.axes,
        "convert: the axes of A in the order of B, with a minus if reversed, "
        "as yxz or x-yz",
        "AXES" },
    { "spacing", 0, 0, G_OPTION_ARG_STRING, &options.spacing,
        "convert: distance of the samples of A in mm, or as 0.3um:0.3um:1um",
        "X:Y:Z" },
    { "rate", 0, 0, G_OPTION_ARG_STRING, &options.rate,
        "convert: volumes of A per second", "RATE" },
    { "compress", 0, 0, G_OPTION_ARG_NONE, &options.compress,
        "convert: compress the samples of B", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options.version, "Print the version",
        NULL },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "COMMAND FILE [FILE] - describe, compare, convert and check recordings");
  g_autoptr (GError) error = NULL;
  gint status = EXIT_SUCCESS;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context,
      "Commands:\n"
      "  info FILE     Describe a recording\n"
      "  compare A B   Print the difference of two recordings\n"
      "  convert A B   Write A in the format that the extension of B names\n"
      "  check FOLDER  Read all recordings in a folder, and list what fails");
  g_option_context_set_description (context,
      "info prints format, size, sample type, times and geometry of a "
      "recording. compare\nprints maximum and RMS of the difference, PSNR and "
      "SSIM (in windows of 7 x 7) per\nvolume and for all; A is the "
      "reference. convert keeps geometry,\ntimes and fields, and says what B "
      "cannot hold. check prints what cannot be read, why,\nand totals.\n\n"
      "Reads files of " ND_RECORDING_FILES ",\nfolders of " ND_RECORDING_FOLDERS
      ",\npatterns of files (img_%04d.tif), and raw samples. Writes NIfTI, "
      "NRRD,\nMetaImage, .npy, TIFF, OME-Zarr and raw samples (.raw).\n\n"
      "Exit status:\n"
      "  0  success\n"
      "  1  a file cannot be read or written, or the compared recordings "
      "differ\n"
      "  2  the command line is wrong");
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    report (error);
    status = USAGE_STATUS;
  } else if (options.max_memory < 0) {
    g_printerr ("ndconv-file: --max-memory must be 0 or more\n");
    status = USAGE_STATUS;
  } else if (options.truncated && strcmp (options.truncated, "keep") != 0
      && strcmp (options.truncated, "refuse") != 0) {
    g_printerr ("ndconv-file: --truncated must be refuse or keep\n");
    status = USAGE_STATUS;
  } else if (options.version) {
    g_print ("ndconv-file %s\n", ND_VERSION);
  } else if (!check_command (&options, argc, argv, &error)) {
    g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);

    report (error);
    g_printerr ("\n%s", help);
    status = USAGE_STATUS;
  } else if (strcmp (argv[1], "compare") == 0) {
    status = compare (argv[2], argv[3], &options, &error);
    if (error)
      report (error);
  } else if (strcmp (argv[1], "convert") == 0) {
    if (!convert (argv[2], argv[3], &options, &error)) {
      report (error);
      status = g_error_matches (error, ND_ERROR, ND_ERROR_SETTINGS)
          ? USAGE_STATUS
          : EXIT_FAILURE;
    }
  } else if (strcmp (argv[1], "check") == 0) {
    if (!nd_folder_check (argv[2], options.max_memory,
            get_truncated (&options)))
      status = EXIT_FAILURE;
  } else if (!info (argv[2], &options, &error)) {
    report (error);
    status = EXIT_FAILURE;
  }
  g_free (options.png);
  g_free (options.size);
  g_free (options.type);
  g_free (options.truncated);
  g_free (options.to);
  g_free (options.crop);
  g_free (options.axes);
  g_free (options.spacing);
  g_free (options.rate);
  return status;
}
