/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"

#include "core/error.h"
#include "core/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

gboolean
nd_memory_check (gsize bytes, GError **error)
{
  if (bytes < nd_usable_memory ())
    return TRUE;
  nd_memory_set_error (error, bytes);
  return FALSE;
}

void
nd_memory_set_error (GError **error, gsize bytes)
{
  if (bytes == G_MAXSIZE)
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory: the number of bytes is too large for any machine; "
        "use smaller volumes or a filter that is shorter in time");
  else
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory: %" G_GSIZE_FORMAT
        " bytes are needed, this process may use %" G_GSIZE_FORMAT
        ": use smaller volumes or a filter that is shorter in time",
        bytes, nd_usable_memory ());
}

/* To check smaller allocations takes longer than to make them. */
#define CHECKED ((gsize) 1 << 20)

gpointer
nd_memory_new (gsize n, gsize size, GError **error)
{
  const gsize bytes = nd_size_mul (n, size, 1);
  gpointer memory;

  if (bytes >= CHECKED && !nd_memory_check (bytes, error))
    return NULL;
  memory = g_try_malloc0 (MAX (bytes, 1));
  if (!memory)
    nd_memory_set_error (error, bytes);
  return memory;
}

gsize
nd_size_mul (gsize a, gsize b, gsize c)
{
  gsize n;

  if (!g_size_checked_mul (&n, a, b) || !g_size_checked_mul (&n, n, c))
    return G_MAXSIZE;
  return n;
}

/* Control groups: /proc/self/cgroup names the group of this process in each
 * hierarchy, and /proc/self/mountinfo the folder where the hierarchy is. Each
 * group from there up to the folder of the mount may have a limit. */

/* The least of @limit and of the limits in the folder of a group. */
typedef gdouble (*ReadLimit) (const gchar *group, gdouble limit);

/* The text of file @name in @folder, or NULL. */
static gchar *
limits_read_text (const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  gchar *text;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : NULL;
}

static gchar **
limits_read_lines (const gchar *root, const gchar *path)
{
  g_autofree gchar *text = limits_read_text (root, path);

  return g_strsplit (text ? text : "", "\n", -1);
}

/* Whether @word is in @list, words between commas. */
static gboolean
has_word (const gchar *list, const gchar *word)
{
  g_auto (GStrv) words = g_strsplit (list, ",", -1);

  return g_strv_contains ((const gchar *const *) words, word);
}

/* The group below the folder of a mount. @at is its path in the hierarchy,
 * @top that of the mount. A process may see a mount of other groups only: then
 * it is the mount's own group that limits it. */
static const gchar *
find_below (const gchar *at, const gchar *top)
{
  const gsize n = strcmp (top, "/") ? strlen (top) : 0;

  if (strncmp (at, top, n) != 0 || (at[n] && at[n] != '/')
      || strstr (at, "/.."))
    return "";
  return at + n;
}

/* Reads the limits of @group and of the groups above it, up to @mount. */
static gdouble
read_groups (const gchar *root, const gchar *mount, const gchar *group,
    ReadLimit read, gdouble limit)
{
  g_autofree gchar *folder = g_strconcat (root, mount, group, NULL);
  const gsize top = strlen (root) + strlen (mount);

  while (strlen (folder) >= top) {
    gchar *end = strrchr (folder, '/');

    limit = read (folder, limit);
    if (!end)
      break;
    *end = 0;
  }
  return limit;
}

/* A line of mountinfo: ID PARENT DEVICE TOP MOUNT OPTIONS [TAGS] - TYPE SOURCE
 * OPTIONS, where blanks are octal numbers. @controller is NULL in version 2.
 * FALSE if it is not the mount of that hierarchy. */
static gboolean
parse_mount (const gchar *line, const gchar *controller, gchar **top,
    gchar **mount)
{
  g_auto (GStrv) before = g_strsplit (line, " ", 6);
  const gchar *after = strstr (line, " - ");
  g_auto (GStrv) type = g_strsplit (after ? after + 3 : "", " ", 3);

  if (g_strv_length (before) < 6 || g_strv_length (type) < 3
      || strcmp (type[0], controller ? "cgroup" : "cgroup2") != 0
      || (controller && !has_word (type[2], controller)))
    return FALSE;
  *top = g_strcompress (before[3]);
  *mount = g_strcompress (before[4]);
  return TRUE;
}

static gdouble
read_hierarchy (const gchar *root, gchar **mounts, const gchar *controller,
    const gchar *at, ReadLimit read, gdouble limit)
{
  for (guint i = 0; mounts[i]; i++) {
    g_autofree gchar *top = NULL, *mount = NULL;

    if (parse_mount (mounts[i], controller, &top, &mount))
      limit = read_groups (root, mount, find_below (at, top), read, limit);
  }
  return limit;
}

/* A line of /proc/self/cgroup: NUMBER:CONTROLLERS:PATH, without controllers in
 * version 2. */
static gdouble
find_limit (const gchar *root, const gchar *controller, ReadLimit read)
{
  g_auto (GStrv) groups = limits_read_lines (root, "/proc/self/cgroup");
  g_auto (GStrv) mounts = limits_read_lines (root, "/proc/self/mountinfo");
  gdouble limit = G_MAXDOUBLE;

  for (guint i = 0; groups[i]; i++) {
    g_auto (GStrv) words = g_strsplit (groups[i], ":", 3);

    if (g_strv_length (words) < 3)
      continue;
    if (!*words[1] || has_word (words[1], controller))
      limit = read_hierarchy (root, mounts, *words[1] ? controller : NULL,
          words[2], read, limit);
  }
  return limit;
}

