"""The possible types of a name, and the type that it gets in a relationship."""

import re
from dataclasses import dataclass, field

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    COMMON_NOUNS,
    CONCEPT_CODES,
    CONCEPT_WORDS,
    DOCUMENT_HEADS,
    ORGANIZATION_WORDS,
    PROJECT_WORDS,
)

_PRODUCT_SHAPE = re.compile(r"[a-z][A-Z]|\d|\w\.\w|[+#]$|^[A-Z]{2,60}\w{0,60}[a-z]|^\.NET")
_DEVICE = re.compile(
    r"mac|imac|thinkpad|ipad|linux|windows|ubuntu|chromebook|surface|xps", re.IGNORECASE
)
_TOOL_RELATIONS = frozenset(
    {
        RelationshipType.USES,
        RelationshipType.PREFERS,
        RelationshipType.DECIDED,
        RelationshipType.DEPENDS_ON,
    }
)
_PERSONAL = frozenset({RelationshipType.WORKS_WITH, RelationshipType.KNOWS})


@dataclass(frozen=True, slots=True)
class Referent:
    """The referent of a noun phrase: the user (no name), or something named."""

    name: str = ""
    head: str = ""
    """The common noun that goes with the name: "editor" of "the Zed editor"."""
    lower: bool = False
    initial: bool = False
    titled: bool = False
    project: bool = False
    """Introduced as a project, or as something that the user's company builds."""

    @property
    def is_self(self) -> bool:
        return not self.name


USER = Referent()


