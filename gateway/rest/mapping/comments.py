"""The contract's comments as descriptions for the OpenAPI document."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from gateway.rest.mapping.message_json import json_name

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

_QUOTED = re.compile(r"`([a-z_0-9]{1,100})`")


def comment_on(full_name: str) -> str:
    """Returns the comment on a message, a field or a method; empty if there is none."""
    return _comments().get(full_name, "")


def described(field: FieldDescriptor) -> str:
    """Returns the comment on a field, in which the fields of its message have their names in JSON."""
    shape = field.containing_type
    names = {one.name: json_name(one) for one in shape.fields} if shape is not None else {}

    def renamed(found: re.Match[str]) -> str:
        return f"`{names.get(found[1], found[1])}`"

    return _QUOTED.sub(renamed, comment_on(field.full_name))


@cache
def _comments() -> dict[str, str]:
    text = files("braid").joinpath("comments.json").read_text(encoding="utf-8")
    comments: dict[str, str] = json.loads(text)
    return comments
