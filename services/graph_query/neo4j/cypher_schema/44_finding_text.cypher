// Findings by their words.
CREATE FULLTEXT INDEX braid_finding_terms IF NOT EXISTS FOR (f:BraidFinding) ON EACH [f.statement, f.details, f.braid_words, f.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
