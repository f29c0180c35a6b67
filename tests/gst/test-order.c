/* The order of outputs and events (gst/temporal/ndorder.h), without GStreamer:
 * tables, and random streams against a model that knows the whole stream.
 *
 * A stream is a text, a letter for each item:
 *
 *   v  a volume            h  a position that repeats the volume before it
 *   g  one without samples e  an event
 *   l  a late one          .  the first output under way is complete
 *   o  one outside         |  the stretch ends
 *   x  a flush             H  outputs now go to memory of the host
 *                          D  outputs now stay on the device
 *
 * What is sent is a text too: volumes as their number, with ! for DISCONT and ?
 * for GAP, and events as e and their number.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/ndorder.h"
#include "tests/gst/random.h"

#include <string.h>

typedef struct
{
  gchar kind;
  guint number;
} Item;

/* An output under way. */
typedef struct
{
  GQueue events;
  gchar *text; /* of its volume, or NULL */
} Output;

typedef struct
{
  NdOrder order;
  guint before, after;
  gboolean on_device;
  GQueue under_way;
  GString *sent;
} Element;

static gboolean
is_outside (gpointer data, gpointer volume)
{
  return ((Item *) volume)->kind == 'o';
}

static gboolean
is_late (gpointer data, gpointer volume)
{
  return ((Item *) volume)->kind == 'l';
}

static const NdOrderClock clock_of_test = { is_outside, is_late };

static void
send_event (Element *self, const Item *event)
{
  g_string_append_printf (self->sent, " e%u", event->number);
}

static void
send_output (Element *self, Output *output)
{
  while (!g_queue_is_empty (&output->events))
    send_event (self, g_queue_pop_head (&output->events));
  if (output->text)
    g_string_append_printf (self->sent, " %s", output->text);
  g_free (output->text);
  g_free (output);
}

static void
complete_one (Element *self)
{
  if (g_queue_is_empty (&self->under_way))
    return;
  send_output (self, g_queue_pop_head (&self->under_way));
  nd_order_left (&self->order);
}

static void
complete_all (Element *self)
{
  while (!g_queue_is_empty (&self->under_way))
    complete_one (self);
}

static void
leave (Element *self, Output *output)
{
  NdOutputWork work = self->on_device ? ND_WORK_DONE : ND_WORK_ENQUEUED;

  if (!output->text)
    work = ND_WORK_NONE;
  if (!output->text && g_queue_is_empty (&output->events)) {
    g_free (output);
    return;
  }
  switch (nd_order_leave (&self->order, work)) {
    case ND_LEAVE_AFTER:
      complete_all (self);
      send_output (self, output);
      break;
    case ND_LEAVE_NOW:
      send_output (self, output);
      break;
    case ND_LEAVE_LATER:
      g_queue_push_tail (&self->under_way, output);
      break;
  }
}

static void
take_ready (Element *self, guint after)
{
  while (self->order.arrived - self->order.taken > after) {
    Output *output = g_new0 (Output, 1);
    const NdOrderOutput next =
        nd_order_take (&self->order, self->before, &output->events);

    g_assert ((next.volume == NULL) == (next.kind == ND_OUTPUT_HELD));
    if (next.kind == ND_OUTPUT_COMPUTED) {
      output->text = g_strdup_printf ("%u%s%s", ((Item *) next.volume)->number,
          next.discont ? "!" : "", next.gap ? "?" : "");
      nd_order_computed (&self->order);
    }
    leave (self, output);
  }
}

/* Ends the stretch: makes the remaining outputs, or drops them. */
static void
end (Element *self, gboolean flush)
{
  gboolean is_event;
  Item *event;

  if (flush) {
    while (!g_queue_is_empty (&self->under_way)) {
      Output *output = g_queue_pop_head (&self->under_way);

      g_queue_clear (&output->events);
      g_free (output->text);
      g_free (output);
      nd_order_left (&self->order);
    }
  } else {
    take_ready (self, 0);
    complete_all (self);
    while ((event = nd_order_take_event (&self->order)))
      send_event (self, event);
  }
  while (nd_order_drop (&self->order, &is_event))
    g_assert (flush);
  nd_order_reset (&self->order);
  g_assert_cmpuint (self->order.remaining, ==, 0);
  g_assert_cmpuint (self->order.under_way, ==, 0);
  self->order.discont = TRUE;
}

