// Notes of which model the vectors are that are laid beside those in use, and how long they are.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.next_model = $p.model, s.next_dimension = $p.dimension
