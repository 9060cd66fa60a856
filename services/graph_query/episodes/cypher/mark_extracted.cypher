// Notes that a language model has read episodes.
UNWIND $p.uuids AS uuid
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.read = true