static void
take_item (Element *self, Item *item)
{
  switch (item->kind) {
    case 'h':
      nd_order_add_held (&self->order);
      break;
    case 'e':
      if (!nd_order_add_event (&self->order, item)) {
        complete_all (self);
        send_event (self, item);
      }
      break;
    case '.':
      complete_one (self);
      break;
    case '|':
    case 'x':
      end (self, item->kind == 'x');
      break;
    case 'H':
    case 'D':
      self->on_device = item->kind == 'D';
      break;
    default:
      nd_order_add_volume (&self->order, item, item->kind == 'g');
      break;
  }
  take_ready (self, self->after);
}

static GArray *
parse (const gchar *stream)
{
  GArray *items = g_array_new (FALSE, FALSE, sizeof (Item));
  guint volumes = 0, events = 0;

  for (; *stream; stream++) {
    Item item = { *stream, 0 };

    if (*stream == 'e')
      item.number = events++;
    else if (strchr ("vglo", *stream))
      item.number = volumes++;
    g_array_append_val (items, item);
  }
  return items;
}

/* What an element sends for @stream, which ends with a stretch. */
static gchar *
run (const gchar *stream, guint before, guint after)
{
  g_autoptr (GArray) items = parse (stream);
  Element self = { .before = before, .after = after };

  nd_order_init (&self.order, &clock_of_test, &self);
  g_queue_init (&self.under_way);
  self.sent = g_string_new ("");
  for (guint i = 0; i < items->len; i++)
    take_item (&self, &g_array_index (items, Item, i));
  g_assert (g_queue_is_empty (&self.order.waiting));
  return g_string_free (self.sent, FALSE);
}

typedef struct
{
  const gchar *stream;
  guint before, after;
  const gchar *sent;
} Row;

static void
check_rows (const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *sent =
        run (rows[i].stream, rows[i].before, rows[i].after);

    g_test_message ("%s", rows[i].stream);
    g_assert_cmpstr (sent, ==, rows[i].sent);
  }
}

/* The output after an event is skipped. On links in memory of the device the
 * one after that does not wait for its work, and must not overtake the
 * event. */
