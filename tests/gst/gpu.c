/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <fcntl.h>
#include <gmodule.h>
#include <gst/app/app.h>
#include <gst/video/video.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From the driver's header: the tests need no toolkit. */
static struct
{
  gint (*init) (guint);
  gint (*count) (gint *);
  gint (*retain) (gpointer *, gint);
  gint (*push) (gpointer);
  gint (*pop) (gpointer *);
  gint (*current) (gpointer *);
  gint (*info) (gsize *, gsize *);
  gint (*load) (gpointer *, const void *);
  gint (*function) (gpointer *, gpointer, const gchar *);
  gint (*launch) (gpointer, guint, guint, guint, guint, guint, guint, guint,
      gpointer, gpointer *, gpointer *);
  gint (*wait) (void);
  gint (*set) (gpointer, guint8, gsize, gpointer);
} driver;

static gint devices;
static gboolean driver_is_double;

static gboolean
open_driver (void)
{
  GModule *module = g_module_open ("libcuda.so.1", 0);
  const struct
  {
    const gchar *name;
    gpointer function;
  } symbols[] = {
    { "cuInit", &driver.init },
    { "cuDeviceGetCount", &driver.count },
    { "cuDevicePrimaryCtxRetain", &driver.retain },
    { "cuCtxPushCurrent_v2", &driver.push },
    { "cuCtxPopCurrent_v2", &driver.pop },
    { "cuCtxGetCurrent", &driver.current },
    { "cuMemGetInfo_v2", &driver.info },
    { "cuModuleLoadData", &driver.load },
    { "cuModuleGetFunction", &driver.function },
    { "cuLaunchKernel", &driver.launch },
    { "cuCtxSynchronize", &driver.wait },
    { "cuMemsetD8Async", &driver.set },
  };

  for (guint i = 0; module && i < G_N_ELEMENTS (symbols); i++)
    g_assert_true (g_module_symbol (module, symbols[i].name,
        (gpointer *) symbols[i].function));
  driver_is_double =
      module && g_module_symbol (module, "driver_double", &(gpointer){ NULL });
  return module && driver.init (0) == 0 && driver.count (&devices) == 0
      && devices > 0;
}

/* Functions of the device double: the number of allocated blocks, how often the
 * driver was asked for the device, and ways to lose the device, at once or at
 * the next allocation. */
static gint (*double_blocks) (void);
static gint (*double_starts) (void);
static void (*double_lose) (void);
static void (*double_lose_at_memory) (void);
static void (*double_refuse_scenes) (gboolean);

static gboolean
open_double (const gchar *path)
{
  GModule *module = path ? g_module_open (path, 0) : NULL;

  return module
      && g_module_symbol (module, "device_double_blocks",
          (gpointer *) &double_blocks)
      && g_module_symbol (module, "device_double_starts",
          (gpointer *) &double_starts)
      && g_module_symbol (module, "device_double_lose",
          (gpointer *) &double_lose)
      && g_module_symbol (module, "device_double_lose_at_memory",
          (gpointer *) &double_lose_at_memory)
      && g_module_symbol (module, "device_double_refuse_scenes",
          (gpointer *) &double_refuse_scenes);
}

gboolean
gpu_is_double (void)
{
  return double_blocks != NULL;
}

gint
gpu_starts (void)
{
  return double_starts ? double_starts () : -1;
}

gboolean
gpu_is_checked (void)
{
  return g_getenv ("NV_SANITIZER_INJECTION_PORT_BASE") != NULL;
}

gboolean
gpu_has_elements (void)
{
  return !double_blocks || driver_is_double;
}

/* The exit status if fewer than @there GPUs are present. */
static int
skip (gint there, gint wanted)
{
  /* /dev may have a node without a driver; it cannot be opened then. */
  const gboolean unusable =
      there == 0 && open ("/dev/nvidiactl", O_RDONLY) >= 0;

  g_print ("%d GPUs found, %d needed: %s\n", there, wanted,
      unusable ? "a driver is present but does not work" : "skipped");
  return unusable ? 1 : 77;
}

int
gpu_main (int argc, char **argv, Suite *(*suite) (void) )
{
  gint failures;

  if (!open_driver () & !open_double (g_getenv ("NDCONV_CUDA_MODULE")))
    return skip (devices, 1);
  g_setenv ("CK_FORK", "no", TRUE);
  gst_check_init (&argc, &argv);
  failures = gst_check_run_suite (suite (), "gpu", __FILE__);
  /* Pipelines that a failed test left running would block the exit. */
  if (failures > 0) {
    fflush (NULL);
    _exit (1);
  }
  return 0;
}

int
gpu_main_with (gint wanted, int argc, char **argv, Suite *(*suite) (void) )
{
  open_driver ();
  if (devices < wanted)
    return skip (devices, wanted);
  return gpu_main (argc, argv, suite);
}

