// name: add_passage_versions
// Sets all versions that contain passages, and the passages' own starts.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.starts = row[1], p.own_start = row[2]

// name: create_documents
// Creates or updates the documents of episodes with their versions. Returns documents whose validity must be
// recomputed: those with several versions or an end, and those with one version that may not contain all their episodes
// (episodes without a version, `bare`, are valid until it begins).
UNWIND $p.rows AS row
MERGE (d:Document {uuid: row.uuid})
ON CREATE SET d.group_id = $p.space, d.document_id = row.document_id
SET d.title = row.title, d.source = row.source
WITH d, row, coalesce(d.versions, []) AS former
WITH d, row, former, former + [start IN row.versions WHERE NOT start IN former] AS versions WHERE size(versions) > 0
SET d.versions = versions
WITH d, row, former, versions
WHERE size(versions) > 1 OR d.ends IS NOT NULL OR row.bare OR size(former) = 0 AND EXISTS { (d)-[:HAS_EPISODE]->() }
RETURN d.uuid AS uuid

// name: delete_empty_documents
// Deletes and returns the given documents that have no episode left.
UNWIND $p.uuids AS uuid
MATCH (d:Document {uuid: uuid}) USING INDEX SEEK d:Document(uuid) WHERE NOT EXISTS { (d)-[:HAS_EPISODE]->() }
WITH d, d.document_id AS document_id
DELETE d
RETURN collect(document_id) AS documents

// name: delete_passages
// Deletes episodes and their Braid-specific nodes.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
DETACH DELETE e, p

// name: documents_of_versions
// Returns the documents that have versions.
UNWIND $p.documents AS uuid
MATCH (d:Document {uuid: uuid}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space AND size(d.versions) > 0
RETURN uuid

// name: mark_extracted
// Marks episodes as extracted by a language model.
UNWIND $p.uuids AS uuid
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.read = true

// name: passages_of_documents
// Returns the starts of documents' versions, when documents ended, and their passages with the versions that contain each.
UNWIND $p.documents AS uuid
MATCH (d:Document {uuid: uuid}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space
MATCH (d)-[:HAS_EPISODE]->(e:Episodic)
MATCH (p:BraidPassage {group_id: $p.space, uuid: e.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN uuid AS document, coalesce(d.versions, []) AS versions, coalesce(d.ends, []) AS ends,
       collect([p.uuid, coalesce(p.starts, []), p.own_start, p.valid_from, p.valid_until, p.gaps]) AS passages

// name: set_validity_periods
// Sets the validity of passages, of their sentences and of the co-occurrences in these.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {group_id: $p.space, uuid: row.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.valid_from = row.since, p.valid_until = row.until, p.gaps = row.gaps
WITH row
UNWIND row.sentences AS told
MATCH (s:BraidSentence {uuid: told[0]}) USING INDEX SEEK s:BraidSentence(uuid)
SET s.valid_from = row.since, s.valid_until = row.until, s.gaps = row.gaps
WITH row, told
MATCH (a:Entity {uuid: told[1]}) USING INDEX SEEK a:Entity(uuid)
UNWIND told[2] AS target
MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
MATCH (a)-[r:CO_OCCURS]->(b) WHERE r.sentence_uuid = told[0]
SET r.valid_from = row.since, r.valid_until = row.until, r.gaps = row.gaps

// name: set_versions
// Sets the starts of documents' versions.
UNWIND $p.rows AS row
MATCH (d:Document {uuid: row.uuid}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space
SET d.versions = row.versions
