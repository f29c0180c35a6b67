/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/spread.h"

#include "engine/slabs.h"

#include <math.h>
#include <string.h>

/* Bytes per second, only roughly: of one device each way, that of PCIe 5.0 with
 * 16 lanes; of all devices both ways, measured with two H200 of one host. */
#define BUS_RATE 49e9
#define HOST_RATE 146e9

/* Devices whose speeds differ by less get equal parts. */
#define EQUAL_SPEED 0.1

/* Scores that differ by less are equal. */
#define EQUAL_SCORE 0.001

/* "auto" does not add devices for a smaller gain. */
#define LEAST_GAIN 0.05

typedef struct
{
  const NdBackend *backend;
  const NdJob *job;
  const NdRingOptions *options;
  NdMethod method;
  const NdDevices *devices;
  gboolean cut_rows; /* slabs of volumes may have rows of all slices */
  NdReach reach;
  gsize in_bytes, out_bytes; /* of a volume, and of one of its outputs */
  guint n_outputs;
  gint models[ND_MAX_DEVICES];    /* a device of the same name, for its costs */
  gdouble speeds[ND_MAX_DEVICES]; /* volumes per second */
} Choice;

/* The work of a device for a volume: seconds, and bytes of the bus. */
typedef struct
{
  gdouble compute, up, down;
} Load;

static gdouble
least_cost (const Choice *c, const NdJob *job, guint device)
{
  const guint n = c->method == ND_METHOD_AUTO ? ND_N_AUTO_METHODS : 1;
  gdouble least = INFINITY;

  for (guint i = 0; i < n; i++) {
    const NdMethod method =
        c->method == ND_METHOD_AUTO ? nd_auto_methods[i] : c->method;

    least = MIN (least,
        c->backend->cost (job, c->options, method, c->models[device], NULL));
  }
  return least;
}

/* Costs of equal devices are asked for once, because a device starts when it is
 * asked. */
static void
find_models (Choice *c)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < c->devices->n; i++) {
    guint same = i;

    g_ptr_array_add (names,
        c->backend->device_name ? c->backend->device_name (c->devices->ids[i])
                                : NULL);
    for (guint k = 0; k < i && same == i; k++) {
      if (names->pdata[i] && g_strcmp0 (names->pdata[k], names->pdata[i]) == 0)
        same = k;
    }
    c->models[i] = c->devices->ids[same];
  }
}

static void
find_speeds (Choice *c)
{
  gdouble most = 0;

  for (guint i = 0; i < c->devices->n; i++) {
    c->speeds[i] = 1 / least_cost (c, c->job, i);
    most = MAX (most, c->speeds[i]);
  }
  for (guint i = 0; i < c->devices->n; i++) {
    if (!(c->speeds[i] < most * (1 - EQUAL_SPEED)))
      c->speeds[i] = MAX (most, 1e-300);
  }
}

/* Gives each of the first @n devices its share of @size outputs. Devices
 * without a share have no part. */
static void
share (const Choice *c, guint n, gsize size, NdSpreadCut *cut)
{
  gdouble all = 0, before = 0;
  gsize done = 0;

  for (guint i = 0; i < n; i++)
    all += c->speeds[i];
  cut->n = 0;
  for (guint i = 0; i < n; i++) {
    gsize end;

    before += c->speeds[i];
    end = i + 1 == n ? size : MIN (size, (gsize) round (size * (before / all)));
    if (end > done)
      cut->parts[cut->n++] = (NdSpreadPart){
        .device_id = c->devices->ids[i], .first = done, .count = end - done
      };
    done = MAX (done, end);
  }
}

static guint
device_of (const Choice *c, const NdSpreadPart *part)
{
  guint i = 0;

  while (c->devices->ids[i] != part->device_id)
    i++;
  return i;
}

/* A slab has all samples that its outputs read. At an end of the volume the
 * border repeats samples of the slab, as many as the filter reaches beyond. */
