// Sets the words that the full text of facts needs beside theirs.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row[0]}]->() USING INDEX SEEK e:RELATES_TO(uuid)
SET e.braid_words = row[1]
