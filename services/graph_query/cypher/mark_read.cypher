// Notes that a language model has read episodes.
UNWIND $p.uuids AS uuid
MATCH (p:BraidPassage {uuid: uuid, group_id: $p.space})
SET p.read = true
