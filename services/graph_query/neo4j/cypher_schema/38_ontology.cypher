// One ontology for each space.
CREATE CONSTRAINT braid_ontology IF NOT EXISTS FOR (o:BraidOntology) REQUIRE o.group_id IS UNIQUE
