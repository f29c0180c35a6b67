/* Small messages as fields, and the fields as the same messages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/fields.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "live/bytes.h"
#include "live/tracking.h"

typedef struct
{
  GPtrArray *texts; /* key, value, key, value */
  GArray *fields;   /* NdIgtlField */
} Collected;

static void
collect (const gchar *key, const gchar *value, gpointer user_data)
{
  Collected *collected = user_data;
  const NdIgtlField field = { g_strdup (key), g_strdup (value) };

  g_array_append_val (collected->fields, field);
  g_ptr_array_add (collected->texts, (gpointer) field.key);
  g_ptr_array_add (collected->texts, (gpointer) field.value);
}

static void
collected_init (Collected *collected)
{
  collected->texts = g_ptr_array_new_with_free_func (g_free);
  collected->fields = g_array_new (FALSE, FALSE, sizeof (NdIgtlField));
}

static void
collected_clear (Collected *collected)
{
  g_ptr_array_unref (collected->texts);
  g_array_unref (collected->fields);
}

static void
note (const gchar *type, const gchar *device, const GByteArray *content,
    gpointer user_data)
{
  g_autoptr (GString) hex = g_string_new (NULL);

  for (guint i = 0; i < content->len; i++)
    g_string_append_printf (hex, "%02x", content->data[i]);
  g_string_append_printf (user_data, "%s %s %s\n", type, device, hex->str);
}

static gchar *
to_messages (const Collected *collected, guint unused)
{
  GString *text = g_string_new (NULL);
  const guint n = collected->fields->len;
  g_autofree gboolean *used = g_new (gboolean, n + 1);

  nd_igtl_from_fields ((const NdIgtlField *) collected->fields->data, n, used,
      note, text);
  for (guint i = 0; i < n; i++)
    unused -= !used[i];
  g_assert_cmpuint (unused, ==, 0);
  return g_string_free (text, FALSE);
}

/* A message made from the fields of a message is the same message. */
static void
check_same (const gchar *type, const gchar *device, const GByteArray *content,
    const gchar *key, const gchar *value)
{
  NdIgtlHeader header = { .version = 1 };
  g_autoptr (GString) right = g_string_new (NULL);
  g_autofree gchar *messages = NULL;
  g_autoptr (GError) error = NULL;
  Collected collected;
  gboolean found = key == NULL;

  collected_init (&collected);
  g_strlcpy (header.type, type, sizeof (header.type));
  g_strlcpy (header.device, device, sizeof (header.device));
  g_assert_true (nd_igtl_to_fields (&header, content->data, content->len,
      collect, &collected, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < collected.fields->len; i++) {
    const NdIgtlField *field =
        &g_array_index (collected.fields, NdIgtlField, i);

    if (g_strcmp0 (field->key, key) == 0) {
      g_assert_cmpstr (field->value, ==, value);
      found = TRUE;
    }
  }
  g_assert_true (found);
  note (type, device, content, right);
  messages = to_messages (&collected, 0);
  g_assert_cmpstr (messages, ==, right->str);
  collected_clear (&collected);
}

static void
test_transform (void)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  for (guint i = 1; i <= 12; i++)
    nd_put_f32 (content, i);
  check_same ("TRANSFORM", "ProbeToTracker", content, "ProbeToTrackerTransform",
      "1 4 7 10 2 5 8 11 3 6 9 12 0 0 0 1");
  g_byte_array_set_size (content, 0);
  for (guint i = 0; i < 12; i++)
    nd_put_f32 (content, g_test_rand_double_range (-1e6, 1e6) / 3);
  check_same ("TRANSFORM", "", content, NULL, NULL);
}

static void
test_position (void)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  for (guint i = 1; i <= 7; i++)
    nd_put_f32 (content, i / 8.0);
  check_same ("POSITION", "Tip", content, "TipPosition",
      "0.125 0.25 0.375 0.5 0.625 0.75 0.875");
}

static void
test_tools (void)
{
  NdIgtlTool tools[3] = { { .name = "Stylus tip", .type = 3 },
    { .name = "A:1", .type = 1 }, { .name = "ÄÖÜ%20", .type = 4 } };
  g_autoptr (GByteArray) tdata = g_byte_array_new ();
  g_autoptr (GByteArray) qtdata = g_byte_array_new ();

  for (guint i = 0; i < 3; i++) {
    for (guint k = 0; k < 12; k++)
      tools[i].matrix[k] = i + k / 3.0f;
    for (guint k = 0; k < 7; k++)
      tools[i].pose[k] = i - k / 7.0f;
  }
  nd_igtl_tracking_build ("TDATA", tools, 3, tdata);
  nd_igtl_tracking_build ("QTDATA", tools, 3, qtdata);
  g_assert_cmpuint (tdata->len, ==, 3 * 70);
  g_assert_cmpuint (qtdata->len, ==, 3 * 50);
  check_same ("TDATA", "Tracker", tdata, "Stylus tipTransformStatus", "OK");
  check_same ("QTDATA", "Tracker", qtdata, NULL, NULL);
}

