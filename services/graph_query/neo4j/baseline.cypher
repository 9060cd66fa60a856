// The version of this schema, which the statements below make.
CREATE CONSTRAINT braid_schema IF NOT EXISTS FOR (s:BraidSchema) REQUIRE s.name IS UNIQUE;

// One node a space: its revision, and the lock for its writers.
CREATE CONSTRAINT braid_space IF NOT EXISTS FOR (s:BraidSpace) REQUIRE s.group_id IS UNIQUE;

// Entities by uuid.
CREATE CONSTRAINT braid_entity_uuid IF NOT EXISTS FOR (n:Entity) REQUIRE n.uuid IS UNIQUE;

// Episodes by space and uuid: callers choose the uuids, and a space's are its own. Pages of a space's episodes use it as well.
CREATE CONSTRAINT braid_episode_uuid IF NOT EXISTS FOR (n:Episodic) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// An entity's identity: one name and type in a space, however many writers. Queries by name alone add `type >= ''`,
// without which the index behind the constraint cannot serve them.
CREATE CONSTRAINT braid_entity_name IF NOT EXISTS FOR (n:EntityName) REQUIRE (n.group_id, n.name_key, n.type) IS UNIQUE;

// Documents by uuid.
CREATE CONSTRAINT braid_document_uuid IF NOT EXISTS FOR (n:Document) REQUIRE n.uuid IS UNIQUE;

// Passages (what Braid keeps of an episode) by space and uuid, as episodes.
CREATE CONSTRAINT braid_passage_uuid IF NOT EXISTS FOR (n:BraidPassage) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// Sentences that put entities together, by uuid.
CREATE CONSTRAINT braid_sentence_uuid IF NOT EXISTS FOR (n:BraidSentence) REQUIRE n.uuid IS UNIQUE;

// Facts by uuid.
CREATE CONSTRAINT braid_fact_uuid IF NOT EXISTS FOR ()-[e:RELATES_TO]-() REQUIRE e.uuid IS UNIQUE;

// Versions of facts by uuid.
CREATE CONSTRAINT braid_fact_version_uuid IF NOT EXISTS FOR (v:FactVersion) REQUIRE v.uuid IS UNIQUE;

// The documents of a fact.
CREATE INDEX braid_fact_claim_by_fact IF NOT EXISTS FOR (c:FactClaim) ON (c.fact_uuid);

// Entities of a space by name.
CREATE INDEX braid_entity_listing IF NOT EXISTS FOR (n:Entity) ON (n.group_id, n.name, n.uuid);

// Names by the looser key that questions are linked by; a capitalised phrase that nothing else gives has none.
CREATE INDEX braid_name_by_link IF NOT EXISTS FOR (n:EntityName) ON (n.group_id, n.link_key);

// The names of an entity.
CREATE INDEX braid_name_by_entity IF NOT EXISTS FOR (n:EntityName) ON (n.entity_uuid);

// The versions of a fact.
CREATE INDEX braid_version_by_fact IF NOT EXISTS FOR (v:FactVersion) ON (v.fact_uuid);

// What ended a fact: each cause has one word.
CREATE CONSTRAINT braid_fact_ending IF NOT EXISTS FOR (x:FactEnding) REQUIRE (x.group_id, x.cause, x.fact_uuid) IS UNIQUE;

// All that ended a fact.
CREATE INDEX braid_fact_ending_by_fact IF NOT EXISTS FOR (x:FactEnding) ON (x.fact_uuid);

// Passages by their folded words: where a name that becomes known already stands.
CREATE FULLTEXT INDEX braid_passage_words IF NOT EXISTS FOR (n:BraidPassage) ON EACH [n.words, n.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// Sentences of the local graph by their words.
CREATE FULLTEXT INDEX braid_sentence_terms IF NOT EXISTS FOR (n:BraidSentence) ON EACH [n.text, n.braid_words, n.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

// Stated facts by their words, and by the entities at their ends so that a filter acts before ranking.
CREATE FULLTEXT INDEX braid_fact_terms IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON EACH [e.fact, e.name, e.braid_words, e.group_id, e.braid_ends]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

// Stated facts by similarity, with space, time and relation filtered inside the index; a vector is compared with those of its length.
CYPHER 25 CREATE VECTOR INDEX braid_fact_meaning IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON e.fact_embedding
WITH [e.group_id, e.valid_from, e.valid_until, e.relation_key] OPTIONS $options;

// Stated facts of a space in time order.
CREATE INDEX braid_fact_by_start IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.valid_from, e.uuid);

// Versions by when they were known no longer: those that are known still are of an older design.
CREATE INDEX braid_version_by_end IF NOT EXISTS FOR (v:FactVersion) ON (v.known_until);

// Stated facts of a space and relation in time order.
CREATE INDEX braid_fact_by_relation IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.relation_key, e.valid_from, e.uuid);

// What was ever known of an entity, or between two.
CREATE INDEX braid_version_by_ends IF NOT EXISTS FOR (v:FactVersion) ON (v.source_uuid, v.target_uuid);

// What was ever known with an entity at the other end.
CREATE INDEX braid_version_by_target IF NOT EXISTS FOR (v:FactVersion) ON (v.target_uuid);

// Versions of a space's facts in time order.
CREATE INDEX braid_version_by_start IF NOT EXISTS FOR (v:FactVersion) ON (v.group_id, v.valid_from, v.fact_uuid);

// Described entities by their names' similarity, with the space inside the filter; a vector is compared with those of its length.
CYPHER 25 CREATE VECTOR INDEX braid_entity_meaning IF NOT EXISTS FOR (n:Entity) ON n.name_embedding
WITH [n.group_id] OPTIONS $options;

// One ontology for each space.
CREATE CONSTRAINT braid_ontology IF NOT EXISTS FOR (o:BraidOntology) REQUIRE o.group_id IS UNIQUE;

