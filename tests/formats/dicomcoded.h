/* Compressed frames of 4 x 2 pixels, in Base64, made with Python's imagecodecs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/formats/dicomfile.h"

static const struct
{
  const gchar *syntax;
  DicomPicture picture;
  gdouble values[24];
  const gchar *base64;
} dicom_coded[] = {
  { "1.2.840.10008.1.2.4.50", { "MONOCHROME2", 1, 0, 8, 0, 0, 0 },
      { 100, 100, 100, 100, 100, 100, 100, 100 },
      "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBw"
      "YIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/wAALCAACAAQB"
      "AREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAw"
      "UFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcY"
      "GRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhI"
      "WGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ"
      "2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APNK/9k=" },
  { "1.2.840.10008.1.2.4.50", { "YBR_FULL_422", 3, 0, 8, 0, 0, 0 },
      { 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50,
          200, 100, 50, 200, 100, 50, 200, 100, 50 },
      "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ"
      "EBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/2wBDAQEBAQEB"
      "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ"
      "EBAQEBAQEBAQH/wAARCAACAAQDASEAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAA"
      "AAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
      "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpT"
      "VFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqr"
      "KztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA"
      "HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQ"
      "J3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
      "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiI"
      "mKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk"
      "5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDn6K/yvP8AbA//2Q==" },
  { "1.2.840.10008.1.2.4.80", { "MONOCHROME2", 1, 0, 8, 0, 0, 0 },
      { 3, 50, 100, 200, 7, 60, 255, 0 },
      "/9j/6AAgU1BJRkYAAgAAAQAAAAIAAAAECggGAQAAASwAAAEs/+gACAAAAAH/2P/3AA"
      "sIAAIABAEBEQD/2gAIAQEAAAAAKAAACuAAAAsQEpAQAAAHIwD/2Q==" },
  { "1.2.840.10008.1.2.4.80", { "MONOCHROME2", 1, 0, 16, 0, 0, 0 },
      { 3, 50, 1000, 40000, 7, 600, 65535, 0 },
      "/9j/6AAgU1BJRkYAAgAAAQAAAAIAAAAEChAGAQAAASwAAAEs/+gACAAAAAH/2P/3AA"
      "sQAAIABAEBEQD/+AANAf//ABIAQwEUAED/2gAIAQEAAAAAQFi67WAAAAAAADnp8CET"
      "H0YBAP/Z" },
  { "1.2.840.10008.1.2.4.90", { "MONOCHROME2", 1, 0, 8, 0, 0, 0 },
      { 3, 50, 100, 200, 7, 60, 255, 0 },
      "/0//UQApAAAAAAAEAAAAAgAAAAAAAAAAAAAABAAAAAIAAAAAAAAAAAABBwEB/1IADA"
      "AAAAEAAAQEAAH/XAAEQED/ZAAlAAFDcmVhdGVkIGJ5IE9wZW5KUEVHIHZlcnNpb24g"
      "Mi41LjT/kAAKAAAAAAAcAAH/k9+AWBi4vshjHT9nwyQ//9k=" },
  { "1.2.840.10008.1.2.4.90", { "MONOCHROME2", 1, 0, 16, 0, 0, 0 },
      { 3, 50, 1000, 40000, 7, 600, 65535, 0 },
      "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAA"
      "AAAgAAAAQAAQ8HAAAAAAAPY29scgEAAAAAABEAAACWanAyY/9P/1EAKQAAAAAABAAA"
      "AAIAAAAAAAAAAAAAAAQAAAACAAAAAAAAAAAAAQ8BAf9SAAwAAAABAAAEBAAB/1wABE"
      "CA/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAA"
      "JAAB/5Pf+JCQGHtmhpVEAlLnoNcL4aUyx4ev/9k=" },
  { "1.2.840.10008.1.2.4.90", { "YBR_RCT", 3, 0, 8, 0, 0, 0 },
      { 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50,
          200, 100, 50, 200, 100, 50, 200, 100, 50 },
      "/0//UQAvAAAAAAAEAAAAAgAAAAAAAAAAAAAABAAAAAIAAAAAAAAAAAADBwEBBwEBBw"
      "EB/1IADAAAAAEBAAQEAAH/XAAEQED/ZAAlAAFDcmVhdGVkIGJ5IE9wZW5KUEVHIHZl"
      "cnNpb24gMi41LjT/kAAKAAAAAAAmAAH/k8PnBgiQr8fUDAiQAoy7b8+0GAHX7oy7d/"
      "/Z" },
};

/* Two frames, of which each is a fragment, or @n bytes of it. */
static inline DicomFile
dicom_coded_file (guint row, gsize n)
{
  DicomFile file = dicom_new (dicom_coded[row].syntax);
  gsize size;
  g_autofree guchar *bytes = g_base64_decode (dicom_coded[row].base64, &size);
  const gsize used = MIN (n, size);

  dicom_text (&file, 0x00181063, "DS", "50");
  dicom_picture (&file, &dicom_coded[row].picture);
  dicom_text (&file, 0x00280008, "IS", "2");
  dicom_head (&file, 0x7fe00010, "OB", UNKNOWN_LENGTH);
  dicom_head (&file, 0xfffee000, "", 0);
  for (guint f = 0; f < 2; f++) {
    dicom_head (&file, 0xfffee000, "", used + used % 2);
    g_byte_array_append (file.bytes, bytes, used);
    g_byte_array_append (file.bytes, (const guint8 *) "", used % 2);
  }
  dicom_end (&file);
  return file;
}
