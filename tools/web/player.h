/* The pipeline that pages look at: its pictures, controls, messages and
 * recordings. All functions are for the main thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tools/web/pictures.h"
#include "tools/web/recorder.h"

G_BEGIN_DECLS

typedef enum
{
  WEB_BEFORE,
  WEB_AFTER,
  WEB_N_PICTURES
} WebPicture;

typedef struct _WebPlayer WebPlayer;

typedef struct
{
  const gchar *record_folder; /* NULL: pages cannot record */
  WebRecorderLimits limits;
  guint quality; /* of JPEG */
} WebPlayerSettings;

/* The callbacks of a player. */
typedef struct
{
  void (*picture) (gpointer data); /* there is a new picture */
  void (*news) (gpointer data);    /* there is a new message */
  /* The pipeline failed before it made its first picture. */
  void (*failed) (const gchar *text, gpointer data);
  gpointer data;
} WebPlayerEvents;

/* Makes a pipeline of a description, in which the element that draws is named
 * "view". Its properties, and those of an element "filter", become controls.
 * Errors: the description is wrong, or has no such element. */
WebPlayer *web_player_new (GstElement *pipeline,
    const WebPlayerSettings *settings, const WebPlayerEvents *events,
    GError **error);
gboolean web_player_start (WebPlayer *self, GError **error);
/* Ends a recording too. */
void web_player_free (WebPlayer *self);

/* NULL: the pipeline has no "filter", and no picture before it. */
WebPictures *web_player_pictures (WebPlayer *self, WebPicture picture);

/* Appends the description of the controls, or their values, as JSON. */
void web_player_describe (WebPlayer *self, GString *json);
void web_player_values (WebPlayer *self, GString *json);

/* Appends state, latency, stats and recording as JSON fields. */
void web_player_state (WebPlayer *self, GString *json);

/* Appends the messages after number @since as a JSON array. Returns the number
 * of the last one. */
guint64 web_player_messages (WebPlayer *self, guint64 since, GString *json);

/* Changes a property. If the value is refused, a message says so. */
void web_player_set (WebPlayer *self, const gchar *element,
    const gchar *property, const gchar *value);

/* Takes a navigation event to the view, and to that of the input. */
void web_player_navigate (WebPlayer *self, GstEvent *event);

/* Gives both pictures the range of sample values that the picture before the
 * filter has now, or with @same FALSE to each its own again. */
void web_player_same_window (WebPlayer *self, gboolean same);

void web_player_record (WebPlayer *self, gboolean record);

/* Plays from the beginning, after the end or an error. */
void web_player_restart (WebPlayer *self);

/* Appends the numbers in the text format of Prometheus. */
void web_player_metrics (WebPlayer *self, GString *text);

G_END_DECLS
