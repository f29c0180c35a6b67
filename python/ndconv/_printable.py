"""Text that a file chose, in a form that is safe to show: as core/printable.h.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import unicodedata

# Control and format characters, surrogates, separators of lines and paragraphs.
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LETTERS = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _escape(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN:
        return character
    number = ord(character)
    if 0xdc80 <= number <= 0xdcff:      # a byte of a name that is not UTF-8
        return f"\\x{number - 0xdc00:02x}"
    return _LETTERS.get(character) or (
        f"\\x{number:02x}" if number < 0x80 else
        f"\\u{number:04x}" if number <= 0xffff else f"\\U{number:08x}")


def printable(text: str) -> str:
    """@text on one line, with escapes for what a terminal would act on."""
    return text if text.isprintable() else "".join(map(_escape, text))
