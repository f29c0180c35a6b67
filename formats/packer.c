/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/packer.h"

#include "core/threads.h"
#include "formats/deflate.h"

#include <pthread.h>
#include <string.h>
#include <zlib.h>

#define MAX_THREADS 16

/* Blocks that are not packed, and an empty last block in the fixed code. */
#define STORED_MAX ((gsize) 65535)
#define STORED_HEAD 5
#define PIECE_SIZE \
  (ND_PACKER_BLOCK + (ND_PACKER_BLOCK / STORED_MAX + 1) * STORED_HEAD)
static const guint8 last_block[] = { 3, 0 };

typedef struct
{
  guint8 *bytes, *piece; /* ND_PACKER_BLOCK, PIECE_SIZE */
  const guint8 *from;    /* @bytes, or the caller's own */
  gsize n, size;
  guint32 sum;
  gboolean packed;
} Block;

struct _NdPacker
{
  gboolean gzip;
  NdPackerWrite write;
  gpointer data;

  pthread_t threads[MAX_THREADS];
  guint n_threads; /* 0: the caller packs */
  NdDeflater *deflaters[MAX_THREADS];
  Block blocks[2 * MAX_THREADS]; /* block i is at i % n_blocks */
  guint n_blocks;
  gsize filled; /* bytes of the block that is next */

  pthread_mutex_t lock;
  pthread_cond_t added, freed;
  /* Blocks so far; protected by the lock, as all below. */
  guint64 n_added, n_taken, n_written;
  gboolean writing; /* a thread writes */
  gboolean stopping;
  gint reason;
  guint64 written; /* bytes, before packing */
  guint32 sum;     /* of them */
};

/* Blocks that are not packed (RFC 1951, 3.2.4). */
static gsize
packer_store (const guint8 *bytes, gsize n, guint8 *piece)
{
  guint8 *to = piece;

  while (n > 0) {
    const gsize size = MIN (n, STORED_MAX);
    const guint8 head[STORED_HEAD] = { 0, size, size >> 8, ~size,
      (guint16) ~size >> 8 };

    memcpy (to, head, STORED_HEAD);
    memcpy (to + STORED_HEAD, bytes, size);
    to += STORED_HEAD + size;
    bytes += size;
    n -= size;
  }
  return to - piece;
}

static void
packer_pack (NdPacker *packer, Block *block, NdDeflater *deflater)
{
  block->sum = packer->gzip ? crc32_z (0, block->from, block->n)
                            : nd_deflate_adler32 (1, block->from, block->n);
  block->size = nd_deflater_pack (deflater, block->from, block->n, block->piece,
      PIECE_SIZE);
  if (block->size == 0)
    block->size = packer_store (block->from, block->n, block->piece);
}

/* Writes a block; the lock is held, but not meanwhile. */
static void
write_block (NdPacker *packer, Block *block)
{
  gint reason = packer->reason;

  pthread_mutex_unlock (&packer->lock);
  if (!reason)
    reason = packer->write (packer->data, block->piece, block->size);
  pthread_mutex_lock (&packer->lock);
  block->packed = FALSE;
  packer->reason = reason;
  packer->n_written++;
  if (reason)
    return;
  packer->written += block->n;
  packer->sum = packer->gzip
      ? crc32_combine (packer->sum, block->sum, block->n)
      : adler32_combine (packer->sum, block->sum, block->n);
}

/* The thread that packs the block whose turn it is writes it, and those after
 * it that are packed. */
static void
write_packed (NdPacker *packer)
{
  if (packer->writing)
    return;
  packer->writing = TRUE;
  while (packer->n_written < packer->n_taken) {
    Block *block = &packer->blocks[packer->n_written % packer->n_blocks];

    if (!block->packed)
      break;
    write_block (packer, block);
    pthread_cond_signal (&packer->freed);
  }
  packer->writing = FALSE;
}

/* Packs the block that is next; the lock is held, but not meanwhile. */
static void
take_block (NdPacker *packer, NdDeflater *deflater)
{
  Block *block = &packer->blocks[packer->n_taken++ % packer->n_blocks];
  const gboolean failed = packer->reason != 0;

  pthread_mutex_unlock (&packer->lock);
  if (!failed)
    packer_pack (packer, block, deflater);
  pthread_mutex_lock (&packer->lock);
  block->packed = TRUE;
  write_packed (packer);
}

typedef struct
{
  NdPacker *packer;
  NdDeflater *deflater;
} Worker;

static void *
packer_worker_main (void *data)
{
  g_autofree Worker *worker = data;
  NdPacker *packer = worker->packer;

  pthread_mutex_lock (&packer->lock);
  while (!packer->stopping) {
    if (packer->n_taken < packer->n_added)
      take_block (packer, worker->deflater);
    else
      pthread_cond_wait (&packer->added, &packer->lock);
  }
  pthread_mutex_unlock (&packer->lock);
  return NULL;
}

static gboolean
start_thread (NdPacker *packer)
{
  g_autofree Worker *worker = g_try_new (Worker, 1);

  if (!worker)
    return FALSE;
  *worker = (Worker){ packer, packer->deflaters[packer->n_threads] };
  if (pthread_create (&packer->threads[packer->n_threads], NULL,
          packer_worker_main, worker)
      != 0)
    return FALSE;
  (void) g_steal_pointer (&worker);
  packer->n_threads++;
  return TRUE;
}