static void
test_reports (void)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_put_u16 (content, 13);
  nd_put_u64 (content, (guint64) -5);
  nd_put_text (content, "not ready", 20);
  g_byte_array_append (content, (const guint8 *) "starting up", 12);
  check_same ("STATUS", "Device", content, "DeviceStatus",
      "13 -5 not%20ready starting up");

  g_byte_array_set_size (content, 0);
  nd_put_u16 (content, ND_IGTL_ASCII);
  nd_put_u16 (content, 5);
  g_byte_array_append (content, (const guint8 *) "hello", 5);
  check_same ("STRING", "Note", content, "NoteString", "hello");

  g_byte_array_set_size (content, 0);
  nd_put_u8 (content, 2);
  nd_put_u8 (content, 1);
  nd_put_u64 (content, G_MAXUINT64);
  nd_put_f64 (content, 0.1);
  nd_put_f64 (content, -1e300);
  check_same ("SENSOR", "Force", content, NULL, NULL);
}

/* A text goes on in UTF-8. */
static void
test_charset (void)
{
  static const guint8 latin1[] = { 0, ND_IGTL_LATIN1, 0, 2, 0xfc, 0xdf };
  const NdIgtlHeader header = { .version = 1, .type = "STRING", .device = "N" };
  g_autofree gchar *messages = NULL;
  Collected collected;

  collected_init (&collected);
  g_assert_true (nd_igtl_to_fields (&header, latin1, sizeof (latin1), collect,
      &collected, NULL));
  messages = to_messages (&collected, 0);
  g_assert_cmpstr (messages, ==, "STRING N 006a0004c3bcc39f\n");
  collected_clear (&collected);
}

/* Contents of every size, full of anything. */
static void
test_any_content (void)
{
  static const gchar *const types[] = { "TRANSFORM", "POSITION", "TDATA",
    "QTDATA", "STATUS", "STRING", "SENSOR" };

  for (guint round = 0; round < 20000; round++) {
    NdIgtlHeader header = { .version = 1, .device = "D" };
    const gsize size = g_test_rand_int_range (0, 160);
    g_autofree guint8 *content = g_malloc (size);
    g_autoptr (GError) error = NULL;
    g_autofree gchar *messages = NULL;
    Collected collected;

    collected_init (&collected);
    strcpy (header.type, types[round % G_N_ELEMENTS (types)]);
    for (gsize i = 0; i < size; i++)
      content[i] = g_test_rand_int_range (0, 256);
    if (!nd_igtl_to_fields (&header, content, size, collect, &collected,
            &error))
      g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
    else
      g_assert_no_error (error);
    for (guint i = 0; i < collected.texts->len; i++)
      g_assert_true (g_utf8_validate (collected.texts->pdata[i], -1, NULL));
    collected_clear (&collected);
  }
}

static void
test_not_finite (void)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 12; i++)
    nd_put_f32 (content, i == 5 ? NAN : 1);
  g_assert_null (nd_igtl_tracking_parse ("TRANSFORM", content->data,
      content->len, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "finite"));
}

/* Fields of a recording that are no messages, or that must not be sent. */
static void
test_other_fields (void)
{
  static const NdIgtlField fields[] = { { "ProbeTransform", "1 2 3" },
    { "FrameNumber", "17" }, { ND_IGTL_MATRIX_KEY, "anything" },
    { "ToolTransform", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 " },
    { "ToolTransformStatus", "INVALID" } };
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean used[G_N_ELEMENTS (fields)];

  nd_igtl_from_fields (fields, G_N_ELEMENTS (fields), used, note, text);
  g_assert_cmpstr (text->str, ==, "");
  g_assert_false (used[0]);
  g_assert_false (used[1]);
  g_assert_true (used[2]);
  g_assert_true (used[3]);
  g_assert_true (used[4]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fields/transform", test_transform);
  g_test_add_func ("/fields/position", test_position);
  g_test_add_func ("/fields/tools", test_tools);
  g_test_add_func ("/fields/reports", test_reports);
  g_test_add_func ("/fields/charset", test_charset);
  g_test_add_func ("/fields/any-content", test_any_content);
  g_test_add_func ("/fields/not-finite", test_not_finite);
  g_test_add_func ("/fields/other-fields", test_other_fields);
  return g_test_run ();
}
