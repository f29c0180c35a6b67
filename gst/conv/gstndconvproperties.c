/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvproperties.h"

#include "gst/conv/gstndconvplan.h"
#include "gst/conv/gstndconvstats.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

/* IDs of the properties that are not settings. */
static guint stats_id, settings_id;

/* Marks the settings as changed. They take effect at the next volume or, before
 * caps were negotiated, at once. Call with the object lock held. */
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
         "takes effect the next time the element starts from READY",
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

/* A value of a property. */
typedef struct
{
  GParamSpec *pspec;
  GValue value;
} Setting;

static void
clear_setting (gpointer setting)
{
  g_value_unset (&((Setting *) setting)->value);
}

/* Sets all @settings at the same volume. */
static void
set_settings (GstNdConv *self, const Setting *settings, guint n)
{
  GstNdConvPrivate *priv = self->priv;
  g_auto (GstNdConvSettings) old = { 0 };
  gboolean started;

  GST_OBJECT_LOCK (self);
  started = priv->started;
  gst_nd_conv_settings_copy (&old, &priv->settings);
  for (guint i = 0; i < n; i++)
    if (!gst_nd_conv_settings_set (&priv->settings, settings[i].pspec->param_id,
            &settings[i].value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (self, settings[i].pspec->param_id,
          settings[i].pspec);
  settings_set (self);
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; started && i < n; i++)
    warn_if_too_late (self, settings[i].pspec, &old);
}

typedef struct
{
  GstNdConv *self;
  GArray *settings;
} Fields;

/* Adds a field of the property `settings` to Fields. */
static gboolean
add_field (GQuark field, const GValue *value, gpointer data)
{
  Fields *fields = data;
  const gchar *name = g_quark_to_string (field);
  Setting setting = {
    g_object_class_find_property (G_OBJECT_GET_CLASS (fields->self), name),
    G_VALUE_INIT
  };

  if (!setting.pspec || !is_setting (setting.pspec)) {
    GST_ELEMENT_WARNING (fields->self, LIBRARY, SETTINGS,
        ("Property settings has a field \"%s\", which is not a property that "
         "can be set: no setting changes",
            name),
        (NULL));
    return FALSE;
  }
  if (!convert (setting.pspec, value, &setting.value)) {
    g_autofree gchar *text = gst_value_serialize (value);

    clear_setting (&setting);
    GST_ELEMENT_WARNING (fields->self, LIBRARY, SETTINGS,
        ("Property settings has %s=%s, which is not a value of that "
         "property: no setting changes",
            name, text),
        (NULL));
    return FALSE;
  }
  g_param_value_validate (setting.pspec, &setting.value);
  g_array_append_val (fields->settings, setting);
  return TRUE;
}

/* Sets all fields of @structure, or none of them. */
static void
set_fields (GstNdConv *self, const GstStructure *structure)
{
  g_autoptr (GArray) settings = g_array_new (FALSE, FALSE, sizeof (Setting));
  Fields fields = { self, settings };

  g_array_set_clear_func (settings, clear_setting);
  if (structure && gst_structure_foreach (structure, add_field, &fields))
    set_settings (self, (const Setting *) settings->data, settings->len);
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
  Setting setting = { pspec, G_VALUE_INIT };

  if (id == settings_id) {
    set_fields (self, g_value_get_boxed (value));
    return;
  }
  g_value_init (&setting.value, G_VALUE_TYPE (value));
  g_value_copy (value, &setting.value);
  set_settings (self, &setting, 1);
  clear_setting (&setting);
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

/* Installs `axes`. GObject needs set_property and get_property of the class
 * that installs a property. */
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

/* Leaves out `settings`: a preset has each of its fields under its own name. */
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
