// Sentences of the local graph by their words.
CREATE FULLTEXT INDEX braid_sentence_text IF NOT EXISTS FOR (n:BraidSentence) ON EACH [n.text, n.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
