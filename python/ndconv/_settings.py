"""The library's table of settings, from which parameters, checks and docstrings
are made. It needs no NumPy, so that `ndconv-run --help` needs none.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import Any, Callable, NamedTuple, TypeVar

from . import _library as lib

Function = TypeVar("Function", bound=Callable[..., Any])


class Setting(NamedTuple):
    """A row of the table."""
    name: str           # of the library, as "border-value"
    sentence: str
    kind: str           # boolean, enum, integer, number or text
    default: Any
    values: list[str]   # of an enum

    @property
    def first_sentence(self) -> str:
        """Without full stop."""
        return re.split(r"\. (?=[A-Z0-9])", self.sentence)[0]


def _read(rows: list[dict[str, Any]]) -> dict[str, Setting]:
    return {row["name"].replace("-", "_"): Setting(
        row["name"], row["sentence"], row["kind"],
        float(row["default"]) if row["kind"] == "number" else row["default"],
        [value["name"] for value in row.get("values", [])]) for row in rows}


_table = json.loads(lib.take_text(lib.nd_list_settings()))

# By the names of parameters.
CONVOLVE = _read(_table["convolve"])
# The library's axes are those of a filter, in the order x, y, z, t.
del CONVOLVE["axes"]
REGISTER = _read(_table["register"])
REGISTER["n_threads"] = CONVOLVE["n_threads"]
RANK = _read(_table["rank"])
RANK["n_threads"] = CONVOLVE["n_threads"]
DECONVOLVE = _read(_table["deconvolve"])
DECONVOLVE["n_threads"] = CONVOLVE["n_threads"]
# That of parameters is in the order of their axes.
CONVOLVE["origin"] = CONVOLVE["origin"]._replace(default=0)
DEFAULTS = {name: row.default for name, row in CONVOLVE.items()}

_TYPES = {"boolean": "bool", "enum": "str", "integer": "int", "number": "float",
          "text": "str"}


def check_names(given: Any, known: dict[str, Setting]) -> None:
    """Refuses names of parameters that are not in @known."""
    unknown = given - known.keys()
    if unknown:
        raise TypeError(f"There is no parameter {', '.join(sorted(unknown))}; "
                        f"there are {', '.join(known)}")


def _document(name: str, row: Setting) -> str:
    """An entry of a docstring."""
    text = row.sentence + "."
    if row.values:
        text += " One of " + ", ".join(f'``"{value}"``'
                                       for value in row.values) + "."
    head = f"{name} : {_TYPES[row.kind]}, default {row.default!r}"
    return head + "\n" + textwrap.indent(textwrap.fill(text, 76), "    ")


def takes(rows: dict[str, Setting]) -> Callable[[Function], Function]:
    """For a function with `**settings`: gives it the signature and, in place of
    the line "{settings}", the documentation of parameters of @rows."""
    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[:-1]
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY,
                                  default=row.default, annotation=Any)
                for name, row in rows.items()]
        changed = signature.replace(parameters=own + more)
        setattr(function, "__signature__", changed)
        if function.__doc__:
            text = "\n".join(_document(*item) for item in rows.items())
            function.__doc__ = function.__doc__.replace(
                "    {settings}", textwrap.indent(text, "    "))
        return function
    return decorate
