// Takes the space's write lock; returns its state, and whether it has any text, corrected facts and sources of facts.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.locked = true
RETURN s.revision AS revision, s.name_revision AS name_revision, s.embedding_model AS model, s.embedding_dimension AS dimension, s.changing AS changing, s.last_write AS last_write, coalesce(s.source_revision, s.revision) AS source_revision,
  EXISTS { MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= '' } AS texts,
  EXISTS { MATCH (x:BraidFactAlias) USING INDEX SEEK x:BraidFactAlias(group_id, identity) WHERE x.group_id = $p.space AND x.identity >= '' } AS aliases,
  EXISTS { MATCH (f:BraidFactSource) USING INDEX SEEK f:BraidFactSource(group_id, source, fact_uuid) WHERE f.group_id = $p.space AND f.source >= '' AND f.fact_uuid >= '' } AS sources
