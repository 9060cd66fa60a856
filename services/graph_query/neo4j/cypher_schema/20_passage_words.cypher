// Passages by their folded words: where a name that becomes known already stands.
CREATE FULLTEXT INDEX braid_passage_words IF NOT EXISTS FOR (n:BraidPassage) ON EACH [n.words, n.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