static void
test_skipped_with_events (void)
{
  static const Row rows[] = {
    { "Dvvvvehvv|", 1, 1, " 0! 1 2 3 e0 4 5" },
    { "Hvvvvehvv|", 1, 1, " 0! 1 2 3 e0 4 5" },
    { "Dvvvelvv|", 1, 1, " 0! 1 2 e0 4! 5" },
    { "Dvvveovv|", 1, 1, " 0! 1 2 e0 4 5" },
    { "Hvvveov..v|", 1, 1, " 0! 1 2 e0 4 5" },
    { "HvvvDehvv|", 0, 0, " 0! 1 2 e0 3 4" },
    { "HvvehDvv|", 0, 0, " 0! 1 e0 2 3" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_flags (void)
{
  static const Row rows[] = {
    { "Dvv|vv|", 0, 0, " 0! 1 2! 3" },
    { "Dlvv|", 0, 0, " 1! 2" },
    { "Dvlllv|", 0, 0, " 0! 4!" },
    { "Dvvxvv|", 0, 2, " 2! 3" },
    { "Dvgggv|", 1, 0, " 0! 1 2? 3? 4" },
    { "Dggvgg|", 0, 1, " 0!? 1 2 3? 4?" },
    { "Dgg|", 3, 3, " 0!? 1?" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_events (void)
{
  static const Row rows[] = {
    { "De|", 0, 0, " e0" },
    { "Deve|", 0, 0, " e0 0! e1" },
    { "Dveveve|", 0, 3, " 0! e0 1 e1 2 e2" },
    { "Hvevev.e..|", 0, 0, " 0! e0 1 e1 2 e2" },
    { "Dvevexve|", 0, 3, " 2! e2" },
    { "Dlelexe|", 0, 0, " e0 e1 e2" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

/* The items of a stretch that begins at @items, with the knowledge of all of
 * them: each event has its place, and each volume that somebody needs an
 * output. @taken: the positions that have an output. */
static void
model_stretch (const Item *items, guint n, guint before, guint after,
    guint taken, gboolean *discont, GString *sent)
{
  g_autoptr (GArray) positions = g_array_new (FALSE, FALSE, sizeof (Item));
  guint position = 0;

  for (guint i = 0; i < n; i++) {
    if (strchr ("vgloh", items[i].kind))
      g_array_append_val (positions, items[i]);
  }
  for (guint i = 0; i < n; i++) {
    gboolean gap = TRUE;

    if (items[i].kind == 'e') {
      /* One that finds nothing before it is sent at once. A flush drops those
       * that wait. */
      if (position < taken || taken == positions->len || position == 0)
        g_string_append_printf (sent, " e%u", items[i].number);
      continue;
    }
    if (!strchr ("vgloh", items[i].kind))
      continue;
    if (position >= taken) {
      position++;
      continue;
    }
    for (gint64 k = (gint64) position - before;
         k <= (gint64) position + after && k < (gint64) positions->len; k++)
      gap &= k < 0
          || strchr ("gh", g_array_index (positions, Item, k).kind) != NULL;
    *discont |= items[i].kind == 'l';
    if (strchr ("vg", items[i].kind)) {
      g_string_append_printf (sent, " %u%s%s", items[i].number,
          *discont ? "!" : "", gap ? "?" : "");
      *discont = FALSE;
    }
    position++;
  }
}

/* What should be sent for @stream, whose outputs all are complete before a
 * flush. */
static gchar *
model (const gchar *stream, guint before, guint after)
{
  g_autoptr (GArray) items = parse (stream);
  GString *sent = g_string_new ("");
  gboolean discont = TRUE;
  guint begin = 0, positions = 0;

  for (guint i = 0; i < items->len; i++) {
    const Item *item = &g_array_index (items, Item, i);

    positions += strchr ("vgloh", item->kind) != NULL;
    if (item->kind != '|' && item->kind != 'x')
      continue;
    model_stretch (&g_array_index (items, Item, begin), i - begin, before,
        after,
        item->kind == '|'       ? positions
            : positions > after ? positions - after
                                : 0,
        &discont, sent);
    discont = TRUE;
    begin = i + 1;
    positions = 0;
  }
  return g_string_free (sent, FALSE);
}

static gchar *
make_stream (GRand *random)
{
  static const gchar kinds[] = "vvvvvvgglloohheeee...HD";
  const guint n = g_rand_int_range (random, 0, 60);
  GString *stream = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    const guint k = g_rand_int_range (random, 0, 40);

    /* A flush drops what is under way. */
    if (k < G_N_ELEMENTS (kinds) - 1)
      g_string_append_c (stream, kinds[k]);
    else if (k < 24)
      g_string_append (stream,
          "......................................."
          "....................x");
    else if (k < 26)
      g_string_append_c (stream, '|');
  }
  g_string_append_c (stream, '|');
  return g_string_free (stream, FALSE);
}

static void
test_random (void)
{
  GRand *random = new_rand ();

  for (guint i = 0; i < 20000; i++) {
    g_autofree gchar *stream = make_stream (random);
    const guint before = g_rand_int_range (random, 0, 5);
    const guint after = g_rand_int_range (random, 0, 5);
    g_autofree gchar *sent = run (stream, before, after);
    g_autofree gchar *expected = model (stream, before, after);

    if (!g_str_equal (sent, expected))
      g_test_message ("%s before %u after %u", stream, before, after);
    g_assert_cmpstr (sent, ==, expected);
  }
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/order/skipped-with-events", test_skipped_with_events);
  g_test_add_func ("/order/flags", test_flags);
  g_test_add_func ("/order/events", test_events);
  g_test_add_func ("/order/random", test_random);
  return g_test_run ();
}
