// Marks episodes as extracted by a language model.
UNWIND $p.uuids AS uuid
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.read = true
