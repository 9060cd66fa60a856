// Findings by their words.
CREATE FULLTEXT INDEX braid_finding_text IF NOT EXISTS FOR (f:BraidFinding) ON EACH [f.statement, f.details, f.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
