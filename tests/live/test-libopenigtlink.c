/* Our messages against those of the reference library, byte for byte.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <string.h>

#include "live/bytes.h"
#include "live/fields.h"
#include "live/message.h"
#include "live/tracking.h"
#include "tests/live/messages.h"

#include <igtl_capability.h>
#include <igtl_header.h>
#include <igtl_image.h>
#include <igtl_position.h>
#include <igtl_qtdata.h>
#include <igtl_sensor.h>
#include <igtl_string.h>
#include <igtl_tdata.h>
#include <igtl_transform.h>
#include <igtl_util.h>

static guint64
reference_crc (gconstpointer data, gsize size)
{
  return crc64 ((unsigned char *) data, size, crc64 (NULL, 0, 0));
}

/* @ours has this type, device "Probe" and @body, which the library made. */
static void
check (const GByteArray *ours, const gchar *type, gconstpointer body,
    gsize size)
{
  igtl_header header = { 0 };

  header.version = 1;
  memcpy (header.name, type, strlen (type));
  memcpy (header.device_name, "Probe", 5);
  header.timestamp =
      nd_igtl_time_from_ns (G_GUINT64_CONSTANT (1234567890123456789));
  header.body_size = size;
  header.crc = reference_crc (body, size);
  igtl_header_convert_byte_order (&header);
  g_assert_cmpmem (ours->data, ND_IGTL_HEADER_SIZE, &header, sizeof (header));
  g_assert_cmpmem (ours->data + ND_IGTL_HEADER_SIZE,
      ours->len - ND_IGTL_HEADER_SIZE, body, size);
}

static void
test_image (void)
{
  static const NdIgtlScalar scalars[] = { ND_IGTL_INT8, ND_IGTL_UINT8,
    ND_IGTL_INT16, ND_IGTL_UINT16, ND_IGTL_INT32, ND_IGTL_UINT32,
    ND_IGTL_FLOAT32, ND_IGTL_FLOAT64 };

  for (guint i = 0; i < 16; i++) {
    NdIgtlImage image = make_image (7, 5, 3, 1 + i % 3, scalars[i / 2]);
    gfloat spacing[3] = { 0.5, 2, 3 }, origin[3] = { 10, -20, 30 };
    gfloat x[3] = { 0, 1, 0 }, y[3] = { 1, 0, 0 }, z[3] = { 0, 0, -1 };
    gfloat s[3], o[3], a[3], b[3], c[3];
    gsize size;
    g_autofree guint8 *body = NULL;
    g_autoptr (GByteArray) ours = NULL;
    igtl_image_header *header;

    image.big_endian = i % 2;
    image.coordinates = i % 2 ? ND_IGTL_LPS : ND_IGTL_RAS;
    size = nd_igtl_image_subvolume_size (&image);
    body = g_malloc (ND_IGTL_IMAGE_SIZE + size);
    for (gsize k = 0; k < size; k++)
      body[ND_IGTL_IMAGE_SIZE + k] = g_test_rand_int_range (0, 256);
    header = (igtl_image_header *) body;
    memset (header, 0, sizeof (*header));
    header->version = 1;
    header->num_components = image.components;
    header->scalar_type = image.scalar;
    header->endian = i % 2 ? IGTL_IMAGE_ENDIAN_BIG : IGTL_IMAGE_ENDIAN_LITTLE;
    header->coord = i % 2 ? IGTL_IMAGE_COORD_LPS : IGTL_IMAGE_COORD_RAS;
    for (guint k = 0; k < 3; k++)
      header->size[k] = header->subvol_size[k] = image.size[k];
    igtl_image_set_matrix (spacing, origin, x, y, z, header);
    igtl_image_get_matrix (s, o, a, b, c, header);
    for (guint k = 0; k < 3; k++) {
      image.matrix[k] = x[k] * spacing[0];
      image.matrix[3 + k] = y[k] * spacing[1];
      image.matrix[6 + k] = z[k] * spacing[2];
      image.matrix[9 + k] = origin[k];
      g_assert_cmpfloat (s[k], ==, spacing[k]);
    }
    igtl_image_convert_byte_order (header);
    ours = make_image_message (1, &image, body + ND_IGTL_IMAGE_SIZE, NULL, 0);
    check (ours, "IMAGE", body, ND_IGTL_IMAGE_SIZE + size);
  }
}

static GByteArray *
message_of (const gchar *type, const NdIgtlTool *tools, guint n)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  nd_igtl_tracking_build (type, tools, n, content);
  return make_message (1, type, "Probe", content, NULL, 0, NULL, 0);
}

