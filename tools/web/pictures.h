/* JPEG pictures of the buffers that pass a pad. Only pictures that somebody
 * wants are made, one at a time, in threads of their own: the stream never
 * waits for them. An M-mode takes the lines of all buffers, unless the volumes
 * that wait for it need too much memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _WebPictures WebPictures;

/* Called in the main context when a new picture is there. */
typedef void (*WebPicturesFunction) (gpointer data);

/* Pictures of the buffers of @pad. Volumes are drawn by an element like @view
 * with its properties (NULL: the buffers are pictures already). @failed is
 * called once with a sentence if no picture can be made. */
WebPictures *web_pictures_new (GstPad *pad, GstElement *view, guint quality,
    WebPicturesFunction made, void (*failed) (const gchar *text, gpointer data),
    gpointer data);
void web_pictures_free (WebPictures *self);

/* Asks for a picture of the next buffer. */
void web_pictures_want (WebPictures *self);

/* The last picture and its number, counted from 1; NULL and 0 before it. */
GBytes *web_pictures_last (WebPictures *self, guint64 *number);

/* The last picture before compression, or NULL. */
GstSample *web_pictures_last_raw (WebPictures *self);

/* After the stream has begun again: forgets the volumes that were drawn. */
void web_pictures_restart (WebPictures *self);

/* The range of sample values of the last picture. FALSE if there was none, or
 * if the element that draws does not say. */
gboolean web_pictures_window (WebPictures *self, gdouble *window,
    gdouble *level);

/* Sends a navigation event to the element that draws, if there is one. */
void web_pictures_navigate (WebPictures *self, GstEvent *event);

G_END_DECLS
