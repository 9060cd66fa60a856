// Creates the space's node before its first write, in a transaction of its own.
MERGE (s:BraidSpace {group_id: $p.space})
ON CREATE SET s.revision = 0, s.name_revision = 0, s.vectors = 0
