// Sentences of the local graph by their words.
CREATE FULLTEXT INDEX braid_sentence_terms IF NOT EXISTS FOR (n:BraidSentence) ON EACH [n.text, n.braid_words, n.group_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
