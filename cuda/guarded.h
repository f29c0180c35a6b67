/* Functions of the back end's tables catch all exceptions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

/* Runs @function, and turns an exception into @error. */
template <typename F>
bool
guarded (GError **error, F function)
{
  try {
    function ();
    return true;
  } catch (const Error &e) {
    g_set_error_literal (error, ND_ERROR, e.code, e.what ());
  } catch (const std::exception &e) {
    g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
        "The CUDA back end failed: %s; use backend=cpu", e.what ());
  }
  return false;
}

} // namespace nd