@dataclass(slots=True)
class EntityTypes:
    """Stores the types of a conversation's names."""

    known: KnownNames
    remembered: dict[str, EntityType] = field(default_factory=dict)

    def remember(self, name: str, entity_type: EntityType) -> None:
        self.remembered.setdefault(name.lower(), entity_type)

    def recall(self, name: str) -> EntityType | None:
        return self.remembered.get(name.lower())

    def is_person(self, referent: Referent) -> bool:
        """Whether the name looks like a person's."""
        remembered = self.recall(referent.name)
        if remembered is not None:
            return remembered is EntityType.PERSON
        words = referent.name.split()
        if referent.titled:
            return True
        if not words or self._has_word(words, ORGANIZATION_WORDS | CONCEPT_WORDS):
            return False
        types = self.known.types_of(referent.name)
        if "person" in types:
            return not (referent.lower and types - {"person"})
        return (
            not types
            and len(words) > 1
            and self.known.is_first_name(words[0])
            and all(word[:1].isupper() for word in words[1:])
        )

    def is_tool(self, referent: Referent) -> bool:
        """Whether the name is known as a tool's, or has the form of a product name."""
        remembered = self.recall(referent.name)
        if remembered is not None:
            return remembered is EntityType.TOOL
        types = self.known.types_of(referent.name)
        if types:
            return "tool" in types
        words = referent.name.split()
        if len(words) > 1 and words[0].lower() in self.known.ordinary:
            return False
        return bool(_PRODUCT_SHAPE.search(referent.name)) or (
            bool(words) and "tool" in self.known.types_of(words[0])
        )

    def may_be_tool(self, referent: Referent) -> bool:
        """Whether a person's name is also a tool's ("Julia"), and it is not known which is meant."""
        return (
            "tool" in self.known.types_of(referent.name)
            and self.recall(referent.name) is None
            and not referent.titled
        )

    def is_organization(self, referent: Referent) -> bool:
        remembered = self.recall(referent.name)
        if remembered is not None:
            return remembered is EntityType.ORGANIZATION
        words = referent.name.split()
        return "organization" in self.known.types_of(referent.name) or self._has_word(
            words, ORGANIZATION_WORDS
        )

    def is_concept(self, referent: Referent) -> bool:
        remembered = self.recall(referent.name)
        if remembered is not None:
            return remembered is EntityType.CONCEPT
        types = self.known.types_of(referent.name)
        if types:
            return "concept" in types and "tool" not in types
        words = referent.name.split()
        if not words:
            return False
        return (words[0].upper() in CONCEPT_CODES and len(words) > 1) or self._has_word(
            words[-1:], CONCEPT_WORDS | DOCUMENT_HEADS
        )

    def is_place(self, referent: Referent) -> bool:
        remembered = self.recall(referent.name)
        if remembered is not None:
            return remembered is EntityType.PLACE
        types = self.known.types_of(referent.name)
        return bool(types) and types <= {"place"}

    @staticmethod
    def _has_word(words: list[str], of: frozenset[str]) -> bool:
        return any(word.lower().strip(".") in of for word in words)

    def accepts(self, target: str, referent: Referent) -> bool:
        """Whether the referent can fill a slot of that kind."""
        if referent.is_self:
            return target in {"any", "person", "thing"}
        if (
            referent.lower
            and target in {"project", "organization", "known organization"}
            and not self.recall(referent.name)
        ):
            return target != "project" and self.is_organization(referent)
        if target in {"place", "known place"}:
            return self.is_place(referent) or (target == "place" and self._may_be_place(referent))
        if self.is_place(referent) or referent.name.lower() in COMMON_NOUNS:
            return False
        person = self.is_person(referent)
        match target:
            case "any":
                return True
            case "thing":
                return not person
            case "tool":
                return not person and (
                    self.is_tool(referent)
                    or self.is_concept(referent)
                    or self._is_unknown(referent)
                )
            case "known tool":
                return not person and self.is_tool(referent)
            case "device":
                return referent.head in {
                    "laptop",
                    "computer",
                    "machine",
                    "tablet",
                    "phone",
                } or self._is_device(referent)
            case "person":
                return person or self._may_be_person(referent)
            case "organization":
                return not person or self.is_organization(referent)
            case "concept":
                return self.is_concept(referent)
            case "known organization":
                return self.is_organization(referent) and not person
            case "project":
                return not person and (
                    self.recall(referent.name) is EntityType.PROJECT
                    or referent.project
                    or self._is_unknown(referent)
                )
            case _:
                return not person

    def _may_be_place(self, referent: Referent) -> bool:
        named = not referent.lower and not referent.head and not self.is_tool(referent)
        return named and self._is_unknown(referent)

    def _is_device(self, referent: Referent) -> bool:
        return self.is_tool(referent) and bool(_DEVICE.match(referent.name))

    def _is_unknown(self, referent: Referent) -> bool:
        if self.recall(referent.name) is not None:
            return self.recall(referent.name) in {
                EntityType.PROJECT,
                EntityType.TOOL,
                EntityType.CONCEPT,
            }
        types = self.known.types_of(referent.name)
        return not types and not self._has_word(referent.name.split(), ORGANIZATION_WORDS)

    def _may_be_person(self, referent: Referent) -> bool:
        if referent.lower or self.recall(referent.name) is not None:
            return False
        if self.is_organization(referent):
            return not self.is_tool(referent)
        if (
            self.known.types_of(referent.name)
            or self.is_concept(referent)
            or _PRODUCT_SHAPE.search(referent.name)
        ):
            return False
        words = referent.name.split()
        return (
            len(words) <= 3
            and not any(word.isupper() and len(word) > 1 for word in words)
            and not referent.head
        )

    # Types in a relationship

    def of_target(
        self, relation: RelationshipType, referent: Referent, source: Referent, built: bool = False
    ) -> EntityType:
        remembered = self.recall(referent.name)
        if relation in _PERSONAL:
            return (
                EntityType.ORGANIZATION
                if self.is_organization(referent) and not self.is_person(referent)
                else EntityType.PERSON
            )
        if relation is RelationshipType.WORKS_ON:
            return EntityType.PROJECT
        if relation is RelationshipType.PART_OF:
            programme = referent.project or referent.head in PROJECT_WORDS
            part = programme or self._is_thing(source)
            return EntityType.PROJECT if part else EntityType.ORGANIZATION
        if relation is RelationshipType.MENTIONED_IN:
            return EntityType.CONCEPT
        if relation is RelationshipType.LIVES_IN:
            return EntityType.PLACE
        if remembered is not None:
            return remembered
        if referent.project or referent.head in PROJECT_WORDS:
            return EntityType.PROJECT
        if self.is_concept(referent):
            return EntityType.CONCEPT
        if self.is_tool(referent):
            return EntityType.TOOL
        if self.known.types_of(referent.name) == frozenset() and self._has_word(
            referent.name.split(), ORGANIZATION_WORDS
        ):
            return EntityType.ORGANIZATION
        if (
            built
            and not source.is_self
            and self.of_source(relation, source) is EntityType.PROJECT
            and not self.known.types_of(referent.name)
        ):
            return EntityType.PROJECT
        return EntityType.TOOL

    def _is_thing(self, source: Referent) -> bool:
        if source.is_self or self.is_person(source):
            return False
        return self.recall(source.name) in {EntityType.PROJECT, EntityType.TOOL} or source.project

    def of_source(
        self, relation: RelationshipType, referent: Referent, whole: EntityType | None = None
    ) -> EntityType:
        """Returns the type of a source; `whole` is the type of the target of a PART_OF."""
        remembered = self.recall(referent.name)
        if relation in _PERSONAL | {RelationshipType.WORKS_ON}:
            return (
                EntityType.ORGANIZATION
                if self.is_organization(referent) and not self.is_person(referent)
                else EntityType.PERSON
            )
        if remembered is not None:
            return remembered
        if referent.project:
            return EntityType.PROJECT
        if self.is_person(referent):
            return EntityType.PERSON
        if relation is RelationshipType.PART_OF:
            part_of_programme = whole is EntityType.PROJECT and not self.is_person(referent)
            return EntityType.PROJECT if part_of_programme else EntityType.PERSON
        if relation in {RelationshipType.PREFERS, RelationshipType.LIVES_IN}:
            return EntityType.PERSON
        if relation is RelationshipType.MENTIONED_IN:
            return EntityType.TOOL if self.is_tool(referent) else EntityType.PROJECT
        if self.is_organization(referent):
            return EntityType.ORGANIZATION
        if relation in _TOOL_RELATIONS and self.is_tool(referent):
            return EntityType.TOOL
        return EntityType.PROJECT
