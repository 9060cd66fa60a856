// From now on the space has no model that anybody could ask for, until it has the new one.
MATCH (s:BraidSpace {group_id: $p.space}) WHERE s.changing IS NULL
SET s.changing = $p.model, s.embedding_model = '(changing)'
