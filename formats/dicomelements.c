/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomelements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PREAMBLE 132
#define UNDEFINED 0xffffffff

/* Frames take more memory than an empty item; a real one has as many bytes. */
#define FRAMES_FREE (1 << 16)
#define FRAME_LEAST 40

#define DEPTH_MAX 16
#define ELEMENTS_MAX (1 << 24)
#define NUMBERS_MAX 65536
#define NUMBER_TEXT 17 /* with its separator */
#define INFLATED_STEP (1 << 20)

#define DEFLATED "1.2.840.10008.1.2.1.99"
#define BIG_ENDIAN_SYNTAX "1.2.840.10008.1.2.2"

#define ITEM 0xfffee000
#define ITEM_END 0xfffee00d
#define SEQUENCE_END 0xfffee0dd

#define SHARED_GROUPS 0x52009229
#define FRAME_GROUPS 0x52009230
#define REGIONS 0x00186011

/* Units of a region's distances. */
#define CENTIMETRES 3

typedef enum
{
  SCOPE_TOP,
  SCOPE_SHARED,
  SCOPE_FRAME,
  SCOPE_REGION,
  SCOPE_NONE
} Scope;

typedef struct
{
  NdDicomElements *elements;
  NdDicomBytes *bytes;
  gboolean implicit;
  guint depth;
  guint left; /* elements that may follow */
  guint regions;
  guint region_units[2];
  gboolean no_memory;
} Parser;

typedef struct
{
  guint tag;
  guint32 length;
  gchar kind[3];
  guint64 at; /* of the value */
} Element;

gboolean
nd_dicom_bytes_read (NdDicomBytes *bytes, guint64 at, gpointer to, gsize n)
{
  if (!bytes->memory) {
    nd_input_begin (bytes->input, at, FALSE);
    return nd_input_read (bytes->input, to, n) == (gssize) n;
  }
  if (at > bytes->memory_size || n > bytes->memory_size - at)
    return FALSE;
  memcpy (to, bytes->memory + at, n);
  return TRUE;
}

guint64
nd_dicom_bytes_size (NdDicomBytes *bytes)
{
  return bytes->memory ? bytes->memory_size : nd_input_size (bytes->input);
}

void
nd_dicom_bytes_clear (NdDicomBytes *bytes)
{
  nd_budget_free (bytes->budget, bytes->memory, bytes->memory_size);
  bytes->memory = NULL;
}

/* Decompresses what follows @at into memory, behind as many bytes as before. */
static gboolean
inflate_from (NdDicomBytes *bytes, guint64 at)
{
  guint8 *memory = NULL;
  gsize size = 0, used = at;
  gssize got;

  nd_input_begin_deflate (bytes->input, at);
  do {
    const gsize wanted = size + MAX (size / 2, INFLATED_STEP) + at;
    guint8 *grown = nd_budget_grow (bytes->budget, memory, size, wanted);

    if (!grown) {
      nd_budget_free (bytes->budget, memory, size);
      return FALSE;
    }
    memory = grown;
    size = wanted;
    got = nd_input_read (bytes->input, memory + used, size - used);
    used += MAX (got, 0);
  } while (got > 0 && used == size);
  bytes->memory = nd_budget_grow (bytes->budget, memory, size, used);
  if (!bytes->memory) {
    nd_budget_free (bytes->budget, memory, size);
    return FALSE;
  }
  memset (bytes->memory, 0, at);
  bytes->memory_size = used;
  return TRUE;
}

static guint64
dicom_elements_get (const Parser *parser, const guint8 *bytes, guint n)
{
  const gboolean big = parser->elements->big_endian;
  guint64 number = 0;

  for (guint i = 0; i < n; i++)
    number = number << 8 | bytes[big ? i : n - 1 - i];
  return number;
}

/* Reads the head of an element and moves *@at to its value. FALSE at the end of
 * the file. */
