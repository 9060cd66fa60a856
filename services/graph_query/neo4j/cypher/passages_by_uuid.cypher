// Passages by uuid, with all data that extraction needs; those of another space too, without their text.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {uuid: uuid}) USING INDEX SEEK e:Episodic(uuid)
OPTIONAL MATCH (p:BraidPassage {uuid: uuid, group_id: $p.space}) USING INDEX SEEK p:BraidPassage(uuid)
RETURN uuid, e.group_id = $p.space AND p IS NOT NULL AS own, coalesce(p.read, false) AS read, p.document_id AS document_id, p.title AS title,
       CASE WHEN p IS NULL THEN null ELSE e.source_description END AS source,
       CASE WHEN p IS NULL THEN null ELSE e.content END AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps
