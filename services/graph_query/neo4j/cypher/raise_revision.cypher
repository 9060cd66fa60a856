// Raises the revision of a space that has changed, and of its names with `names` 1; answers with both.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.revision = s.revision + 1, s.last_write = $p.now, s.name_revision = s.name_revision + $p.names
RETURN s.revision AS revision, s.name_revision AS name_revision