static gboolean
read_head (Parser *parser, guint64 *at, Element *element)
{
  static const gchar *const wide[] = { "OB", "OD", "OF", "OL", "OV", "OW", "SQ",
    "SV", "UC", "UN", "UR", "UT", "UV" };
  guint8 head[12] = { 0 };

  if (parser->left == 0 || !nd_dicom_bytes_read (parser->bytes, *at, head, 8))
    return FALSE;
  parser->left--;
  *element = (Element){ .tag = dicom_elements_get (parser, head, 2) << 16
        | dicom_elements_get (parser, head + 2, 2),
    .length = dicom_elements_get (parser, head + 4, 4) };
  *at += 8;
  /* Items, and the marks of their ends, have no kind. */
  if ((parser->implicit && element->tag >> 16 != 2)
      || element->tag >> 16 == 0xfffe) {
    element->at = *at;
    return TRUE;
  }
  memcpy (element->kind, head + 4, 2);
  element->length = dicom_elements_get (parser, head + 6, 2);
  for (guint i = 0; i < G_N_ELEMENTS (wide); i++) {
    if (strcmp (element->kind, wide[i]) != 0)
      continue;
    if (!nd_dicom_bytes_read (parser->bytes, *at, head, 4))
      return FALSE;
    element->length = dicom_elements_get (parser, head, 4);
    *at += 4;
  }
  element->at = *at;
  return TRUE;
}

/* Values */

static void
dicom_elements_read_text (Parser *parser, const Element *element,
    gchar text[ND_DICOM_TEXT])
{
  memset (text, 0, ND_DICOM_TEXT);
  if (element->length < ND_DICOM_TEXT
      && nd_dicom_bytes_read (parser->bytes, element->at, text,
          element->length))
    g_strstrip (text);
}

static guint
dicom_elements_read_integer (Parser *parser, const Element *element)
{
  guint8 bytes[4];
  const guint n = element->length == 2 ? 2 : 4;

  if (element->length < n
      || !nd_dicom_bytes_read (parser->bytes, element->at, bytes, n))
    return 0;
  return dicom_elements_get (parser, bytes, n);
}

static gdouble
read_double (Parser *parser, const Element *element)
{
  guint8 bytes[8];
  guint64 bits;
  gdouble number;

  if (element->length != 8
      || !nd_dicom_bytes_read (parser->bytes, element->at, bytes, 8))
    return 0;
  bits = dicom_elements_get (parser, bytes, 8);
  memcpy (&number, &bits, 8);
  return isfinite (number) ? number : 0;
}

/* Decimal numbers with "\" between them; returns how many there are. Those of
 * US volumes are doubles. */
static guint
dicom_elements_read_numbers (Parser *parser, const Element *element,
    gdouble *numbers, guint most)
{
  gchar text[8 * NUMBER_TEXT] = { 0 }, *at = text, *end;
  guint n = 0;

  if (element->length >= sizeof (text)
      || !nd_dicom_bytes_read (parser->bytes, element->at, text,
          element->length))
    return 0;
  while (n < most) {
    const gdouble number = g_ascii_strtod (at, &end);

    if (end == at || !isfinite (number))
      break;
    numbers[n++] = number;
    while (*end == ' ')
      end++;
    if (*end != '\\')
      break;
    at = end + 1;
  }
  return n;
}

static gdouble
dicom_elements_read_number (Parser *parser, const Element *element)
{
  gdouble number = 0;

  dicom_elements_read_numbers (parser, element, &number, 1);
  return number;
}

static guint
read_doubles (Parser *parser, Element element, gdouble *numbers, guint n)
{
  if (element.length != 8 * n)
    return 0;
  element.length = 8;
  for (guint i = 0; i < n; i++) {
    numbers[i] = read_double (parser, &element);
    element.at += 8;
  }
  return n;
}

