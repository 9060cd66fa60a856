// Marks episodes as extracted by a language model.
UNWIND $p.uuids AS uuid
MATCH (p:BraidPassage {uuid: uuid, group_id: $p.space}) USING INDEX SEEK p:BraidPassage(uuid)
SET p.read = true
