/* Measures live volumes: a process sends OpenIGTLink over loopback at a fixed
 * rate, another one receives and filters.
 *
 *   ndlive [--crc] [--volumes N] [--rate R] [--size X:Y:Z] ELEMENTS
 *
 * Prints one JSON object: volumes that were sent, received, dropped and put
 * out, and percentiles of the time from the last byte that the sender gave to
 * its socket to the output of ELEMENTS, in ms. If volumes were dropped after
 * the first 20 there are no percentiles, because it is not known which output
 * belongs to which volume. --crc measures the checksum alone, in GB a second of
 * one core.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/shape.h"
#include "live/crc64.h"
#include "tests/gst/igtl.h"

#define WARM_UP 20 /* volumes that are not measured */

static gint n_volumes = 500;
static gdouble rate = 50;
static gchar *size_text;
static gboolean crc_only;

/* Shared by both processes. */
typedef struct
{
  gint64 sent[100000]; /* monotonic, us */
} Shared;
static Shared *shared;

static GstElement *source;
static gint64 *came;
static gint n_came;
static guint64 early_drops; /* volumes that were dropped during the warm-up */

static void
measure_crc (const gchar *name,
    guint64 (*crc64) (guint64 crc, gconstpointer data, gsize size))
{
  const gsize size = 8000000;
  g_autofree guint8 *data = g_malloc (size);
  guint64 crc = 0;
  clock_t begin;
  guint rounds = 0;

  for (gsize i = 0; i < size; i++)
    data[i] = i * 7;
  crc = crc64 (crc, data, size);
  begin = clock ();
  while (clock () - begin < CLOCKS_PER_SEC / 2) {
    crc = crc64 (crc, data, size);
    rounds++;
  }
  /* The sum is printed so that the compiler does not leave it out. */
  printf ("{\"crc\": \"%s\", \"gb_per_s\": %.2f, \"sum\": %u}\n", name,
      (gdouble) rounds * size * CLOCKS_PER_SEC / (clock () - begin) / 1e9,
      (guint) crc);
}

/* In the process that sends: waits until each volume is due. */
static void
send_volumes (guint port, const NdIgtlImage *image)
{
  const gsize size = nd_igtl_image_subvolume_size (image);
  g_autofree guint8 *samples = g_malloc (size);
  g_autoptr (GByteArray) message = NULL;
  GSocket *peer = igtl_connect (port);
  gint64 begin;

  for (gsize i = 0; i < size; i++)
    samples[i] = (i * 2654435761u) >> 24;
  message = make_image_message (1, image, samples, NULL, 0);
  begin = g_get_monotonic_time ();
  for (gint i = 0; i < n_volumes; i++) {
    const gint64 due = begin + (gint64) (i * G_USEC_PER_SEC / rate);
    const gint64 now = g_get_monotonic_time ();
    guint64 stamp;

    if (due > now)
      g_usleep (due - now);
    stamp = GUINT64_TO_BE (nd_igtl_time_from_ns ((guint64) g_get_real_time ()
        * GST_USECOND));
    memcpy (message->data + 34, &stamp, sizeof (stamp));
    igtl_send (peer, message->data, message->len);
    shared->sent[i] = g_get_monotonic_time ();
  }
  g_usleep (G_USEC_PER_SEC);
  g_object_unref (peer);
}

static GstPadProbeReturn
note_output (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (n_came < n_volumes)
    came[n_came++] = g_get_monotonic_time ();
  if (n_came == WARM_UP)
    early_drops = igtl_stat (source, "volumes-dropped");
  return GST_PAD_PROBE_OK;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

/* After the warm-up output n belongs to volume n + early_drops, if no volume is
 * dropped later. */
static void
print_latency (void)
{
  const gint n = n_came - WARM_UP, dropped = n_volumes - n_came;
  g_autofree gdouble *ms = NULL;

  if (n < 1 || dropped != (gint) early_drops)
    return;
  ms = g_new (gdouble, n);
  for (gint i = 0; i < n; i++)
    ms[i] = (came[i + WARM_UP] - shared->sent[i + WARM_UP + dropped]) / 1e3;
  qsort (ms, n, sizeof (gdouble), compare);
  printf (", \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"max_ms\": %.2f", ms[n / 2],
      ms[(gint) (n * 0.99)], ms[n - 1]);
}

static void
print_results (GstElement *src, gdouble seconds)
{
  printf ("{\"size\": \"%s\", \"rate\": %g, \"sent\": %d, "
          "\"received\": %" G_GUINT64_FORMAT ", \"dropped\": %" G_GUINT64_FORMAT
          ", \"put_out\": %d",
      size_text, rate, n_volumes, igtl_stat (src, "volumes-received"),
      igtl_stat (src, "volumes-dropped"), n_came);
  print_latency ();
  printf (", \"cpu_percent\": %.0f}\n",
      100 * (gdouble) clock () / CLOCKS_PER_SEC / seconds);
}

/* The element that the probe is on: the last of ELEMENTS. */
static gint
measure (const gchar *elements, const NdIgtlImage *image)
{
  int ports[2];
  guint port;
  pid_t child;
  GstElement *pipeline, *src, *sink;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = NULL;
  gint64 begin;

  shared = mmap (NULL, sizeof (Shared), PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || pipe (ports) != 0)
    return 1;
  child = fork ();
  if (child == 0) {
    /* So that this process ends if the other one fails. */
    close (ports[1]);
    if (read (ports[0], &port, sizeof (port)) == sizeof (port))
      send_volumes (port, image);
    _exit (0);
  }
  gst_init (NULL, NULL);
  text = g_strdup_printf ("openigtlinksrc name=src mode=server port=0 "
                          "host=127.0.0.1 ! %s ! fakesink name=sink sync=false",
      elements);
  pipeline = gst_parse_launch (text, &error);
  if (error) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  source = src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_output, NULL, NULL);
  came = g_new0 (gint64, n_volumes);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  port = igtl_port (src);
  begin = g_get_monotonic_time ();
  if (write (ports[1], &port, sizeof (port)) != sizeof (port))
    return 1;
  waitpid (child, NULL, 0);
  print_results (src,
      (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (came);
  return 0;
}

int
main (int argc, char **argv)
{
  const GOptionEntry entries[] = { { "crc", 0, 0, G_OPTION_ARG_NONE, &crc_only,
                                       "The checksum alone", NULL },
    { "volumes", 0, 0, G_OPTION_ARG_INT, &n_volumes, "How many", "N" },
    { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &rate, "Volumes a second", "R" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &size_text, "Of uint8", "X:Y:Z" },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("ELEMENTS");
  g_autoptr (GError) error = NULL;
  gsize size[3];
  NdIgtlImage image;

  size_text = g_strdup ("128:128:128");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 2;
  }
  if (crc_only) {
    measure_crc ("tables", nd_crc64_tables);
    if (nd_crc64_has_carryless ())
      measure_crc ("carry-less", nd_crc64_carryless);
    return 0;
  }
  if (nd_parse_sizes (size_text, size, 3) != 3 || argc != 2 || n_volumes < 1
      || n_volumes > (gint) G_N_ELEMENTS (shared->sent)) {
    fprintf (stderr, "see the first lines of ndlive.c\n");
    return 2;
  }
  image = make_image (size[0], size[1], size[2], 1, ND_IGTL_UINT8);
  return measure (argv[1], &image);
}
