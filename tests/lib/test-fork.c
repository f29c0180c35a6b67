/* The library in children of fork(): new work gives the results of the parent,
 * also if several threads of the parent were at work, and what the parent has
 * open is refused with a sentence and stays whole.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <ndconv/ndconv.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sanitizers.h"

#define FORKS 100
#define WORKERS 3
#define HANGS 60 /* seconds after which a child counts as hanging */

static const gsize size[4] = { 20, 18, 6, 4 };
static gfloat input[20 * 18 * 6 * 4];

/* Free the result with g_free(); NULL with an error. */
static gfloat *
convolve (const gchar *method, GError **error)
{
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autofree gfloat *output = g_malloc (sizeof (input));
  g_autoptr (NdFilters) filters = NULL;
  NdArray in, out;

  nd_array_init (&in, input, "float32", 1, size);
  nd_array_init (&out, output, "float32", 1, size);
  if (!nd_settings_set (settings, "axes", "xyzt", error)
      || !nd_settings_set (settings, "method", method, error)
      || !nd_settings_set (settings, "n-threads", "3", error)
      || !(filters = nd_filters_new ("gaussian,sigma=1", settings, NULL, error))
      || !nd_convolve (filters, settings, &in, &out, NULL, error))
    return NULL;
  return g_steal_pointer (&output);
}

/* Whether the error is a sentence about the parent's object. */
static gboolean
is_refused (const GError *error)
{
  return g_error_matches (error, ND_ERROR, ND_ERROR_FAILED)
      && strstr (error->message, "make another one in this process");
}