/* Numbers for each frame. */
static void
read_list (Parser *parser, const Element *element, NdList **list)
{
  NdBudget *budget = parser->bytes->budget;
  const gsize room = (gsize) element->length + 1;
  gchar *text, *at, *end;

  if (*list || element->length == UNDEFINED
      || element->length > NUMBERS_MAX * NUMBER_TEXT
      || element->length > nd_dicom_bytes_size (parser->bytes))
    return;
  text = nd_budget_alloc (budget, room);
  *list = nd_list_new (budget, sizeof (gdouble));
  if (!text) {
    parser->no_memory = TRUE;
    return;
  }
  at = text;
  if (nd_dicom_bytes_read (parser->bytes, element->at, text, element->length)) {
    text[element->length] = '\0';
    while (*at) {
      const gdouble number = g_ascii_strtod (at, &end);

      if (end == at || !isfinite (number) || !nd_list_add (*list, number))
        break;
      at = strchr (end, '\\');
      if (!at)
        break;
      at++;
    }
  }
  nd_budget_free (budget, text, room);
}

/* Three numbers: entries, of which 0 are 65536, the first sample, bits. */
static void
read_table (Parser *parser, const Element *element, NdDicomTable *table)
{
  const Element parts[] = { { 0, 2, "", element->at },
    { 0, 2, "", element->at + 2 } };

  if (element->length != 6)
    return;
  table->entries = dicom_elements_read_integer (parser, &parts[0]);
  table->first = dicom_elements_read_integer (parser, &parts[1]);
  if (table->entries == 0)
    table->entries = 65536;
}

/* "hhmmss.ffffff", of which parts may lack at the end. */
static gdouble
dicom_elements_read_time (Parser *parser, const Element *element)
{
  gchar text[ND_DICOM_TEXT];
  guint hours, minutes = 0, n = 0;

  dicom_elements_read_text (parser, element, text);
  if (sscanf (text, "%2u%2u%n", &hours, &minutes, (gint *) &n) < 1)
    return -1;
  return 3600.0 * hours + 60.0 * minutes
      + (n == 4 ? g_ascii_strtod (text + n, NULL) : 0);
}

static void
note_top (Parser *parser, const Element *element)
{
  static const struct
  {
    guint tag;
    gsize offset;
  } integers[] = { { 0x00280002, G_STRUCT_OFFSET (NdDicomElements, samples) },
    { 0x00280006, G_STRUCT_OFFSET (NdDicomElements, planar) },
    { 0x00280010, G_STRUCT_OFFSET (NdDicomElements, rows) },
    { 0x00280011, G_STRUCT_OFFSET (NdDicomElements, columns) },
    { 0x00280100, G_STRUCT_OFFSET (NdDicomElements, bits) },
    { 0x00280101, G_STRUCT_OFFSET (NdDicomElements, stored) },
    { 0x00280102, G_STRUCT_OFFSET (NdDicomElements, high) },
    { 0x00280103, G_STRUCT_OFFSET (NdDicomElements, is_signed) } };
  NdDicomElements *elements = parser->elements;
  NdDicomTable *table;
  gdouble number;

  for (guint i = 0; i < G_N_ELEMENTS (integers); i++) {
    if (element->tag == integers[i].tag && element->length == 2)
      G_STRUCT_MEMBER (guint, elements, integers[i].offset) =
          dicom_elements_read_integer (parser, element);
  }
  switch (element->tag) {
    case 0x00020010:
      dicom_elements_read_text (parser, element, elements->syntax);
      break;
    case 0x00080060:
      dicom_elements_read_text (parser, element, elements->modality);
      break;
    case 0x0020000e:
      dicom_elements_read_text (parser, element, elements->series);
      break;
    case 0x00080032:
      elements->acquired = dicom_elements_read_time (parser, element);
      break;
    case 0x00181060:
      elements->trigger = dicom_elements_read_number (parser, element);
      break;
    case 0x00200100:
      elements->temporal =
          CLAMP (dicom_elements_read_number (parser, element), 0, G_MAXINT32);
      break;
    case 0x00200013:
      elements->instance =
          CLAMP (dicom_elements_read_number (parser, element), 0, G_MAXINT32);
      break;
    case 0x00280004:
      dicom_elements_read_text (parser, element, elements->photometric);
      break;
    case 0x00280008:
      number = dicom_elements_read_number (parser, element);
      elements->n_frames = number >= 1 && number < G_MAXINT32 ? number : 1;
      break;
    case 0x00280009: /* a tag, of two numbers */
      if (element->length >= 4) {
        const Element parts[] = { { 0, 2, "", element->at },
          { 0, 2, "", element->at + 2 } };

        elements->increment = dicom_elements_read_integer (parser, &parts[0])
                << 16
            | dicom_elements_read_integer (parser, &parts[1]);
      }
      break;
    case 0x00181063:
      elements->frame_time = dicom_elements_read_number (parser, element);
      break;
    case 0x00181065:
      read_list (parser, element, &elements->steps);
      break;
    case 0x3004000c:
      read_list (parser, element, &elements->offsets);
      break;
    case 0x00180040: /* cine rate */
    case 0x00082144: /* recommended display frame rate */
      if (elements->rate <= 0)
        elements->rate = dicom_elements_read_number (parser, element);
      break;
    case 0x00281101: /* the tables of a palette */
    case 0x00281102:
    case 0x00281103:
      read_table (parser, element, &elements->tables[(element->tag & 3) - 1]);
      break;
    case 0x00281201: /* and what is in them */
    case 0x00281202:
    case 0x00281203:
      table = &elements->tables[(element->tag & 3) - 1];
      table->at = element->at;
      table->n = element->length;
      table->words = strcmp (element->kind, "OW") == 0;
      break;
    case 0x3004000e:
      elements->dose = dicom_elements_read_number (parser, element);
      break;
  }
}