gsize
gpu_free_bytes (void)
{
  static gpointer primary;
  gsize free_bytes = 0, all;
  gpointer popped;

  /* A made-up amount of memory; each block counts more than the tests
   * tolerate. */
  if (double_blocks)
    return ((gsize) 1 << 40) - ((gsize) double_blocks () << 24);
  if (!primary)
    fail_unless_equals_int (driver.retain (&primary, 0), 0);
  driver.push (primary);
  fail_unless_equals_int (driver.info (&free_bytes, &all), 0);
  driver.pop (&popped);
  return free_bytes;
}

gsize
gpu_wait_for_bytes (gsize wanted)
{
  gsize found = gpu_free_bytes ();

  for (guint i = 0; i < 2000 && found < wanted; i++) {
    g_usleep (10000);
    found = gpu_free_bytes ();
  }
  return found;
}

gboolean
gpu_is_left (void)
{
  gpointer context = NULL;

  return !driver.current || (driver.current (&context) == 0 && !context);
}

GObject *
gpu_context_at (GstElement *element, const gchar *name)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, name);
  g_autoptr (GstQuery) query = gst_query_new_context ("gst.cuda.context");
  GstContext *context;
  GObject *object = NULL;

  if (gst_pad_query (pad, query)) {
    gst_query_parse_context (query, &context);
    object = g_value_dup_object (gst_structure_get_value (
        gst_context_get_structure (context), "gst.cuda.context"));
  }
  return object;
}

GObject *
gpu_context (GstElement *element)
{
  return gpu_context_at (element, "src");
}

gpointer
gpu_library_function (const gchar *name)
{
  GModule *library = g_module_open ("libgstcuda-1.0.so.0", 0);
  gpointer function = NULL;

  g_assert_nonnull (library);
  return g_module_symbol (library, name, &function) ? function : NULL;
}

GObject *
gpu_context_new (guint device)
{
  gboolean (*load) (void) = gpu_library_function ("gst_cuda_load_library");
  gpointer (*make) (guint) = gpu_library_function ("gst_cuda_context_new");
  GObject *context = load () ? make (device) : NULL;

  fail_unless (context != NULL);
  return context;
}

GstContext *
gpu_context_message (GObject *context)
{
  GstContext *(*wrap) (gpointer) =
      gpu_library_function ("gst_context_new_cuda_context");

  return wrap (context);
}

/* Makes @context current. */
static void
enter (GObject *context)
{
  gpointer (*get_handle) (gpointer) =
      gpu_library_function ("gst_cuda_context_get_handle");

  fail_unless_equals_int (driver.push (get_handle (context)), 0);
}

static const gchar kernels[] =
    ".version 6.4\n.target sm_75\n"
    ".address_size 64\n.visible .entry crash()\n{\n.reg .u64 %a;\n"
    ".reg .u32 %v;\nmov.u64 %a, 64;\nmov.u32 %v, 1;\nst.global.u32 [%a], %v;\n"
    "ret;\n}\n.visible .entry stop()\n{\ntrap;\nret;\n}\n"
    ".visible .entry delay()\n{\n.reg .u64 %begin, %now;\n.reg .pred %early;\n"
    "mov.u64 %begin, %globaltimer;\nagain:\nmov.u64 %now, %globaltimer;\n"
    "sub.u64 %now, %now, %begin;\nsetp.lt.u64 %early, %now, 50000000;\n"
    "@%early bra again;\nret;\n}\n";

/* Frees memory in the current context. */
static void
launch (const gchar *name, gpointer stream)
{
  gpointer module, function;

  fail_unless_equals_int (driver.load (&module, kernels), 0);
  fail_unless_equals_int (driver.function (&function, module, name), 0);
  fail_unless_equals_int (driver.launch (function, 1, 1, 1, 1, 1, 1, 0, stream,
                              NULL, NULL),
      0);
}

void
gpu_delay (GObject *context, gpointer stream)
{
  gpointer popped;

  enter (context);
  launch ("delay", stream);
  driver.pop (&popped);
}

void
gpu_write (GObject *context, gpointer stream, gpointer memory, gsize n,
    guint8 value)
{
  gpointer popped;

  enter (context);
  fail_unless_equals_int (driver.set (memory, value, n, stream), 0);
  driver.pop (&popped);
}

void
gpu_spoil (GObject *context, gboolean trap)
{
  gpointer popped;

  if (double_lose) {
    double_lose ();
    return;
  }
  enter (context);
  launch (trap ? "stop" : "crash", NULL);
  fail_unless (driver.wait () != 0);
  driver.pop (&popped);
}

void
gpu_spoil_at_memory (void)
{
  double_lose_at_memory ();
}

void
gpu_refuse_scenes (gboolean refuse)
{
  double_refuse_scenes (refuse);
}

