// The STATUS message of the reference library, which has no C functions for it.
//
// SPDX-License-Identifier: LGPL-2.1-or-later
// Copyright (C) 2026 the ndconv developers
#include <cstring>

#include <igtlStatusMessage.h>

/* Copies the body into @body, which has room for 256 bytes. Returns its
 * size. */
extern "C" size_t
pack_status (int code, long subcode, const char *name, const char *text,
    void *body)
{
  igtl::StatusMessage::Pointer message = igtl::StatusMessage::New ();

  message->SetDeviceName ("Probe");
  message->SetCode (code);
  message->SetSubCode (subcode);
  message->SetErrorName (name);
  message->SetStatusString (text);
  message->Pack ();
  memcpy (body, message->GetPackBodyPointer (), message->GetPackBodySize ());
  return message->GetPackBodySize ();
}
