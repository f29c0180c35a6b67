/* Limits of memory and of cores: control groups of both versions in a simulated
 * tree of files, and limits of resources.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_FILES 10
#define NONE G_MAXSIZE

typedef struct
{
  const gchar *path, *text;
} File;

typedef struct
{
  const gchar *name;
  File files[MAX_FILES];
  gsize memory; /* expected; NONE: no limit */
  guint cores;  /* expected; 0: no limit */
} Case;

#define GROUPS "proc/self/cgroup"
#define MOUNTS "proc/self/mountinfo"
#define V2 "sys/fs/cgroup/"
#define V1_MEMORY "sys/fs/cgroup/memory/"
#define V1_CPU "sys/fs/cgroup/cpu,cpuacct/"
#define MOUNT_V2 \
  "25 18 0:22 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
#define MOUNTS_V1                                                           \
  "18 1 8:1 / / rw - ext4 /dev/sda1 rw\n"                                   \
  "30 18 0:2 / /sys/fs/cgroup/memory rw shared:9 - cgroup none rw,memory\n" \
  "31 18 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct\n"

static const Case cases[] = {
  { "no-files", { { NULL } }, NONE, 0 },
  { "v2/own-group",
      { { GROUPS, "0::/job\n" }, { MOUNTS, MOUNT_V2 },
          { V2 "job/memory.max", "1048576\n" },
          { V2 "job/cpu.max", "150000 100000\n" } },
      1048576, 2 },
  { "v2/unlimited",
      { { GROUPS, "0::/job\n" }, { MOUNTS, MOUNT_V2 },
          { V2 "job/memory.max", "max\n" },
          { V2 "job/cpu.max", "max 100000\n" } },
      NONE, 0 },
  /* A parent has less than the group itself, or more. */
  { "v2/parents",
      { { GROUPS, "0::/a/b/c\n" }, { MOUNTS, MOUNT_V2 },
          { V2 "a/memory.max", "3000000\n" },
          { V2 "a/b/memory.max", "2000000\n" },
          { V2 "a/b/c/memory.max", "max\n" },
          { V2 "a/cpu.max", "100000 100000\n" },
          { V2 "a/b/c/cpu.max", "800000 100000\n" },
          { V2 "other/memory.max", "7\n" } },
      2000000, 1 },
  { "v2/high",
      { { GROUPS, "0::/job\n" }, { MOUNTS, MOUNT_V2 },
          { V2 "job/memory.max", "5000000\n" },
          { V2 "job/memory.high", "4000000\n" } },
      4000000, 0 },
  /* In a namespace of its own the group is the folder of the mount. */
  { "v2/namespace",
      { { GROUPS, "0::/\n" }, { MOUNTS, MOUNT_V2 },
          { V2 "memory.max", "6000000\n" },
          { V2 "cpu.max", "50000 100000\n" } },
      6000000, 1 },
  /* The mount begins at a group: of the process, or of another one. */
  { "v2/mount-of-group",
      { { GROUPS, "0::/docker/abc/x\n" },
          { MOUNTS,
              "25 18 0:22 /docker/abc /mnt/my\\040groups rw - cgroup2 "
              "cgroup rw\n" },
          { "mnt/my groups/memory.max", "8000000\n" },
          { "mnt/my groups/x/memory.max", "7000000\n" } },
      7000000, 0 },
  { "v2/mount-of-other",
      { { GROUPS, "0::/docker/abcdef\n" },
          { MOUNTS,
              "25 18 0:22 /docker/abc /sys/fs/cgroup rw - cgroup2 c rw\n" },
          { V2 "memory.max", "9000000\n" }, { V2 "def/memory.max", "1\n" } },
      9000000, 0 },
  { "v2/outside-of-namespace",
      { { GROUPS, "0::/../job\n" }, { MOUNTS, MOUNT_V2 },
          { V2 "memory.max", "9500000\n" },
          { "sys/fs/job/memory.max", "1\n" } },
      9500000, 0 },
  { "v1/own-group",
      { { GROUPS, "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/job\n" },
          { MOUNTS, MOUNTS_V1 },
          { V1_MEMORY "job/memory.limit_in_bytes", "1500000\n" },
          { V1_CPU "job/cpu.cfs_quota_us", "250000\n" },
          { V1_CPU "job/cpu.cfs_period_us", "100000\n" } },
      1500000, 3 },
  { "v1/unlimited",
      { { GROUPS, "5:cpu,cpuacct:/job\n4:memory:/job\n" },
          { MOUNTS, MOUNTS_V1 }, { V1_CPU "job/cpu.cfs_quota_us", "-1\n" },
          { V1_CPU "job/cpu.cfs_period_us", "100000\n" } },
      NONE, 0 },
  { "v1/parents",
      { { GROUPS, "5:cpu,cpuacct:/a/b\n4:memory:/a/b\n" },
          { MOUNTS, MOUNTS_V1 },
          { V1_MEMORY "a/memory.limit_in_bytes", "1100000\n" },
          { V1_MEMORY "a/b/memory.limit_in_bytes", "9223372036854771712\n" },
          { V1_CPU "a/cpu.cfs_quota_us", "400000\n" },
          { V1_CPU "a/cpu.cfs_period_us", "100000\n" },
          { V1_CPU "a/b/cpu.cfs_quota_us", "-1\n" },
          { V1_CPU "a/b/cpu.cfs_period_us", "100000\n" } },
      1100000, 4 },
  { "both-versions",
      { { GROUPS, "4:memory:/job\n0::/job\n" },
          { MOUNTS,
              MOUNTS_V1 "40 18 0:9 / /sys/fs/cgroup/unified rw - cgroup2 "
                        "cgroup2 rw\n" },
          { V1_MEMORY "job/memory.limit_in_bytes", "1700000\n" },
          { V2 "unified/job/cpu.max", "700000 100000\n" } },
      1700000, 7 },
  { "damaged",
      { { GROUPS, "x\n::\n0::/job" },
          { MOUNTS, "\n - \n25 - cgroup2\n" MOUNT_V2 },
          { V2 "job/memory.max", "" }, { V2 "job/cpu.max", "100000 0\n" } },
      NONE, 0 },
};