static void
place_slabs (const Choice *c, NdSpreadCut *cut)
{
  const gint64 size = c->job->shape.size[cut->axis];
  const gint64 before = MAX (0, -c->reach.low[cut->axis]);
  const gint64 after = MAX (0, c->reach.high[cut->axis]);
  const gboolean wraps = c->job->border == ND_BORDER_WRAP;

  for (guint i = 0; i < cut->n; i++) {
    NdSpreadPart *part = &cut->parts[i];
    gint64 start = (gint64) part->first - before;
    gint64 end = (gint64) (part->first + part->count) + after;

    if (end - start >= size) {
      start = 0;
      end = size;
    } else if (!wraps && start < 0) {
      end = MAX (MIN (end, size), before + 1);
      start = 0;
    } else if (!wraps && end > size) {
      start = MIN (start, size - after - 1);
      end = size;
    }
    part->start = start;
    part->height = end - start;
  }
}

NdJob
nd_spread_part_job (const NdSpreadCut *cut, guint i, const NdJob *job,
    NdBank *bank)
{
  const NdSpreadPart *part = &cut->parts[i];
  NdJob own = *job;

  if (cut->kind == ND_SPREAD_ROUND)
    own.volumes = (job->volumes + cut->n - 1) / cut->n;
  if (cut->kind == ND_SPREAD_SLABS) {
    own.shape.size[cut->axis] = part->height;
    own.wanted[cut->axis] =
        (NdRange){ (gint64) part->first - part->start, part->count };
  }
  if (cut->kind == ND_SPREAD_FILTERS) {
    const guint each = job->bank->is_complex ? 2 : 1;

    *bank = *job->bank;
    bank->n_filters = part->count * each;
    bank->filters += part->first * each;
    own.bank = bank;
  }
  return own;
}

/* Whether the responses can be made apart, each from the whole window. */
static gboolean
can_cut_filters (const Choice *c, const NdSpreadCut *cut)
{
  for (guint i = 0; i < cut->n; i++) {
    NdBank bank;
    const NdJob job = nd_spread_part_job (cut, i, c->job, &bank);
    const NdReach reach = nd_job_reach (&job);

    if (reach.low[ND_AXIS_T] != c->reach.low[ND_AXIS_T]
        || reach.high[ND_AXIS_T] != c->reach.high[ND_AXIS_T])
      return FALSE;
  }
  return TRUE;
}

/* The cut of @kind for the first @n devices, of slabs along @axis. FALSE if it
 * is not possible, or leaves all work to one device. */
static gboolean
make_cut (const Choice *c, NdSpreadKind kind, NdAxis axis, guint n,
    NdSpreadCut *cut)
{
  const NdShape *shape = &c->job->shape;
  const guint responses = nd_bank_responses (c->job->bank);

  *cut = (NdSpreadCut){ .kind = kind, .axis = axis };
  switch (kind) {
    case ND_SPREAD_ONE:
      share (c, 1, 1, cut);
      return TRUE;
    case ND_SPREAD_ROUND:
      if (c->reach.slots > 1)
        return FALSE;
      for (; cut->n < n; cut->n++)
        cut->parts[cut->n].device_id = c->devices->ids[cut->n];
      return n > 1;
    case ND_SPREAD_SLABS:
      if (!nd_backend_slabs (c->backend))
        return FALSE;
      share (c, n, shape->size[cut->axis], cut);
      place_slabs (c, cut);
      return cut->n > 1;
    case ND_SPREAD_FILTERS:
      if (c->job->response >= ND_RESPONSE_MAX)
        return FALSE;
      share (c, n, responses, cut);
      return cut->n > 1 && can_cut_filters (c, cut);
  }
  return FALSE;
}

static Load
find_load (const Choice *c, NdSpreadCut *cut, guint i)
{
  NdSpreadPart *part = &cut->parts[i];
  NdBank bank;
  const NdJob job = nd_spread_part_job (cut, i, c->job, &bank);
  const gdouble size = c->job->shape.size[cut->axis];
  Load load = { .up = c->in_bytes,
    .down = (gdouble) c->out_bytes * c->n_outputs };

  part->seconds = load.compute = least_cost (c, &job, device_of (c, part));
  if (cut->kind == ND_SPREAD_SLABS) {
    load.up *= part->height / size;
    load.down *= part->count / size;
  }
  if (cut->kind == ND_SPREAD_FILTERS)
    load.down *= (gdouble) part->count / c->n_outputs;
  return load;
}

