// Sets the words that the full text of sentences needs beside theirs.
UNWIND $p.rows AS row
MATCH (e:BraidSentence {uuid: row[0]}) USING INDEX SEEK e:BraidSentence(uuid)
SET e.braid_words = row[1]