static void
note_region (Parser *parser, const Element *element)
{
  NdDicomElements *elements = parser->elements;
  const guint axis = element->tag & 2 ? 1 : 0;

  /* The first region is the picture. */
  if (parser->regions > 1)
    return;
  switch (element->tag) {
    case 0x00186024:
      parser->region_units[0] = dicom_elements_read_integer (parser, element);
      break;
    case 0x00186026:
      parser->region_units[1] = dicom_elements_read_integer (parser, element);
      break;
    case 0x0018602c:
    case 0x0018602e:
      if (parser->region_units[axis] == CENTIMETRES)
        elements->region[axis] = 10 * fabs (read_double (parser, element));
      break;
  }
}

/* Values that a frame has, all frames share, or a picture has. */
static void
note_frame (Parser *parser, const Element *element, NdDicomFrame *frame)
{
  NdDicomElements *elements = parser->elements;
  gdouble numbers[6];

  switch (element->tag) {
    case 0x00200032:
      frame->placed |=
          dicom_elements_read_numbers (parser, element, frame->position, 3)
          == 3;
      break;
    case 0x00209301: /* in the frame of reference of a volume of ultrasound */
      if (!frame->placed)
        frame->placed = read_doubles (parser, *element, frame->position, 3) > 0;
      break;
    case 0x00200037:
      if (dicom_elements_read_numbers (parser, element, numbers, 6) == 6) {
        memcpy (elements->orientation, numbers, sizeof (numbers));
        elements->oriented = TRUE;
      }
      break;
    case 0x00209302:
      if (!elements->oriented)
        elements->oriented =
            read_doubles (parser, *element, elements->orientation, 6) > 0;
      break;
    case 0x00280030: /* of rows, of columns */
      if (dicom_elements_read_numbers (parser, element, numbers, 2) == 2) {
        elements->spacing[0] = numbers[1];
        elements->spacing[1] = numbers[0];
      }
      break;
    case 0x00180050:
      elements->thickness = dicom_elements_read_number (parser, element);
      break;
    case 0x00180088:
      elements->distance = fabs (dicom_elements_read_number (parser, element));
      break;
    case 0x00281052:
      frame->scaled |=
          dicom_elements_read_numbers (parser, element, &frame->intercept, 1)
          == 1;
      break;
    case 0x00281053:
      frame->scaled |=
          dicom_elements_read_numbers (parser, element, &frame->slope, 1) == 1;
      break;
    case 0x00209128:
      frame->temporal = dicom_elements_read_integer (parser, element);
      break;
    case 0x00209057:
      frame->in_stack = dicom_elements_read_integer (parser, element);
      break;
    case 0x0020930d:
      frame->seconds = read_double (parser, element);
      frame->timed = element->length == 8;
      break;
  }
}