/* The memory of one thread; FALSE if there is none. */
static gboolean
add_memory (NdPacker *packer, guint thread)
{
  packer->deflaters[thread] = nd_deflater_new ();
  for (guint i = 2 * thread; i < 2 * thread + 2; i++) {
    packer->blocks[i].bytes = g_try_malloc (ND_PACKER_BLOCK);
    packer->blocks[i].piece = g_try_malloc (PIECE_SIZE);
    if (!packer->blocks[i].bytes || !packer->blocks[i].piece)
      return FALSE;
  }
  return packer->deflaters[thread] != NULL;
}

NdPacker *
nd_packer_new (gboolean gzip, NdPackerWrite write, gpointer data)
{
  const guint wanted = MIN (nd_threads (), MAX_THREADS);
  NdPacker *packer = g_try_new0 (NdPacker, 1);
  guint n = 0;

  if (!packer)
    return NULL;
  packer->gzip = gzip;
  packer->write = write;
  packer->data = data;
  packer->sum = gzip ? 0 : 1;
  pthread_mutex_init (&packer->lock, NULL);
  pthread_cond_init (&packer->added, NULL);
  pthread_cond_init (&packer->freed, NULL);
  while (n < wanted && add_memory (packer, n))
    n++;
  packer->n_blocks = 2 * n;
  if (n == 0) {
    nd_packer_free (packer);
    return NULL;
  }
  while (n > 1 && packer->n_threads < n && start_thread (packer))
    ;
  return packer;
}

void
nd_packer_stop (NdPacker *packer)
{
  pthread_mutex_lock (&packer->lock);
  packer->stopping = TRUE;
  pthread_cond_broadcast (&packer->added);
  pthread_mutex_unlock (&packer->lock);
  for (guint i = 0; i < packer->n_threads; i++)
    pthread_join (packer->threads[i], NULL);
  packer->n_threads = 0;
  packer->n_added = packer->n_taken = packer->n_written;
  packer->filled = 0;
  packer->reason = 0;
}

void
nd_packer_free (NdPacker *packer)
{
  nd_packer_stop (packer);
  for (guint i = 0; i < MAX_THREADS; i++)
    nd_deflater_free (packer->deflaters[i]);
  for (guint i = 0; i < G_N_ELEMENTS (packer->blocks); i++) {
    g_free (packer->blocks[i].bytes);
    g_free (packer->blocks[i].piece);
  }
  pthread_cond_destroy (&packer->freed);
  pthread_cond_destroy (&packer->added);
  pthread_mutex_destroy (&packer->lock);
  g_free (packer);
}

static Block *
next_block (NdPacker *packer)
{
  return &packer->blocks[packer->n_added % packer->n_blocks];
}

/* Hands on the block that is next, and waits until there is place for another
 * one. Returns 0 or the errno. */
static gint
hand_on (NdPacker *packer, const guint8 *from, gsize n)
{
  Block *block = next_block (packer);
  gint reason;

  block->from = from;
  block->n = n;
  pthread_mutex_lock (&packer->lock);
  packer->n_added++;
  if (packer->n_threads == 0)
    take_block (packer, packer->deflaters[0]);
  else
    pthread_cond_signal (&packer->added);
  while (packer->n_added - packer->n_written == packer->n_blocks)
    pthread_cond_wait (&packer->freed, &packer->lock);
  reason = packer->reason;
  pthread_mutex_unlock (&packer->lock);
  packer->filled = 0;
  return reason;
}

gint
nd_packer_add (NdPacker *packer, const guint8 *bytes, gsize n)
{
  gint reason = 0;

  while (n > 0 && !reason) {
    Block *block = next_block (packer);
    const gsize part = MIN (n, ND_PACKER_BLOCK - packer->filled);

    /* The bytes stay the caller's only until this function returns. */
    if (part == ND_PACKER_BLOCK && packer->n_threads == 0) {
      reason = hand_on (packer, bytes, part);
    } else {
      memcpy (block->bytes + packer->filled, bytes, part);
      packer->filled += part;
      if (packer->filled == ND_PACKER_BLOCK)
        reason = hand_on (packer, block->bytes, packer->filled);
    }
    bytes += part;
    n -= part;
  }
  return reason;
}

gint
nd_packer_end (NdPacker *packer)
{
  gint reason = packer->filled > 0
      ? hand_on (packer, next_block (packer)->bytes, packer->filled)
      : 0;

  pthread_mutex_lock (&packer->lock);
  while (packer->n_written < packer->n_added)
    pthread_cond_wait (&packer->freed, &packer->lock);
  reason = packer->reason;
  pthread_mutex_unlock (&packer->lock);
  return reason ? reason
                : packer->write (packer->data, last_block, sizeof (last_block));
}

guint64
nd_packer_written (NdPacker *packer)
{
  return packer->written;
}

guint32
nd_packer_sum (NdPacker *packer)
{
  return packer->sum;
}
