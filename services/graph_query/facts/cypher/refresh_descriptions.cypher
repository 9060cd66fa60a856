// Sets each entity's description to the latest given by any episode, or removes it.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
OPTIONAL MATCH (n)<-[m:MENTIONS]-() WHERE m.summary <> '' OR size(coalesce(m.attribute_names, [])) > 0
WITH n, m ORDER BY m.created_at DESC, m.uuid
WITH n, head(collect(m)) AS m
FOREACH (name IN coalesce(n.attribute_names, []) | SET n[name] = null)
SET n.summary = coalesce(m.summary, ''), n.attribute_names = coalesce(m.attribute_names, [])
FOREACH (name IN coalesce(m.attribute_names, []) | SET n[name] = m['a_' + name])