static void
test_tracking (void)
{
  NdIgtlTool tools[2] = { { .name = "Stylus", .type = 2 },
    { .name = "01234567890123456789", .type = 4 } };
  igtl_tdata_element tdata[2] = { 0 };
  igtl_qtdata_element qtdata[2] = { 0 };
  igtl_float32 transform[12];
  igtl_position position;
  g_autoptr (GByteArray) ours = NULL;

  for (guint i = 0; i < 2; i++) {
    for (guint k = 0; k < 12; k++)
      tools[i].matrix[k] = tdata[i].transform[k] =
          g_test_rand_double_range (-1000, 1000);
    for (guint k = 0; k < 7; k++)
      tools[i].pose[k] = g_test_rand_double_range (-1, 1);
    memcpy (qtdata[i].position, tools[i].pose, 12);
    memcpy (qtdata[i].quaternion, tools[i].pose + 3, 16);
    memcpy (tdata[i].name, tools[i].name, strlen (tools[i].name));
    memcpy (qtdata[i].name, tools[i].name, strlen (tools[i].name));
    tdata[i].type = qtdata[i].type = tools[i].type;
  }
  igtl_tdata_convert_byte_order (tdata, 2);
  ours = message_of ("TDATA", tools, 2);
  check (ours, "TDATA", tdata, sizeof (tdata));
  g_byte_array_unref (ours);

  igtl_qtdata_convert_byte_order (qtdata, 2);
  ours = message_of ("QTDATA", tools, 2);
  check (ours, "QTDATA", qtdata, sizeof (qtdata));
  g_byte_array_unref (ours);

  memcpy (transform, tools[0].matrix, sizeof (transform));
  igtl_transform_convert_byte_order (transform);
  ours = message_of ("TRANSFORM", tools, 1);
  check (ours, "TRANSFORM", transform, sizeof (transform));
  g_byte_array_unref (ours);

  memcpy (position.position, tools[0].pose, 12);
  memcpy (position.quaternion, tools[0].pose + 3, 16);
  igtl_position_convert_byte_order (&position);
  ours = message_of ("POSITION", tools, 1);
  check (ours, "POSITION", &position, sizeof (position));
}

static void
take_content (const gchar *type, const gchar *device, const GByteArray *content,
    gpointer user_data)
{
  GByteArray **to = user_data;

  g_assert_null (*to);
  *to = make_message (1, type, device, content, NULL, 0, NULL, 0);
}

static void
test_string_and_sensor (void)
{
  const NdIgtlField fields[] = { { "ProbeString", "hello" },
    { "ProbeSensor", "0 5 0.5 -2" } };
  gboolean used;
  struct
  {
    igtl_string_header header;
    gchar text[5];
  } __attribute__ ((packed)) string = { { 3, 5 }, "" };
  struct
  {
    igtl_sensor_header header;
    igtl_float64 values[2];
  } __attribute__ ((packed)) sensor = { { 2, 0, 5 }, { 0.5, -2 } };
  igtl_float64 values[2] = { 0.5, -2 };
  GByteArray *ours = NULL;

  memcpy (string.text, "hello", 5);
  igtl_string_convert_byte_order (&string.header);
  nd_igtl_from_fields (&fields[0], 1, &used, take_content, &ours);
  check (ours, "STRING", &string, sizeof (string));
  g_clear_pointer (&ours, g_byte_array_unref);

  igtl_sensor_convert_byte_order (&sensor.header, values);
  memcpy (sensor.values, values, sizeof (values));
  nd_igtl_from_fields (&fields[1], 1, &used, take_content, &ours);
  check (ours, "SENSOR", &sensor, sizeof (sensor));
  g_byte_array_unref (ours);
}

/* igtl_capability_alloc_info() allocates too little for several names, and
 * igtl_capability_unpack() uses it. Therefore the names are ours. */
static void
test_capability (void)
{
  static const gchar *const types[] = { "IMAGE", "GET_CAPABIL", "012345678901",
    NULL };
  unsigned char names[3][IGTL_HEADER_NAME_SIZE + 1] = { 0 };
  unsigned char *list[3] = { names[0], names[1], names[2] };
  igtl_capability_info info = { 3, list };
  g_autoptr (GByteArray) content = g_byte_array_new (), ours = NULL;
  const gsize size = igtl_capability_get_length (&info);
  g_autofree guint8 *body = g_malloc0 (size);

  for (guint i = 0; i < 3; i++)
    memcpy (names[i], types[i], strlen (types[i]));
  g_assert_true (igtl_capability_pack (&info, body));
  nd_igtl_capability_build (types, content);
  ours = make_message (1, "CAPABILITY", "Probe", content, NULL, 0, NULL, 0);
  check (ours, "CAPABILITY", body, size);
  for (guint i = 0; i < 3; i++)
    g_assert_true (nd_igtl_capability_has (body, size, types[i]));
  g_assert_false (nd_igtl_capability_has (body, size, "STT_IMAGE"));
}

/* In igtlstatus.cpp. */
size_t pack_status (int code, long subcode, const char *name, const char *text,
    void *body);

static void
test_status (void)
{
  const NdIgtlField field = { "ProbeStatus", "13 -7 NOT%20READY it is cold" };
  g_autoptr (GByteArray) content = g_byte_array_new (), ours = NULL;
  GByteArray *of_field = NULL;
  guint8 body[256];
  gboolean used;

  nd_igtl_status_build (content);
  ours = make_message (1, "STATUS", "Probe", content, NULL, 0, NULL, 0);
  check (ours, "STATUS", body, pack_status (1, 0, "OK", "", body));

  nd_igtl_from_fields (&field, 1, &used, take_content, &of_field);
  check (of_field, "STATUS", body,
      pack_status (13, -7, "NOT READY", "it is cold", body));
  g_byte_array_unref (of_field);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/libopenigtlink/image", test_image);
  g_test_add_func ("/libopenigtlink/tracking", test_tracking);
  g_test_add_func ("/libopenigtlink/string-and-sensor", test_string_and_sensor);
  g_test_add_func ("/libopenigtlink/capability", test_capability);
  g_test_add_func ("/libopenigtlink/status", test_status);
  return g_test_run ();
}