GPtrArray *
gpu_collect (GstElement *pipeline)
{
  GPtrArray *samples =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
              300 * GST_SECOND)))
    g_ptr_array_add (samples, sample);
  /* Other sinks may still have buffers. */
  message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) error = NULL;
    g_autofree gchar *debug = NULL;

    gst_message_parse_error (message, &error, &debug);
    fail ("%s (%s)", error->message, debug);
  }
  fail_unless (gst_app_sink_is_eos (GST_APP_SINK (sink)));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return samples;
}

GPtrArray *
gpu_run (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);
  GPtrArray *samples;

  fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
  gst_object_ref_sink (pipeline);
  samples = gpu_collect (pipeline);
  gst_object_unref (pipeline);
  return samples;
}

/* The bytes of a sample, and its value. */
static guint
sample_bytes (const gchar *type)
{
  return !type                                                            ? 1
      : strcmp (type, "float64") == 0                                     ? 8
      : strcmp (type, "float32") == 0                                     ? 4
      : g_str_has_suffix (type, "16") || g_str_has_suffix (type, "16_LE") ? 2
                                                                          : 1;
}

static gdouble
sample_value (const gchar *type, const guint8 *data, gsize i)
{
  switch (sample_bytes (type)) {
    case 8:
      return ((const gdouble *) data)[i];
    case 4:
      return ((const gfloat *) data)[i];
    case 2:
      return type[0] == 'i' ? ((const gint16 *) data)[i]
                            : ((const guint16 *) data)[i];
    default:
      return data[i];
  }
}

/* The planes of a frame, or the volume, as one block without padding. */
static GByteArray *
dense (GstSample *sample)
{
  GByteArray *bytes = g_byte_array_new ();
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstVideoInfo info;
  GstVideoFrame frame;
  GstMapInfo map;

  if (!gst_structure_has_name (
          gst_caps_get_structure (gst_sample_get_caps (sample), 0),
          "video/x-raw")) {
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    g_byte_array_append (bytes, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    return bytes;
  }
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&info); p++) {
    guint c = p == 0 ? 0 : MIN (p, GST_VIDEO_INFO_N_COMPONENTS (&info) - 1);

    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (&info, c); y++)
      g_byte_array_append (bytes,
          (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, p)
              + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p),
          GST_VIDEO_INFO_COMP_WIDTH (&info, c)
              * GST_VIDEO_INFO_COMP_PSTRIDE (&info, c));
  }
  gst_video_frame_unmap (&frame);
  return bytes;
}

void
gpu_expect_equal (GPtrArray *a, GPtrArray *b, gdouble most)
{
  fail_unless_equals_int (a->len, b->len);
  fail_unless (a->len > 0);
  for (guint i = 0; i < a->len; i++) {
    const GstStructure *s =
        gst_caps_get_structure (gst_sample_get_caps (a->pdata[i]), 0);
    const gchar *type = gst_structure_get_string (s,
        gst_structure_has_name (s, "video/x-raw") ? "format" : "types");
    g_autoptr (GByteArray) x = dense (a->pdata[i]);
    g_autoptr (GByteArray) y = dense (b->pdata[i]);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (a->pdata
                                                                          [i])),
        GST_BUFFER_PTS (gst_sample_get_buffer (b->pdata[i])));
    fail_unless_equals_int (x->len, y->len);
    for (gsize k = 0; k < x->len / sample_bytes (type); k++) {
      gdouble p = sample_value (type, x->data, k);
      gdouble q = sample_value (type, y->data, k);

      /* fail_unless() is slow even if nothing fails. */
      if (!(fabs (p - q) <= most))
        fail ("%s, output %u, sample %zu: %g and %g", type, i, k, p, q);
    }
  }
}

gchar *
gpu_text (const gchar *format, const gchar *name)
{
  g_auto (GStrv) parts = g_strsplit (format, "BACKEND", -1);

  return g_strjoinv (name, parts);
}

void
gpu_compare (const gchar *format, gdouble most)
{
  g_autofree gchar *gpu = gpu_text (format, "cuda");
  g_autofree gchar *cpu = gpu_text (format, "cpu");
  g_autoptr (GPtrArray) a = gpu_run (gpu), b = gpu_run (cpu);

  gpu_expect_equal (a, b, most);
  fail_unless (gpu_is_left ());
}

void
gpu_pause (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              300 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
}

void
gpu_expect_device (GstElement *pipeline, const gchar *name,
    const gchar *pad_name)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, pad_name);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  g_autofree gchar *text = caps ? gst_caps_to_string (caps) : NULL;

  fail_unless (caps
          && gst_caps_features_contains (gst_caps_get_features (caps, 0),
              "memory:CUDAMemory"),
      "%s.%s: %s", name, pad_name, text);
}