static void
dicom_elements_note (Parser *parser, const Element *element, Scope scope)
{
  NdDicomElements *elements = parser->elements;
  NdList *frames = elements->frames;

  if (scope == SCOPE_TOP)
    note_top (parser, element);
  if (scope == SCOPE_TOP || scope == SCOPE_SHARED)
    note_frame (parser, element, &elements->common);
  else if (scope == SCOPE_FRAME && frames->len > 0)
    note_frame (parser, element,
        &g_array_index (frames, NdDicomFrame, frames->len - 1));
  else if (scope == SCOPE_REGION)
    note_region (parser, element);
}

/* Structure */

static gboolean read_elements (Parser *parser, guint64 *at, guint64 end,
    Scope scope);

static Scope
inner_scope (const Element *element, Scope scope)
{
  if (scope != SCOPE_TOP)
    return scope;
  return element->tag == SHARED_GROUPS ? SCOPE_SHARED
      : element->tag == FRAME_GROUPS   ? SCOPE_FRAME
      : element->tag == REGIONS        ? SCOPE_REGION
                                       : SCOPE_NONE;
}

static gboolean
begin_item (Parser *parser, const Element *sequence, Scope scope, guint64 at)
{
  NdDicomElements *elements = parser->elements;

  if (sequence->tag == REGIONS)
    parser->regions++;
  if (sequence->tag != FRAME_GROUPS || scope != SCOPE_FRAME)
    return TRUE;
  if (elements->frames->len > FRAMES_FREE
      && elements->frames->len > at / FRAME_LEAST)
    return FALSE;
  if (nd_list_add (elements->frames, elements->common))
    return TRUE;
  parser->no_memory = TRUE;
  return FALSE;
}

