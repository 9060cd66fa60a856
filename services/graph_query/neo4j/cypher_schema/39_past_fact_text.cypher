// Facts that were taken back, by their words: searches at an instant before that find them.
CREATE FULLTEXT INDEX braid_past_fact_terms IF NOT EXISTS FOR (v:BraidPastFact) ON EACH [v.fact, v.name, v.braid_words, v.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
