// Notes that the names that text is linked to have changed.
MATCH (s:BraidSpace {group_id: $p.space})
SET s.name_revision = s.name_revision + 1
RETURN s.name_revision AS name_revision
