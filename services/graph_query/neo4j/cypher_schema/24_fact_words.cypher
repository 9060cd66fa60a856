// Stated facts by their words, and by the entities at their ends so that a filter acts before ranking.
CREATE FULLTEXT INDEX braid_fact_terms IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON EACH [e.fact, e.name, e.braid_words, e.group_id, e.braid_ends]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
