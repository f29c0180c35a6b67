/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/gstndconvproperties.h"

#include "gst/gstndconvplan.h"
#include "gst/gstndconvstats.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

/* IDs of the properties that are not settings. */
static guint stats_id, settings_id;

/* Lets the settings take effect: soon, or at once if no volume was sent. Call
 * with the object lock held. */
static void
settings_set (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  g_auto (GstNdConvSettings) settings = { 0 };

  priv->settings_changed = TRUE;
  if (priv->negotiated)
    return;
  gst_nd_conv_get_settings (self, &settings);
  gst_nd_conv_activate (self, &settings);
}

/* Warns if @pspec was set to another value too late. */
static void
warn_if_too_late (GstNdConv *self, GParamSpec *pspec,
    const GstNdConvSettings *old)
{
  g_auto (GValue) before = G_VALUE_INIT;
  g_auto (GValue) now = G_VALUE_INIT;

  if (!(pspec->flags & GST_PARAM_MUTABLE_READY))
    return;
  g_value_init (&before, pspec->value_type);
  g_value_init (&now, pspec->value_type);
  gst_nd_conv_settings_get (old, pspec->param_id, &before);
  g_object_get_property (G_OBJECT (self), pspec->name, &now);
  if (g_param_values_cmp (pspec, &before, &now) != 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Property %s was set while the element is in PAUSED or PLAYING: it "
         "takes effect after the element was in READY",
            pspec->name),
        (NULL));
}

static gboolean
is_setting (GParamSpec *pspec)
{
  return g_type_is_a (pspec->owner_type, GST_TYPE_ND_CONV)
      && (pspec->flags & G_PARAM_WRITABLE) && pspec->param_id != settings_id;
}

/* Copies @from to @to, a value of the property @pspec. Texts are read as
 * gst-launch-1.0 reads them. */
static gboolean
convert (GParamSpec *pspec, const GValue *from, GValue *to)
{
  g_value_init (to, pspec->value_type);
  if (G_VALUE_HOLDS_STRING (from) && pspec->value_type != G_TYPE_STRING)
    return g_value_get_string (from)
        && gst_value_deserialize_with_pspec (to, g_value_get_string (from),
            pspec);
  return g_value_transform (from, to);
}

typedef struct
{
  GstNdConv *self;
  GstNdConvSettings *settings;
} Fields;

static gboolean
set_field (GQuark field, const GValue *value, gpointer data)
{
  Fields *fields = data;
  const gchar *name = g_quark_to_string (field);
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (fields->self), name);
  g_auto (GValue) converted = G_VALUE_INIT;

  if (!pspec || !is_setting (pspec)) {
    GST_ELEMENT_WARNING (fields->self, LIBRARY, SETTINGS,
        ("Property settings has a field \"%s\", which is not a property that "
         "can be set: no setting changes",
            name),
        (NULL));
    return FALSE;
  }
  if (!convert (pspec, value, &converted)) {
    g_autofree gchar *text = gst_value_serialize (value);

    GST_ELEMENT_WARNING (fields->self, LIBRARY, SETTINGS,
        ("Property settings has %s=%s, which is not a value of that "
         "property: no setting changes",
            name, text),
        (NULL));
    return FALSE;
  }
  g_param_value_validate (pspec, &converted);
  gst_nd_conv_settings_set (fields->settings, pspec->param_id, &converted);
  return TRUE;
}

/* Sets all fields of @structure, or none of them. */
static void
set_fields (GstNdConv *self, const GstStructure *structure)
{
  GstNdConvPrivate *priv = self->priv;
  g_auto (GstNdConvSettings) settings = { 0 };
  Fields fields = { self, &settings };

  if (!structure)
    return;
  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  GST_OBJECT_UNLOCK (self);
  if (!gst_structure_foreach (structure, set_field, &fields))
    return;
  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&priv->settings, &settings);
  settings_set (self);
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
get_fields (GstNdConv *self)
{
  GstStructure *structure = gst_structure_new_empty ("ndconv-settings");
  guint n;
  g_autofree GParamSpec **pspecs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < n; i++) {
    g_auto (GValue) value = G_VALUE_INIT;

    if (!is_setting (pspecs[i]))
      continue;
    g_value_init (&value, pspecs[i]->value_type);
    gst_nd_conv_settings_get (&self->priv->settings, pspecs[i]->param_id,
        &value);
    gst_structure_set_value (structure, pspecs[i]->name, &value);
  }
  GST_OBJECT_UNLOCK (self);
  return structure;
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNdConv *self = GST_ND_CONV (object);
  GstNdConvPrivate *priv = self->priv;
  g_auto (GstNdConvSettings) old = { 0 };
  gboolean started;

  if (id == settings_id) {
    set_fields (self, g_value_get_boxed (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  started = priv->started;
  gst_nd_conv_settings_copy (&old, &priv->settings);
  if (!gst_nd_conv_settings_set (&priv->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  settings_set (self);
  GST_OBJECT_UNLOCK (self);
  if (started)
    warn_if_too_late (self, pspec, &old);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNdConv *self = GST_ND_CONV (object);
  GstNdConvPrivate *priv = self->priv;

  if (id == stats_id) {
    g_value_take_boxed (value, gst_nd_conv_stats (self));
    return;
  }
  if (id == settings_id) {
    g_value_take_boxed (value, get_fields (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_conv_settings_get (&priv->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

void
gst_nd_conv_install_properties (GObjectClass *klass)
{
  klass->set_property = set_property;
  klass->get_property = get_property;
  stats_id = gst_nd_conv_settings_install (klass);
  settings_id = stats_id + 1;
  /* Since: 0.9 */
  g_object_class_install_property (klass, settings_id,
      g_param_spec_boxed ("settings", "Settings",
          "Several properties at once, which take effect at the same volume: a "
          "field for each property, of its type or as text. If one of them is "
          "wrong, none changes",
          GST_TYPE_STRUCTURE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_PLAYING));
}

/* The class that installs a property must have set_property and get_property of
 * its own. */
void
gst_nd_conv_class_install_axes (GstNdConvClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = set_property;
  object_class->get_property = get_property;
  gst_nd_conv_settings_install_axes (object_class);
}

/* Presets */

static gboolean (*load_preset) (GstPreset *preset, const gchar *name);
static gchar **(*get_property_names) (GstPreset *preset);

static void
hold_settings (GstNdConv *self, gint change)
{
  GST_OBJECT_LOCK (self);
  self->priv->settings_held += change;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
load_at_once (GstPreset *preset, const gchar *name)
{
  gboolean ok;

  hold_settings (GST_ND_CONV (preset), 1);
  ok = load_preset (preset, name);
  hold_settings (GST_ND_CONV (preset), -1);
  return ok;
}

/* A preset has each setting under its own name. */
static gchar **
get_names_but_settings (GstPreset *preset)
{
  gchar **names = get_property_names (preset);
  guint n = 0;

  for (guint i = 0; names && names[i]; i++) {
    if (g_str_equal (names[i], "settings"))
      g_free (names[i]);
    else
      names[n++] = names[i];
  }
  if (names)
    names[n] = NULL;
  return names;
}

void
gst_nd_conv_preset_init (gpointer preset_interface, gpointer unused)
{
  GstPresetInterface *interface = preset_interface;

  load_preset = interface->load_preset;
  get_property_names = interface->get_property_names;
  interface->load_preset = load_at_once;
  interface->get_property_names = get_names_but_settings;
}
