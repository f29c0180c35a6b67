/* OpenIGTLink messages: header, extended header, metadata; queries and the
 * messages that answer them.
 *
 *   header (58 bytes) · extended header · content · metadata
 *
 * Extended header and metadata exist if the version of the header is 2 or
 * more. See Documents/Protocol of https://github.com/openigtlink/OpenIGTLink
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_IGTL_PORT 18944
#define ND_IGTL_HEADER_SIZE 58
#define ND_IGTL_EXTENDED_SIZE 12
#define ND_IGTL_TYPE_SIZE 12
#define ND_IGTL_DEVICE_SIZE 20
#define ND_IGTL_VERSION_MAX 3

/* The most bytes of a message without samples, of the metadata of one with
 * samples, and of the fields of a volume that are sent. GLib's strings hold
 * them, which end the process if there is no memory. */
#define ND_IGTL_SMALL_MAX (128 * 1024)

/* Character sets of strings, as IANA numbers them. */
#define ND_IGTL_ASCII 3
#define ND_IGTL_LATIN1 4
#define ND_IGTL_UTF8 106
#define ND_IGTL_UTF16BE 1013
#define ND_IGTL_UTF16LE 1014
#define ND_IGTL_UTF16 1015 /* with a byte order mark, or big-endian */

typedef struct
{
  guint16 version; /* 1 to ND_IGTL_VERSION_MAX */
  gchar type[ND_IGTL_TYPE_SIZE + 1];
  gchar device[ND_IGTL_DEVICE_SIZE + 1]; /* valid UTF-8 */
  guint64 timestamp; /* of 2^-32 s since 1970; 0: not known */
  guint64 body_size; /* bytes after the header */
  guint64 crc;       /* of these */
} NdIgtlHeader;

typedef struct
{
  guint16 size;                 /* of the extended header itself */
  guint16 metadata_header_size; /* count and sizes */
  guint32 metadata_size;        /* keys and values */
  guint32 message_id;
} NdIgtlExtended;

/* Reads ND_IGTL_HEADER_SIZE bytes. ND_ERROR_FORMAT if the version is not known
 * or if the type is no ASCII text: such bytes are not a header, and the start
 * of the next message is unknown. */
gboolean nd_igtl_header_parse (NdIgtlHeader *header, const guint8 *bytes,
    GError **error);

/* Reads ND_IGTL_EXTENDED_SIZE bytes at the start of a body of @body_size bytes.
 * ND_ERROR_FORMAT if the sizes exceed the body. */
gboolean nd_igtl_extended_parse (NdIgtlExtended *extended, const guint8 *bytes,
    guint64 body_size, GError **error);

/* Called for each key and value; both are valid UTF-8. */
typedef void (*NdIgtlFieldFunc) (const gchar *key, const gchar *value,
    gpointer user_data);

/* Reads the metadata header and metadata, @size bytes together. ND_ERROR_FORMAT
 * if the sizes in it exceed @size; the function has then been called for the
 * fields before. */
gboolean nd_igtl_metadata_parse (const guint8 *bytes, gsize size,
    NdIgtlFieldFunc func, gpointer user_data, GError **error);

typedef struct
{
  const gchar *key, *value;
} NdIgtlField;

/* Appends metadata header and metadata. Returns the size of the metadata
 * header. Keys above 65535 bytes and values above 4 GiB are left out. */
guint16 nd_igtl_metadata_build (GByteArray *out, const NdIgtlField *fields,
    guint n);

/* The header of a message. */
typedef struct
{
  guint16 version;
  const gchar *type, *device; /* cut to the bytes that a header has */
  guint64 timestamp;
  guint32 message_id; /* of version 2 and more */
} NdIgtlEnvelope;

/* Builds a message in up to three pieces of memory, so that samples need not be
 * copied: @head receives header, extended header and @content, @tail receives
 * the metadata from @fields (nothing if the version is 1). @samples, which may
 * be NULL, belong between them. */
void nd_igtl_build (const NdIgtlEnvelope *envelope, const GByteArray *content,
    gconstpointer samples, gsize samples_size, const NdIgtlField *fields,
    guint n_fields, GByteArray *head, GByteArray *tail);

/* Convert to nanoseconds since 1970 and back, without loss until the year
 * 2106. */
guint64 nd_igtl_time_to_ns (guint64 timestamp);
guint64 nd_igtl_time_from_ns (guint64 ns);

/* Copies a text of up to @size bytes, which may end with 0, as valid UTF-8. */
gchar *nd_igtl_text (const guint8 *bytes, gsize size);

/* The same for a text in the character set @charset, one of the numbers above.
 * Texts of other sets are read as UTF-8 whose invalid bytes are replaced. */
gchar *nd_igtl_text_of (guint charset, const guint8 *bytes, gsize size);

typedef enum
{
  ND_IGTL_NO_QUERY,
  ND_IGTL_GET,
  ND_IGTL_START,
  ND_IGTL_STOP,
  ND_IGTL_ANSWER /* RTS_ */
} NdIgtlQuery;

/* Parses the query @type. @about: the type that it is about, which may be cut
 * ("TRANSFOR"). */
NdIgtlQuery nd_igtl_query_parse (const gchar *type, const gchar **about);

/* Adds the content of a CAPABILITY. @types ends with NULL. */
void nd_igtl_capability_build (const gchar *const *types, GByteArray *out);

/* TRUE if the content of a CAPABILITY names @type. */
gboolean nd_igtl_capability_has (const guint8 *content, gsize size,
    const gchar *type);

/* Adds the content of a STATUS that says that all is well. */
void nd_igtl_status_build (GByteArray *out);

G_END_DECLS