/* The seconds that count: of a volume that is waited for, of the whole stream
 * if its length is known, or between two volumes of a long stream. */
static gdouble
score (const Choice *c, NdSpreadCut *cut)
{
  const NdDevices *devices = c->devices;
  const guint turns = cut->kind == ND_SPREAD_ROUND ? cut->n : 1;
  gdouble busy = 0, rate = 0, latency = 0, bytes = 0;

  for (guint i = 0; i < cut->n; i++) {
    const Load load = find_load (c, cut, i);
    const gdouble up = load.up / BUS_RATE, down = load.down / BUS_RATE;
    const gdouble slowest = MAX (load.compute, MAX (up, down));

    busy = MAX (busy, slowest);
    rate += 1 / slowest;
    latency = MAX (latency, up + load.compute + down);
    bytes += (load.up + load.down) / turns;
  }
  if (turns > 1)
    busy = 1 / rate;
  busy = MAX (busy, bytes / HOST_RATE);
  if (devices->waits)
    return latency;
  if (devices->volumes > 0)
    return latency
        + ((devices->volumes + turns - 1) / turns - 1) * turns * busy;
  return busy;
}

static gchar *
list_devices (const NdSpreadCut *cut)
{
  GString *list = g_string_new (cut->n > 1 ? "devices" : "device");

  for (guint i = 0; i < cut->n; i++)
    g_string_append_printf (list, "%s %d", i > 0 ? "," : "",
        cut->parts[i].device_id);
  return g_string_free (list, FALSE);
}

/* For example "slabs of 70, 70 slices on devices 0, 1". */
static void
append_cut (GString *text, const Choice *c, const NdSpreadCut *cut)
{
  g_autofree gchar *list = list_devices (cut);

  if (cut->kind == ND_SPREAD_ROUND) {
    g_string_append_printf (text, "volumes go round %s", list);
    return;
  }
  if (cut->kind == ND_SPREAD_ONE) {
    g_string_append_printf (text, "all work on %s", list);
    return;
  }
  g_string_append (text, cut->kind == ND_SPREAD_SLABS ? "slabs of" : "");
  for (guint i = 0; i < cut->n; i++)
    g_string_append_printf (text, "%s %" G_GSIZE_FORMAT, i > 0 ? "," : "",
        cut->kind == ND_SPREAD_SLABS ? cut->parts[i].height
                                     : cut->parts[i].count);
  if (cut->kind == ND_SPREAD_FILTERS)
    g_string_append_printf (text, " filters on %s", list);
  else
    g_string_append_printf (text, " %s on %s",
        cut->axis == ND_AXIS_Z ? "slices" : "rows", list);
}

static gchar *
spread_cut_explain (const Choice *c, const NdSpreadCut *cut,
    const gdouble scores[ND_SPREAD_KINDS])
{
  static const gchar *const names[ND_SPREAD_KINDS] = { "one device", "round",
    "slabs", "filters" };
  GString *text = g_string_new (NULL);

  append_cut (text, c, cut);
  if (c->devices->waits)
    g_string_append (text, ", estimated for a volume that is waited for");
  else if (c->devices->volumes > 0)
    g_string_append_printf (text, ", estimated for %" G_GUINT64_FORMAT " %s",
        c->devices->volumes, c->devices->volumes == 1 ? "volume" : "volumes");
  else
    g_string_append (text, ", estimated for a volume of a stream");
  for (guint i = 0; i < ND_SPREAD_KINDS; i++) {
    g_string_append_printf (text, "%s %s", i > 0 ? "," : ":", names[i]);
    if (isfinite (scores[i]))
      g_string_append_printf (text, " %.3g ms", scores[i] * 1e3);
    else
      g_string_append (text, " not possible");
  }
  return g_string_free (text, FALSE);
}

static gdouble
longest_work (const NdSpreadCut *cut)
{
  gdouble longest = 0;

  for (guint i = 0; i < cut->n; i++)
    longest = MAX (longest, cut->parts[i].seconds);
  return longest;
}

static NdAxis
first_axis (const NdJob *job)
{
  return job->shape.size[2] > 1 ? ND_AXIS_Z : ND_AXIS_Y;
}

