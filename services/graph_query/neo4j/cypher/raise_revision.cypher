// Raises the revision of a changed space and, if `names` is 1, of its names; returns both.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.revision = s.revision + 1, s.last_write = $p.now, s.name_revision = s.name_revision + $p.names
RETURN s.revision AS revision, s.name_revision AS name_revision
