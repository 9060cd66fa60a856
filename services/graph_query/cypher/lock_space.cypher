// Takes the space's write lock, then raises its revision; answers with the revision of its names.
MATCH (s:BraidSpace {group_id: $p.space})
SET s.locked = true
WITH s
SET s.revision = s.revision + 1, s.last_write = datetime()
RETURN s.revision AS revision, s.name_revision AS name_revision, s.embedding_model AS model