/* Reads the items of a sequence whose value begins at *@at. */
static gboolean
read_sequence (Parser *parser, guint64 *at, const Element *sequence,
    Scope scope)
{
  const guint64 end =
      sequence->length == UNDEFINED ? G_MAXUINT64 : *at + sequence->length;
  Element item;

  if (parser->depth >= DEPTH_MAX)
    return FALSE;
  while (*at < end) {
    gboolean ok;

    if (!read_head (parser, at, &item))
      return FALSE;
    if (item.tag == SEQUENCE_END)
      return TRUE;
    if (item.tag != ITEM || !begin_item (parser, sequence, scope, *at))
      return FALSE;
    /* A fragment of samples, as in an icon. */
    if (sequence->kind[0] == 'O') {
      if (item.length == UNDEFINED || item.length > end - *at)
        return FALSE;
      *at += item.length;
      continue;
    }
    parser->depth++;
    ok = read_elements (parser, at,
        item.length == UNDEFINED ? G_MAXUINT64 : *at + item.length, scope);
    parser->depth--;
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_sequence (const Element *element, Scope scope)
{
  if (element->length == UNDEFINED)
    return TRUE;
  if (scope == SCOPE_NONE || element->length == 0)
    return FALSE;
  if (element->kind[0])
    return strcmp (element->kind, "SQ") == 0;
  /* Without kinds, those that are of interest. */
  switch (element->tag) {
    case SHARED_GROUPS:
    case FRAME_GROUPS:
    case REGIONS:
    case 0x00209111: /* frame content */
    case 0x00209113: /* plane position */
    case 0x00209116: /* plane orientation */
    case 0x0020930e: /* plane position of a volume */
    case 0x0020930f: /* plane orientation of a volume */
    case 0x00209310: /* temporal position */
    case 0x00289110: /* pixel measures */
    case 0x00289145: /* pixel value transformation */
      return TRUE;
    default:
      return FALSE;
  }
}

static gboolean
note_pixels (Parser *parser, const Element *element)
{
  NdDicomElements *elements = parser->elements;

  if (element->tag != 0x7fe00008 && element->tag != 0x7fe00009
      && element->tag != 0x7fe00010)
    return FALSE;
  elements->pixels = element->at;
  elements->pixel_bytes =
      element->length == UNDEFINED ? G_MAXUINT64 : element->length;
  elements->pixel_tag = element->tag;
  elements->words = strcmp (element->kind, "OW") == 0;
  return TRUE;
}

/* Reads elements up to @end, or to the mark of the end of an item; those of the
 * file up to its samples. */
static gboolean
read_elements (Parser *parser, guint64 *at, guint64 end, Scope scope)
{
  Element element;

  while (*at < end) {
    if (!read_head (parser, at, &element))
      return FALSE;
    if (element.tag == ITEM_END && scope != SCOPE_TOP)
      return TRUE;
    if (scope == SCOPE_TOP && note_pixels (parser, &element))
      return TRUE;
    if (is_sequence (&element, scope)) {
      const gboolean implicit = parser->implicit;
      gboolean ok;

      /* A sequence of an unknown kind is written without kinds. */
      if (strcmp (element.kind, "UN") == 0)
        parser->implicit = TRUE;
      ok = read_sequence (parser, at, &element, inner_scope (&element, scope));
      parser->implicit = implicit;
      if (!ok)
        return FALSE;
      continue;
    }
    dicom_elements_note (parser, &element, scope);
    *at += element.length;
  }
  return TRUE;
}

/* The group of the elements that say how the others are written. */
static gboolean
read_meta (Parser *parser, guint64 *at)
{
  Element element;
  guint64 next = *at;

  while (read_head (parser, &next, &element)) {
    if (element.tag >> 16 != 2)
      return TRUE;
    if (element.length == UNDEFINED)
      return FALSE;
    note_top (parser, &element);
    next += element.length;
    *at = next;
  }
  return FALSE;
}

/* Some programs write elements without kinds whatever the syntax says, or with
 * them. */
static void
check_kinds (Parser *parser, guint64 at)
{
  guint8 head[8];

  if (!nd_dicom_bytes_read (parser->bytes, at, head, 8)
      || parser->elements->big_endian)
    return;
  parser->implicit = !g_ascii_isupper (head[4]) || !g_ascii_isupper (head[5]);
}

gboolean
nd_dicom_elements_read (NdDicomElements *elements, NdDicomBytes *bytes)
{
  Parser parser = {
    .elements = elements, .bytes = bytes, .left = ELEMENTS_MAX
  };
  guint64 at = PREAMBLE;

  *elements = (NdDicomElements){
    .samples = 1, .n_frames = 1, .trigger = -1, .acquired = -1
  };
  elements->common.slope = 1;
  elements->frames = nd_list_new (bytes->budget, sizeof (NdDicomFrame));
  if (!read_meta (&parser, &at))
    return TRUE;
  elements->big_endian = strcmp (elements->syntax, BIG_ENDIAN_SYNTAX) == 0;
  if (strcmp (elements->syntax, DEFLATED) == 0 && !inflate_from (bytes, at))
    return FALSE;
  check_kinds (&parser, at);
  read_elements (&parser, &at, G_MAXUINT64, SCOPE_TOP);
  return !parser.no_memory && !elements->frames->failed
      && !(elements->steps && elements->steps->failed)
      && !(elements->offsets && elements->offsets->failed);
}

void
nd_dicom_elements_clear (NdDicomElements *elements)
{
  g_clear_pointer (&elements->frames, nd_list_free);
  g_clear_pointer (&elements->offsets, nd_list_free);
  g_clear_pointer (&elements->steps, nd_list_free);
}

gboolean
nd_dicom_next_fragment (NdDicomBytes *bytes, guint64 *at, guint64 *place,
    guint32 *n)
{
  guint8 head[8];

  if (!nd_dicom_bytes_read (bytes, *at, head, 8)
      || memcmp (head, "\xfe\xff\0\xe0", 4) != 0)
    return FALSE;
  *n = (guint32) head[7] << 24 | head[6] << 16 | head[5] << 8 | head[4];
  *place = *at + 8;
  *at = *place + *n;
  return *n != UNDEFINED;
}