static int
remove_one (const char *path, const struct stat *status, int type,
    struct FTW *at)
{
  return remove (path);
}

static gchar *
make_tree (const File *files)
{
  gchar *root = g_dir_make_tmp ("ndconv-test-XXXXXX", NULL);

  g_assert_nonnull (root);
  for (guint i = 0; i < MAX_FILES && files[i].path; i++) {
    g_autofree gchar *path = g_build_filename (root, files[i].path, NULL);
    g_autofree gchar *folder = g_path_get_dirname (path);

    g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
    g_assert_true (g_file_set_contents (path, files[i].text, -1, NULL));
  }
  return root;
}

static void
test_groups (gconstpointer data)
{
  const Case *c = data;
  g_autofree gchar *root = make_tree (c->files);

  g_assert_cmpuint (nd_cgroup_memory (root), ==, c->memory);
  g_assert_cmpuint (nd_cgroup_cores (root), ==,
      c->cores > 0 ? c->cores : G_MAXUINT);
  g_assert_cmpint (nftw (root, remove_one, 16, FTW_DEPTH | FTW_PHYS), ==, 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_WORK \
  FALSE /* a sanitizer needs more space than any machine has */
#else
#define LIMITS_WORK TRUE
#endif

static void
test_resources (void)
{
  static const int resources[] = { RLIMIT_DATA, RLIMIT_AS };
  const gsize before = nd_usable_memory ();

  g_assert_cmpuint (before, >, 0);
  g_assert_cmpuint (before, <=,
      (gsize) sysconf (_SC_PHYS_PAGES) * (gsize) sysconf (_SC_PAGESIZE));
  for (guint i = 0; LIMITS_WORK && i < G_N_ELEMENTS (resources); i++) {
    const gsize less = before / 4 * 3;
    struct rlimit old, limit;
    g_autoptr (GError) error = NULL;

    g_assert_cmpint (getrlimit (resources[i], &old), ==, 0);
    limit = (struct rlimit){ less, old.rlim_max };
    g_assert_cmpint (setrlimit (resources[i], &limit), ==, 0);
    g_assert_cmpuint (nd_usable_memory (), ==, less);
    g_assert_true (nd_memory_check (less - 1, NULL));
    g_assert_false (nd_memory_check (less, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
    g_assert_cmpint (setrlimit (resources[i], &old), ==, 0);
  }
}

static void
test_affinity (void)
{
  cpu_set_t all, one;

  g_assert_cmpuint (nd_usable_cores (), >=, 1);
  g_assert_cmpint (sched_getaffinity (0, sizeof (all), &all), ==, 0);
  g_assert_cmpuint (nd_usable_cores (), <=, CPU_COUNT (&all));
  CPU_ZERO (&one);
  CPU_SET (sched_getcpu (), &one);
  g_assert_cmpint (sched_setaffinity (0, sizeof (one), &one), ==, 0);
  g_assert_cmpuint (nd_usable_cores (), ==, 1);
  g_assert_cmpint (sched_setaffinity (0, sizeof (all), &all), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strdup_printf ("/limits/%s", cases[i].name);

    g_test_add_data_func (path, &cases[i], test_groups);
  }
  g_test_add_func ("/limits/resources", test_resources);
  g_test_add_func ("/limits/affinity", test_affinity);
  return g_test_run ();
}
