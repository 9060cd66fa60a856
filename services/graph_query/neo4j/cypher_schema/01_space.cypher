// One node for each space: its revision, and the lock that writers of one space queue at.
CREATE CONSTRAINT braid_space IF NOT EXISTS FOR (s:BraidSpace) REQUIRE s.group_id IS UNIQUE