/* Slabs of whole slices, because their memory is in one piece, unless the work
 * of slabs of rows is shorter: FFT blocks may divide rows more evenly. Returns
 * the score, INFINITY if there is no cut. */
static gdouble
choose_slabs (const Choice *c, guint n, NdSpreadCut *cut)
{
  const NdAxis axis = first_axis (c->job);
  const gdouble slices =
      make_cut (c, ND_SPREAD_SLABS, axis, n, cut) ? score (c, cut) : INFINITY;
  NdSpreadCut other;
  gdouble rows;

  if (axis == ND_AXIS_Y || !c->cut_rows
      || !make_cut (c, ND_SPREAD_SLABS, ND_AXIS_Y, n, &other))
    return slices;
  rows = score (c, &other);
  if (isfinite (slices)
      && (rows > slices * (1 + EQUAL_SCORE)
          || longest_work (&other) > longest_work (cut) * (1 - LEAST_GAIN)))
    return slices;
  *cut = other;
  return rows;
}

/* The best cut for the first @n devices, and the scores of all. One device is
 * best if @n is 1 or nothing can be divided. */
static gdouble
choose_for (const Choice *c, guint n, NdSpreadCut *cut,
    gdouble scores[ND_SPREAD_KINDS])
{
  const NdAxis axis = first_axis (c->job);
  gdouble least = INFINITY;

  make_cut (c, ND_SPREAD_ONE, axis, 1, cut);
  scores[ND_SPREAD_ONE] = score (c, cut);
  for (guint kind = ND_SPREAD_ROUND; kind < ND_SPREAD_KINDS; kind++) {
    NdSpreadCut other;

    scores[kind] = INFINITY;
    if (n == 1)
      continue;
    if (kind == ND_SPREAD_SLABS)
      scores[kind] = choose_slabs (c, n, &other);
    else if (make_cut (c, kind, axis, n, &other))
      scores[kind] = score (c, &other);
    if (scores[kind] < least) {
      least = scores[kind];
      *cut = other;
    }
  }
  return cut->kind == ND_SPREAD_ONE ? scores[ND_SPREAD_ONE] : least;
}

static void
choice_init (Choice *c, const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, const NdDevices *devices)
{
  const NdSamples in = nd_samples_dense (NULL, &job->shape, job->in_type);
  const NdSamples out = nd_samples_dense (NULL, &job->shape, job->out_type);

  *c = (Choice){ .backend = backend,
    .job = job,
    .options = options,
    .method = method,
    .devices = devices,
    .reach = nd_job_reach (job),
    .in_bytes = in.response,
    .out_bytes = out.response,
    .n_outputs =
        nd_response_count (job->response, nd_bank_responses (job->bank)) };
  find_models (c);
  find_speeds (c);
}

gboolean
nd_spread_cut (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, const NdDevices *devices,
    NdSpreadKind kind, NdAxis axis, NdSpreadCut *cut)
{
  Choice c;

  choice_init (&c, backend, job, options, method, devices);
  if (!make_cut (&c, kind, axis, devices->n, cut))
    return FALSE;
  score (&c, cut);
  return TRUE;
}

void
nd_spread_choose (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, const NdDevices *devices,
    gboolean cut_rows, NdSpreadCut *cut, gchar **why)
{
  gdouble scores[ND_SPREAD_KINDS], least = INFINITY;
  Choice c;

  choice_init (&c, backend, job, options, method, devices);
  c.cut_rows = cut_rows;
  for (guint n = devices->choose ? 1 : devices->n; n <= devices->n; n++) {
    gdouble these[ND_SPREAD_KINDS];
    NdSpreadCut best;
    const gdouble seconds = choose_for (&c, n, &best, these);

    if (seconds < least * (1 - LEAST_GAIN) || least == INFINITY) {
      least = seconds;
      *cut = best;
      memcpy (scores, these, sizeof (scores));
    }
  }
  if (cut->kind == ND_SPREAD_ONE) {
    NdSpreadCut refused;

    choose_for (&c, devices->n, &refused, scores);
  }
  *why = spread_cut_explain (&c, cut, scores);
}
