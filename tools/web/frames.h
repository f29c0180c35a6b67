/* Watches the frames of a WebSocket as they arrive, before libsoup collects
 * them: libsoup limits a frame, and puts any number of fragments together.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define WEB_MAX_MESSAGE_BYTES 65536 /* all fragments together */
#define WEB_MAX_FRAGMENTS 64        /* of a message */
#define WEB_MAX_PINGS 64            /* between two calls of forgive */

#define WEB_TYPE_FRAMES (web_frames_get_type ())
G_DECLARE_FINAL_TYPE (WebFrames, web_frames, WEB, FRAMES, GObject)

/* A stream that passes the bytes of @stream, and fails with an error if a
 * message is larger than the limits. It holds @stream. @frames: a reference. */
GIOStream *web_frames_wrap (GIOStream *stream, WebFrames **frames);

/* The monotonic time at which a message began that has not ended, or 0. */
gint64 web_frames_unfinished (WebFrames *self);

/* The peer has read what was sent: answers to its pings do not wait. */
void web_frames_forgive (WebFrames *self);

G_END_DECLS
