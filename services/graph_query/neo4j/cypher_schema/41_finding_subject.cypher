// The names that findings are about: one node each, whatever becomes of the entities that bear them.
CREATE CONSTRAINT braid_finding_subject IF NOT EXISTS FOR (s:BraidSubject) REQUIRE (s.group_id, s.name_key, s.type) IS UNIQUE
