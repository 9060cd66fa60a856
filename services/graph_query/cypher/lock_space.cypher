// Takes the space's write lock and raises its revision; answers with the revision of its names.
MERGE (s:BraidSpace {group_id: $space})
ON CREATE SET s.name_revision = 0, s.vectors = 0
SET s.revision = coalesce(s.revision, 0) + 1, s.last_write = datetime()
RETURN s.revision AS revision, s.name_revision AS name_revision, s.embedding_model AS model
