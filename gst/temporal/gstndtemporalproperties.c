/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/temporal/gstndtemporalchange.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* IDs of the properties that are not settings. */
#define STATS_ID(klass) ((klass)->n_rows + 1)
#define SETTINGS_ID(klass) ((klass)->n_rows + 2)

/* Marks the settings as changed. They take effect at the next volume or, before
 * caps were negotiated, at once. Call with the object lock held. */
static void
settings_set (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;

  priv->settings_changed = TRUE;
  if (priv->negotiated)
    return;
  gst_nd_temporal_get_settings (self, priv->active);
  priv->active->klass->derive (self, priv->active, NULL, NULL);
}

/* Warns if @pspec was set to another value too late. */
static void
warn_if_too_late (GstNdTemporal *self, GParamSpec *pspec,
    const GstNdTemporalSettings *old)
{
  g_auto (GValue) before = G_VALUE_INIT;
  g_auto (GValue) now = G_VALUE_INIT;

  if (!(pspec->flags & GST_PARAM_MUTABLE_READY))
    return;
  g_value_init (&before, pspec->value_type);
  g_value_init (&now, pspec->value_type);
  gst_nd_properties_get (old->klass->rows, old->klass->n_rows, old,
      pspec->param_id, &before);
  g_object_get_property (G_OBJECT (self), pspec->name, &now);
  if (g_param_values_cmp (pspec, &before, &now) != 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Property %s was set while the element is in PAUSED or PLAYING: it "
         "takes effect the next time the element starts from READY",
            pspec->name),
        (NULL));
}

