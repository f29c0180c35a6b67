/* Finds modules of back ends.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

/* The path of the CUDA module: the file named by the environment variable
 * NDCONV_CUDA_MODULE or, without that variable, the first one of @places, which
 * are relative to @folder and terminated by NULL. NULL if there is no such
 * file; the caller frees it. If @folder is NULL, @places are not searched. */
gchar *nd_module_find (const gchar *folder, const gchar *const *places);

G_END_DECLS