/* The number at the start of @text; "max" and negative numbers are no limit. */
static gdouble
to_number (const gchar *text)
{
  gchar *end = NULL;
  const gdouble number = text ? g_ascii_strtod (text, &end) : -1;

  return text && end != text && number >= 0 ? number : G_MAXDOUBLE;
}

static gdouble
read_memory (const gchar *group, gdouble limit)
{
  static const gchar *const names[] = { "memory.max", "memory.high",
    "memory.limit_in_bytes" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *text = limits_read_text (group, names[i]);

    limit = MIN (limit, to_number (text));
  }
  return limit;
}

/* The cores whose time is @quota of each @period. */
static gdouble
limits_divide (gdouble quota, gdouble period, gdouble limit)
{
  return quota < G_MAXDOUBLE && period > 0 && period < G_MAXDOUBLE
      ? MIN (limit, quota / period)
      : limit;
}

static gdouble
read_cores (const gchar *group, gdouble limit)
{
  g_autofree gchar *both = limits_read_text (group, "cpu.max");
  g_autofree gchar *quota = limits_read_text (group, "cpu.cfs_quota_us");
  g_autofree gchar *period = limits_read_text (group, "cpu.cfs_period_us");
  const gchar *second = both ? strchr (both, ' ') : NULL;

  limit = limits_divide (to_number (both), to_number (second), limit);
  return limits_divide (to_number (quota), to_number (period), limit);
}

size_t
nd_cgroup_memory (const gchar *root)
{
  const gdouble bytes = find_limit (root, "memory", read_memory);

  return bytes < (gdouble) G_MAXSIZE ? (gsize) bytes : G_MAXSIZE;
}

guint
nd_cgroup_cores (const gchar *root)
{
  const gdouble cores = find_limit (root, "cpu", read_cores);
  guint n;

  if (cores >= G_MAXINT)
    return G_MAXUINT;
  n = (guint) cores;
  return MAX (n + (n < cores), 1);
}

static gsize
resource_limit (int resource)
{
  struct rlimit limit;

  if (getrlimit (resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
      || limit.rlim_cur > G_MAXSIZE)
    return G_MAXSIZE;
  return limit.rlim_cur;
}

/* To read the limits takes about 100 us, longer than to filter a small image,
 * and they seldom change. */
static gsize
recent_group_memory (void)
{
  static atomic_size_t bytes;
  static _Atomic gint64 until; /* in us */
  const gint64 now = g_get_monotonic_time ();

  if (now >= atomic_load (&until)) {
    atomic_store (&bytes, nd_cgroup_memory (""));
    atomic_store (&until, now + G_USEC_PER_SEC);
  }
  return atomic_load (&bytes);
}

size_t
nd_usable_memory (void)
{
  const gsize physical =
      (gsize) sysconf (_SC_PHYS_PAGES) * (gsize) sysconf (_SC_PAGESIZE);
  const gsize space = resource_limit (RLIMIT_AS);
  const gsize data = resource_limit (RLIMIT_DATA);
  const gsize group = recent_group_memory ();

  return MIN (MIN (physical, group), MIN (space, data));
}

guint
nd_usable_cores (void)
{
  cpu_set_t set;
  const guint cores = sched_getaffinity (0, sizeof (set), &set) == 0
      ? (guint) CPU_COUNT (&set)
      : g_get_num_processors ();
  const guint group = nd_cgroup_cores ("");

  return MAX (MIN (cores, group), 1);
}

/* The size of large pages on most machines. A driver pins one of them in about
 * the time of a small page. */
#define LARGE_PAGE ((gsize) 2 << 20)

/* Gives pages to LARGE_PAGE bytes. */
static void
touch (gsize index, guint worker, gpointer data)
{
  volatile guint8 *bytes = (guint8 *) data + index * LARGE_PAGE;

  for (gsize i = 0; i < LARGE_PAGE; i += 4096)
    bytes[i] = 0;
}

/* The kernel clears the pages of large memory on all cores, because a driver
 * that pins memory would do it on one. */
void
nd_memory_use_large_pages (gpointer memory, gsize bytes)
{
#ifdef MADV_HUGEPAGE
  const guintptr page = (guintptr) 1 << 21;
  const guintptr start = ((guintptr) memory + page - 1) / page * page;
  const guintptr end = ((guintptr) memory + bytes) / page * page;

  if (end > start)
    madvise ((gpointer) start, end - start, MADV_HUGEPAGE);
#endif
}

gpointer
nd_pages_new (gsize *size)
{
  const gsize small = sysconf (_SC_PAGESIZE);
  const gboolean is_large = *size >= 4 * LARGE_PAGE;
  const gsize page = is_large ? MAX (small, LARGE_PAGE) : small;
  gpointer data = NULL;

  if (*size > G_MAXSIZE - page)
    return NULL;
  *size = MAX (*size + page - 1, page) / page * page;
  if (posix_memalign (&data, page, *size) != 0)
    return NULL;
  if (is_large) {
    madvise (data, *size, MADV_HUGEPAGE);
    nd_parallel_for (*size / LARGE_PAGE, touch, data);
  }
  return data;
}
