"""The kinds of text and the marks that the request schemas are made of."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, WrapValidator
from pydantic_core import PydanticCustomError

from app.api.faults import NOT_BUILT_YET

# Tabs and line ends are text; what reverses or hides text is not.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]"
)
_LINE = re.compile("[\t\n\r\u2028\u2029]")


class Wire(BaseModel):
    """A request's object: exact types, no field unknown."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def _without_controls(text: str) -> str:
    found = _CONTROL.search(text)
    if found:
        code = f"U+{ord(found.group()):04X}"
        raise PydanticCustomError(
            "control", "This holds the control character {code}", {"code": code}
        )
    return text


_UNSEEN = "ZC"
"""Separators and others: blanks, and what shows nothing at all, such as a zero-width space."""


def _said(text: str) -> str:
    if all(unicodedata.category(each)[0] in _UNSEEN for each in text):
        raise PydanticCustomError("blank", "This must not be blank")
    return _without_controls(text)


def _one_line(text: str) -> str:
    if _LINE.search(text.strip()):
        raise PydanticCustomError("line", "This must be on one line, without tabs")
    return _said(text).strip()


MAY_BE_EMPTY = AfterValidator(_without_controls)
"""Text of any number of lines."""

SAYS_SOMETHING = AfterValidator(_said)
"""Text of any number of lines that is not blank."""

ON_ONE_LINE = AfterValidator(_one_line)
"""One line that is not blank, taken without the blanks around it."""

AgentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Word = Annotated[str, Field(min_length=1, max_length=64), ON_ONE_LINE]
Url = Annotated[str, Field(min_length=1, max_length=2_000), ON_ONE_LINE]


class Later:
    """Marks a field of the contract that a later version will have.

    Empty values (null, false, nothing) are taken as the field's default; anything else is
    refused with a problem of its own. To build the field, take the mark away.
    """

    def __init__(self, default: object = None) -> None:
        self.default = default

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return WrapValidator(self._refuse).__get_pydantic_core_schema__(source, handler)

    def _refuse(self, value: Any, handler: Any, info: Any) -> Any:
        del handler
        if value is None or value is False or (not isinstance(value, int) and not value):
            return self.default
        message = "{field} is not available in this version yet"
        raise PydanticCustomError(NOT_BUILT_YET, message, {"field": info.field_name})
