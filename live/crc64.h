/* The checksum of OpenIGTLink messages: CRC-64 of ECMA-182, most significant
 * bit first, initial value 0, no final XOR.
 * https://ecma-international.org/publications-and-standards/standards/ecma-182
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The polynomial without x^64. Bit i is the coefficient of x^i. */
#define ND_CRC64_POLYNOMIAL G_GUINT64_CONSTANT (0x42F0E1EBA9EA3693)

/* Continues the checksum @crc with the bytes @data. The checksum of no bytes is
 * 0. Uses the fastest method of the CPU. */
guint64 nd_crc64 (guint64 crc, gconstpointer data, gsize size);

/* The methods: tables of 16 bytes, and carry-less multiplication, for which
 * nd_crc64_has_carryless() must be TRUE. */
guint64 nd_crc64_tables (guint64 crc, gconstpointer data, gsize size);
guint64 nd_crc64_carryless (guint64 crc, gconstpointer data, gsize size);
gboolean nd_crc64_has_carryless (void);

G_END_DECLS