// Facts that were taken back, by their words: searches at an instant before that find them.
CREATE FULLTEXT INDEX braid_past_fact_terms IF NOT EXISTS FOR (v:BraidPastFact) ON EACH [v.fact, v.name, v.braid_words, v.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

// Findings by uuid.
CREATE CONSTRAINT braid_finding_uuid IF NOT EXISTS FOR (f:BraidFinding) REQUIRE f.uuid IS UNIQUE;

// The names that findings are about: one node each, whatever becomes of the entities that bear them.
CREATE CONSTRAINT braid_finding_subject IF NOT EXISTS FOR (s:BraidSubject) REQUIRE (s.group_id, s.name_key, s.type) IS UNIQUE;

// The episodes that findings come from: one node each, which outlives an episode's replacement.
CREATE CONSTRAINT braid_finding_source IF NOT EXISTS FOR (s:BraidSource) REQUIRE (s.group_id, s.uuid) IS UNIQUE;

// Findings of a space by the time of their creation.
CREATE INDEX braid_finding_listing IF NOT EXISTS FOR (f:BraidFinding) ON (f.group_id, f.created, f.uuid);

// Findings by their words.
CREATE FULLTEXT INDEX braid_finding_terms IF NOT EXISTS FOR (f:BraidFinding) ON EACH [f.statement, f.details, f.braid_words, f.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

// Findings by similarity, with the space and the fields of one value filtered inside the index; a vector is compared with those of its length.
CYPHER 25 CREATE VECTOR INDEX braid_finding_meaning IF NOT EXISTS FOR (f:BraidFinding) ON f.embedding
WITH [f.group_id, f.kind, f.type_key, f.confidence_key, f.status_key, f.priority, f.owner_key, f.origin, f.created] OPTIONS $options;

// Documents of a space by uuid.
CREATE INDEX braid_document_listing IF NOT EXISTS FOR (n:Document) ON (n.group_id, n.uuid);

// What deletions removed, by their ids.
CREATE CONSTRAINT braid_deletion IF NOT EXISTS FOR (n:BraidDeletion) REQUIRE (n.group_id, n.id) IS UNIQUE;

// Findings of a space by uuid.
CREATE INDEX braid_finding_by_uuid IF NOT EXISTS FOR (f:BraidFinding) ON (f.group_id, f.uuid);

// Entities of a space by uuid, which stays when names change.
CREATE INDEX braid_entity_by_uuid IF NOT EXISTS FOR (n:Entity) ON (n.group_id, n.uuid);

// Which document or episode a fact was given with: once each. A fact that was given with none has a claim without claimant.
CREATE CONSTRAINT braid_fact_claimant IF NOT EXISTS FOR (c:FactClaim) REQUIRE (c.group_id, c.claimant, c.fact_uuid) IS UNIQUE;

// Which document had claimed a fact that is no more: once each.
CREATE CONSTRAINT braid_past_claim IF NOT EXISTS FOR (c:BraidPastClaim) REQUIRE (c.group_id, c.document_id, c.fact_uuid) IS UNIQUE;

// Finds the documents that had claimed a fact.
CREATE INDEX braid_past_claim_by_fact IF NOT EXISTS FOR (c:BraidPastClaim) ON (c.fact_uuid);

// Which document's episode had ended a fact, once each: what it said of that is known of the past alone.
CREATE CONSTRAINT braid_past_ending IF NOT EXISTS FOR (x:BraidPastEnding) REQUIRE (x.group_id, x.document_id, x.fact_uuid, x.cause) IS UNIQUE;

// Names of a space's entities, most mentioned first: by minus the number of mentions, as an index is read in one direction.
CREATE INDEX braid_name_by_mentions IF NOT EXISTS FOR (n:EntityName) ON (n.group_id, n.mention_rank, n.name_key, n.entity_uuid);

// Another uuid that identifies a corrected fact: the one of what it states now, or of a fact that was merged into it.
CREATE CONSTRAINT braid_fact_alias IF NOT EXISTS FOR (x:BraidFactAlias) REQUIRE (x.group_id, x.identity) IS UNIQUE;

// All that identifies a fact.
CREATE INDEX braid_fact_alias_by_fact IF NOT EXISTS FOR (x:BraidFactAlias) ON (x.fact_uuid);

// Which facts a source, such as a file of facts, states: once each.
CREATE CONSTRAINT braid_fact_source IF NOT EXISTS FOR (s:BraidFactSource) REQUIRE (s.group_id, s.source, s.fact_uuid) IS UNIQUE;

// The sources of a fact.
CREATE INDEX braid_fact_source_by_fact IF NOT EXISTS FOR (s:BraidFactSource) ON (s.fact_uuid);

// What a document's episodes had ended, by fact.
CREATE INDEX braid_past_ending_by_fact IF NOT EXISTS FOR (x:BraidPastEnding) ON (x.fact_uuid);

// Quarantines, by their ids.
CREATE CONSTRAINT braid_quarantine IF NOT EXISTS FOR (q:BraidQuarantine) REQUIRE (q.group_id, q.id) IS UNIQUE;

// Items of quarantines, by their ids.
CREATE CONSTRAINT braid_quarantined IF NOT EXISTS FOR (i:BraidQuarantined) REQUIRE (i.group_id, i.quarantine_id, i.id) IS UNIQUE;

// Calls with an idempotency key, and the response of those that have succeeded.
CREATE CONSTRAINT braid_idempotency_key IF NOT EXISTS FOR (k:BraidIdempotencyKey) REQUIRE k.id IS UNIQUE;
CREATE INDEX braid_idempotency_key_expires IF NOT EXISTS FOR (k:BraidIdempotencyKey) ON (k.expires);
