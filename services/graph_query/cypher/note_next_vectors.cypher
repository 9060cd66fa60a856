// Notes of which model the vectors are that are laid beside those in use, and how long they are.
MATCH (s:BraidSpace {group_id: $p.space})
SET s.next_model = $p.model, s.next_dimension = $p.dimension