static gboolean
is_setting (GstNdTemporal *self, GParamSpec *pspec)
{
  return g_type_is_a (pspec->owner_type, GST_TYPE_ND_TEMPORAL)
      && pspec->param_id <= GST_ND_TEMPORAL_GET_CLASS (self)->n_rows;
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
set_settings (GstNdTemporal *self, const Setting *settings, guint n)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstNdTemporalClass *klass = priv->settings->klass;
  g_autoptr (GstNdTemporalSettings) old = NULL;
  g_autoptr (GstNdTemporalSettings) now = NULL;
  gboolean started;

  GST_OBJECT_LOCK (self);
  started = priv->started;
  old = gst_nd_temporal_settings_dup (priv->settings);
  for (guint i = 0; i < n; i++)
    if (!gst_nd_properties_set (klass->rows, klass->n_rows, priv->settings,
            settings[i].pspec->param_id, &settings[i].value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (self, settings[i].pspec->param_id,
          settings[i].pspec);
  now = gst_nd_temporal_settings_dup (priv->settings);
  settings_set (self);
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; started && i < n; i++) {
    warn_if_too_late (self, settings[i].pspec, old);
    if (GST_ND_TEMPORAL_GET_CLASS (self)->warn_without_effect)
      GST_ND_TEMPORAL_GET_CLASS (self)->warn_without_effect (self, now,
          settings[i].pspec->name);
  }
}

typedef struct
{
  GstNdTemporal *self;
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

  if (!setting.pspec || !is_setting (fields->self, setting.pspec)) {
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
set_fields (GstNdTemporal *self, const GstStructure *structure)
{
  g_autoptr (GArray) settings = g_array_new (FALSE, FALSE, sizeof (Setting));
  Fields fields = { self, settings };

  g_array_set_clear_func (settings, clear_setting);
  if (structure && gst_structure_foreach (structure, add_field, &fields))
    set_settings (self, (const Setting *) settings->data, settings->len);
}

static GstStructure *
get_fields (GstNdTemporal *self)
{
  const GstNdTemporalSettings *settings = self->priv->settings;
  GstStructure *structure = gst_structure_new_empty ("ndconv-settings");
  guint n;
  g_autofree GParamSpec **pspecs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < n; i++) {
    g_auto (GValue) value = G_VALUE_INIT;

    if (!is_setting (self, pspecs[i]))
      continue;
    g_value_init (&value, pspecs[i]->value_type);
    gst_nd_properties_get (settings->klass->rows, settings->klass->n_rows,
        settings, pspecs[i]->param_id, &value);
    gst_structure_set_value (structure, pspecs[i]->name, &value);
  }
  GST_OBJECT_UNLOCK (self);
  return structure;
}

void
gst_nd_temporal_log_settings (GstNdTemporal *self,
    const GstNdTemporalSettings *settings)
{
  const GstNdTemporalClass *klass = settings->klass;
  g_autoptr (GstNdTemporalSettings) defaults = NULL;
  g_autoptr (GString) text = NULL;

  if (gst_debug_category_get_threshold (GST_CAT_DEFAULT) < GST_LEVEL_INFO)
    return;
  defaults = gst_nd_temporal_settings_new (klass);
  text = g_string_new (NULL);
  for (guint i = 0; i < klass->n_rows; i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    g_autofree gchar *written = NULL;
    GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (self),
        klass->rows[i].name);

    if (!pspec || nd_setting_is_equal (&klass->rows[i], settings, defaults))
      continue;
    g_value_init (&value, pspec->value_type);
    gst_nd_properties_get (klass->rows, klass->n_rows, settings, i + 1, &value);
    written = G_VALUE_HOLDS_DOUBLE (&value)
        ? g_strdup_printf ("%g", g_value_get_double (&value))
        : gst_value_serialize (&value);
    g_string_append_printf (text, "%s%s=%s", text->len ? ", " : "",
        klass->rows[i].name, written ? written : "");
  }
  GST_INFO_OBJECT (self, "settings: %s",
      text->len ? text->str : "the default values");
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (object);
  Setting setting = { pspec, G_VALUE_INIT };

  if (id == SETTINGS_ID (GST_ND_TEMPORAL_GET_CLASS (self))) {
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
  GstNdTemporal *self = GST_ND_TEMPORAL (object);
  const GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);

  if (id == STATS_ID (klass)) {
    g_value_take_boxed (value, gst_nd_temporal_stats (self));
    return;
  }
  if (id == SETTINGS_ID (klass)) {
    g_value_take_boxed (value, get_fields (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (klass->rows, klass->n_rows, self->priv->settings,
          id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

/* The rows of all @parts, for the settings of an element. */
static void
join_parts (GstNdTemporalClass *klass, const GstNdTemporalPart *parts,
    guint n_parts)
{
  const GstNdTemporalPart base[] = {
    { nd_device_settings, nd_n_device_settings,
        G_STRUCT_OFFSET (GstNdTemporalSettings, device) },
    { gst_nd_temporal_rows, gst_nd_temporal_n_rows, 0 },
  };
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (NdSetting));

  for (guint p = 0; p < G_N_ELEMENTS (base) + n_parts; p++) {
    const GstNdTemporalPart *part =
        p < G_N_ELEMENTS (base) ? &base[p] : &parts[p - G_N_ELEMENTS (base)];

    for (guint i = 0; i < part->n; i++) {
      NdSetting row = part->rows[i];

      row.field.offset += part->offset;
      g_array_append_val (rows, row);
    }
  }
  klass->n_rows = rows->len;
  klass->rows = (const NdSetting *) g_array_free (rows, FALSE);
}

void
gst_nd_temporal_class_install (GstNdTemporalClass *klass,
    const GstNdTemporalPart *parts, guint n_parts, guint hidden, gsize size,
    gsize derived, const gchar *stats)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  join_parts (klass, parts, n_parts);
  klass->settings_size = size;
  klass->derived = derived;
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  gst_nd_properties_install (object_class, klass->rows, klass->n_rows - hidden);
  g_object_class_install_property (object_class, STATS_ID (klass),
      g_param_spec_boxed ("stats", "Statistics", stats, GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  /* Since: 0.9 */
  g_object_class_install_property (object_class, SETTINGS_ID (klass),
      g_param_spec_boxed ("settings", "Settings",
          "Several properties at once, which take effect at the same volume: a "
          "field for each property, of its type or as text. If one of them is "
          "wrong, none changes",
          GST_TYPE_STRUCTURE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_PLAYING));
}

/* GObject needs set_property and get_property of the class that installs a
 * property. */
void
gst_nd_temporal_class_install_property (GstNdTemporalClass *klass, guint id)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = set_property;
  object_class->get_property = get_property;
  gst_nd_property_install (object_class, klass->rows, id);
}

/* Statistics */

void
gst_nd_temporal_range_add (GstNdTemporalRange *range, gdouble value)
{
  range->min = range->n == 0 ? value : MIN (range->min, value);
  range->max = MAX (range->max, value);
  range->sum += value;
  range->n++;
}

static void
set_range (GstStructure *s, const gchar *name, const GstNdTemporalRange *range)
{
  g_autofree gchar *min = g_strconcat (name, "-min", NULL);
  g_autofree gchar *mean = g_strconcat (name, "-mean", NULL);
  g_autofree gchar *max = g_strconcat (name, "-max", NULL);

  gst_structure_set (s, min, G_TYPE_DOUBLE, range->min, mean, G_TYPE_DOUBLE,
      range->n ? range->sum / range->n : 0, max, G_TYPE_DOUBLE, range->max,
      NULL);
}

GstStructure *
gst_nd_temporal_stats (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);
  GstStructure *s;

  GST_OBJECT_LOCK (self);
  s = priv->described ? gst_structure_copy (priv->described)
                      : gst_structure_new_empty ("ndconv-stats");
  gst_structure_set (s, "volumes-in", G_TYPE_UINT64, priv->stats.in,
      "volumes-out", G_TYPE_UINT64, priv->stats.out, "volumes-late",
      G_TYPE_UINT64, priv->stats.late, "volumes-skipped", G_TYPE_UINT64,
      priv->stats.skipped, "volumes-outside-segment", G_TYPE_UINT64,
      priv->stats.outside, "volumes-clipped", G_TYPE_UINT64,
      priv->stats.outside, "stretches", G_TYPE_UINT64, priv->stats.stretches,
      "gaps", G_TYPE_UINT64, priv->stats.gaps, "volumes-missing", G_TYPE_UINT64,
      priv->stats.missing, "volumes-held", G_TYPE_UINT64, priv->stats.held,
      "volumes-released", G_TYPE_UINT64, priv->stats.released, "volumes-lost",
      G_TYPE_UINT64, priv->stats.lost, "volumes-flushed", G_TYPE_UINT64,
      priv->stats.flushed, NULL);
  if (klass->add_stats)
    klass->add_stats (self, priv->active, s);
  set_range (s, "seconds", &priv->stats.all);
  set_range (s, "upload-seconds", &priv->stats.upload);
  set_range (s, "compute-seconds", &priv->stats.compute);
  set_range (s, "download-seconds", &priv->stats.download);
  set_range (s, "wait-seconds", &priv->stats.wait);
  set_range (s, "ahead-seconds", &priv->stats.ahead);
  GST_OBJECT_UNLOCK (self);
  return s;
}

void
gst_nd_temporal_post_stats (GstNdTemporal *self)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_nd_temporal_stats (self)));
}

/* Presets */

static gboolean (*load_preset) (GstPreset *preset, const gchar *name);
static gchar **(*get_property_names) (GstPreset *preset);

static void
hold_settings (GstNdTemporal *self, gint change)
{
  GST_OBJECT_LOCK (self);
  self->priv->settings_held += change;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
load_at_once (GstPreset *preset, const gchar *name)
{
  gboolean ok;

  hold_settings (GST_ND_TEMPORAL (preset), 1);
  ok = load_preset (preset, name);
  hold_settings (GST_ND_TEMPORAL (preset), -1);
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
gst_nd_temporal_preset_init (gpointer preset_interface, gpointer unused)
{
  GstPresetInterface *interface = preset_interface;

  load_preset = interface->load_preset;
  get_property_names = interface->get_property_names;
  interface->load_preset = load_at_once;
  interface->get_property_names = get_names_but_settings;
}
