// Passages of the space by uuid, with all data that extraction needs.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN uuid, coalesce(p.read, false) AS read, p.document_id AS document_id, p.title AS title,
       e.source_description AS source, e.content AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps
