"""The kinds of text and the marks that the request schemas are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, WrapValidator
from pydantic_core import PydanticCustomError

from app.api.faults import NOT_BUILT_YET
from app.domain.text_rules import AGENT_NAME, on_one_line, says_something, without_controls


class Wire(BaseModel):
    """A request's object: exact types, no field unknown."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


MAY_BE_EMPTY = AfterValidator(without_controls)
"""Text of any number of lines."""

SAYS_SOMETHING = AfterValidator(says_something)
"""Text of any number of lines that is not blank."""

ON_ONE_LINE = AfterValidator(on_one_line)
"""One line that is not blank, taken without the blanks around it."""

AgentName = Annotated[str, StringConstraints(pattern=AGENT_NAME)]
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