static void
expect_child (pid_t child)
{
  int status;

  g_assert_cmpint (child, >, 0);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

static gpointer
work (gpointer data)
{
  static const gchar *const methods[] = { "direct", "fft", "separable" };
  const gint *stop = data;

  for (guint i = 0; !g_atomic_int_get (stop); i++) {
    g_autofree gfloat *output = convolve (methods[i % 3], NULL);

    g_assert_nonnull (output);
  }
  return NULL;
}

static void
test_at_work (void)
{
  g_autofree gfloat *expected = convolve ("fft", NULL);
  GThread *workers[WORKERS];
  gint stop = FALSE;

  for (guint i = 0; i < WORKERS; i++)
    workers[i] = g_thread_new ("work", work, &stop);
  for (guint i = 0; i < FORKS; i++) {
    const pid_t child = fork ();

    if (child == 0) {
      gfloat *output;

      alarm (HANGS);
      output = convolve ("fft", NULL);
      _exit (output && memcmp (output, expected, sizeof (input)) == 0 ? 0 : 1);
    }
    expect_child (child);
  }
  g_atomic_int_set (&stop, TRUE);
  for (guint i = 0; i < WORKERS; i++)
    g_thread_join (workers[i]);
}

static void
test_stream (void)
{
  const gsize one[4] = { 20, 18, 6, 1 };
  g_autofree gfloat *output = g_malloc (sizeof (input));
  g_autoptr (NdFilters) filters =
      nd_filters_new ("box,size=3", NULL, NULL, NULL);
  g_autoptr (NdStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  NdArray volume, out;
  pid_t child;

  nd_array_init (&volume, input, "float32", 1, one);
  nd_array_init (&out, output, "float32", 1, one);
  stream = nd_stream_new (filters, NULL, &volume, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (nd_stream_push (stream, &volume, &error));
  child = fork ();
  if (child == 0) {
    /* A push while an output is ready is a mistake of its own. */
    nd_stream_skip (stream);
    if (nd_stream_push (stream, &volume, &error) || !is_refused (error))
      _exit (1);
    _exit (0);
  }
  expect_child (child);
  child = fork ();
  if (child == 0) {
    if (nd_stream_take (stream, &out, &error) || !is_refused (error))
      _exit (1);
    nd_stream_free (stream);
    _exit (0);
  }
  expect_child (child);
  /* The parent's goes on. */
  g_assert_true (nd_stream_take (stream, &out, &error));
  g_assert_true (nd_stream_push (stream, &volume, &error));
  g_assert_no_error (error);
}

static void
fork_in_progress (gsize done, gsize total, gpointer data)
{
  pid_t *child = data;

  if (done == 1)
    *child = fork ();
}

/* A child that is forked in a progress function cannot go on. */
static void
test_progress (void)
{
  g_autofree gfloat *output = g_malloc (sizeof (input));
  g_autoptr (NdFilters) filters =
      nd_filters_new ("box,size=3", NULL, NULL, NULL);
  g_autoptr (GError) error = NULL;
  pid_t child = -1;
  const NdWatch watch = { NULL, fork_in_progress, &child };
  NdArray in, out;
  gboolean ok;

  nd_array_init (&in, input, "float32", 1, size);
  nd_array_init (&out, output, "float32", 1, size);
  ok = nd_convolve (filters, NULL, &in, &out, &watch, &error);
  if (child == 0)
    _exit (!ok && is_refused (error) ? 0 : 1);
  expect_child (child);
  g_assert_no_error (error);
  g_assert_true (ok);
}

static int
use_recordings (NdRecordingReader *reader, NdRecordingWriter *writer,
    gfloat *volume)
{
  g_autoptr (GError) error = NULL;

  if (nd_recording_reader_read (reader, 1, volume, &error)
      || !is_refused (error))
    return 1;
  g_clear_error (&error);
  if (nd_recording_writer_write (writer, volume, &error) || !is_refused (error))
    return 2;
  g_clear_error (&error);
  if (nd_recording_writer_finish (writer, &error) || !is_refused (error))
    return 3;
  nd_recording_writer_free (writer);
  nd_recording_reader_free (reader);
  return 0;
}

static NdRecordingWriter *
new_writer (const gchar *path, NdArray *volumes)
{
  g_autoptr (GError) error = NULL;
  NdRecordingWriter *writer =
      nd_recording_writer_new (path, volumes, NULL, FALSE, &error);

  g_assert_no_error (error);
  return writer;
}

static void
test_recordings (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-test-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "a.npy", NULL);
  g_autofree gchar *other = g_build_filename (folder, "b.npy", NULL);
  g_autofree gfloat *volume = g_malloc (sizeof (input) / 4);
  g_autoptr (NdRecordingWriter) writer = NULL;
  g_autoptr (NdRecordingReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  NdArray volumes;
  pid_t child;

  nd_array_init (&volumes, NULL, "float32", 1, size);
  writer = new_writer (path, &volumes);
  for (guint t = 0; t < size[3]; t++)
    g_assert_true (nd_recording_writer_write (writer,
        input + t * size[0] * size[1] * size[2], &error));
  g_assert_true (nd_recording_writer_finish (writer, &error));
  g_clear_pointer (&writer, nd_recording_writer_free);

  reader = nd_recording_reader_new (path, NULL, 0, 0, FALSE, &error);
  g_assert_no_error (error);
  writer = new_writer (other, &volumes);
  child = fork ();
  if (child == 0)
    _exit (use_recordings (reader, writer, volume));
  expect_child (child);
  for (guint t = 0; t < size[3]; t++) {
    g_assert_true (nd_recording_reader_read (reader, t, volume, &error));
    g_assert_cmpmem (volume, sizeof (input) / 4,
        input + t * size[0] * size[1] * size[2], sizeof (input) / 4);
    g_assert_true (nd_recording_writer_write (writer, volume, &error));
  }
  g_assert_true (nd_recording_writer_finish (writer, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_remove (other), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (input); i++)
    input[i] = g_test_rand_double ();
  g_test_add_func ("/fork/stream", test_stream);
  g_test_add_func ("/fork/progress", test_progress);
  g_test_add_func ("/fork/recordings", test_recordings);
  g_test_add_func ("/fork/at-work", test_at_work);
  return g_test_run ();
}
