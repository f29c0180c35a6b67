/* A page at the other end of a WebSocket.
 *
 * The page sends texts, lines of which the first is the name:
 *
 *   ack NUMBER                      the page has taken the message NUMBER
 *   show before after               pictures that it shows; none, one or both
 *   set / ELEMENT / PROPERTY / VALUE            each on a line of its own
 *   press X Y BUTTON STATE, release, move, scroll X Y DX DY STATE, key NAME
 *   record on, record off, restart, alive
 *   same-window on, same-window off     for both pictures, or each its own
 *
 * The program sends its state as JSON with a field ack, and pictures: the
 * number for ack (4 bytes, most significant first), 0 or 1 for before or after,
 * JPEG. A page has at most one state and two of each picture that it has not
 * acknowledged, and no new picture while much waits. The numbers are random, so
 * that a page cannot acknowledge a message that it has not read. A page that
 * leaves a message unread for too long, or does not finish one of its own, is
 * dropped.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tools/web/frames.h"
#include "tools/web/player.h"

#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct _WebClient WebClient;

/* Counts of all clients. */
typedef struct
{
  guint64 sent, skipped; /* pictures */
  guint64 slow;          /* pages that were dropped */
} WebClientCounts;

/* @frames: of @connection; taken. @closed is called when the page has gone. */
WebClient *web_client_new (SoupWebsocketConnection *connection,
    WebFrames *frames, GSocket *socket, WebPlayer *player,
    WebClientCounts *counts, void (*closed) (WebClient *self, gpointer data),
    gpointer data);
/* Closes the connection. */
void web_client_free (WebClient *self);

/* Sends new pictures as far as the page has taken earlier ones, or asks for
 * some. */
void web_client_send_pictures (WebClient *self);

/* Sends the state if the page has taken the one before. */
void web_client_send_state (WebClient *self);

/* Closes the connection of a page that says nothing, takes nothing, or does not
 * finish a message. Called a few times per second. */
void web_client_check (WebClient *self);

G_END_DECLS
