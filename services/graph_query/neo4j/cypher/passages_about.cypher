// Passages whose titles name any of the given entities.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})<-[m:BRAID_MENTIONS]-(e:Episodic) USING INDEX SEEK n:Entity(uuid) WHERE m.kind = $p.about
WITH DISTINCT e
MATCH (p:BraidPassage {group_id: $p.space, uuid: e.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN p.uuid AS uuid, p.document_id AS document_id, p.title AS title, e.source_description AS source, e.content AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps
