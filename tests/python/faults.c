/* Kills the process at a chosen change of a folder, half way through it if it
 * writes: for LD_PRELOAD.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))

EXPORT void faults_arm (const char *path, int at);

static char folder[PATH_MAX];
static size_t length; /* of `folder`; 0: not armed */
static atomic_int left;

/* Kills this process at change number `at` of the folder `path`. Changes count
 * from 1; 0: never. */
EXPORT void
faults_arm (const char *path, int at)
{
  left = at;
  length = strlen (path);
  memcpy (folder, path, length + 1);
}

static int
is_due (void)
{
  return atomic_fetch_sub (&left, 1) == 1;
}

static int
is_inside (int at, const char *path)
{
  char place[PATH_MAX], link[64];
  ssize_t n;

  if (length == 0)
    return 0;
  if (path && path[0] == '/')
    return strncmp (path, folder, length) == 0;
  snprintf (link, sizeof (link), "/proc/self/fd/%d", at);
  n = at < 0 ? -1 : readlink (link, place, sizeof (place) - 1);
  return n >= (ssize_t) length && strncmp (place, folder, length) == 0;
}

static void
change (int at, const char *path)
{
  if (is_inside (at, path) && is_due ())
    kill (getpid (), SIGKILL);
}

#define REAL(name)            \
  static typeof (&name) real; \
  if (!real)                  \
  real = (typeof (&name)) dlsym (RTLD_NEXT, #name)

EXPORT ssize_t
write (int fd, const void *data, size_t n)
{
  REAL (write);
  if (is_inside (fd, NULL) && is_due ()) {
    n = real (fd, data, n / 2);
    kill (getpid (), SIGKILL);
  }
  return real (fd, data, n);
}

EXPORT ssize_t
pwrite (int fd, const void *data, size_t n, off_t at)
{
  REAL (pwrite);
  if (is_inside (fd, NULL) && is_due ()) {
    n = real (fd, data, n / 2, at);
    kill (getpid (), SIGKILL);
  }
  return real (fd, data, n, at);
}

EXPORT ssize_t
pwrite64 (int fd, const void *data, size_t n, off64_t at)
{
  return pwrite (fd, data, n, at);
}

static mode_t
take_mode (int flags, va_list more)
{
  return flags & (O_CREAT | O_TMPFILE) ? va_arg (more, mode_t) : 0;
}

EXPORT int
open (const char *path, int flags, ...)
{
  va_list more;
  mode_t mode;

  REAL (open);
  va_start (more, flags);
  mode = take_mode (flags, more);
  va_end (more);
  if (flags & (O_CREAT | O_TRUNC))
    change (-1, path);
  return real (path, flags, mode);
}

EXPORT int
open64 (const char *path, int flags, ...)
{
  va_list more;
  mode_t mode;

  va_start (more, flags);
  mode = take_mode (flags, more);
  va_end (more);
  return open (path, flags | O_LARGEFILE, mode);
}

EXPORT int
rename (const char *from, const char *to)
{
  REAL (rename);
  change (-1, to);
  return real (from, to);
}

EXPORT int
mkdir (const char *path, mode_t mode)
{
  REAL (mkdir);
  change (-1, path);
  return real (path, mode);
}

EXPORT int
unlink (const char *path)
{
  REAL (unlink);
  change (-1, path);
  return real (path);
}

EXPORT int
unlinkat (int at, const char *path, int flags)
{
  REAL (unlinkat);
  change (at, path);
  return real (at, path, flags);
}

EXPORT int
rmdir (const char *path)
{
  REAL (rmdir);
  change (-1, path);
  return real (path);
}

EXPORT int
ftruncate (int fd, off_t size)
{
  REAL (ftruncate);
  change (fd, NULL);
  return real (fd, size);
}

EXPORT int
ftruncate64 (int fd, off64_t size)
{
  return ftruncate (fd, size);
}
