// Sets the words that the full text of findings needs beside theirs.
UNWIND $p.rows AS row
MATCH (e:BraidFinding {uuid: row[0]}) USING INDEX SEEK e:BraidFinding(uuid)
SET e.braid_words = row[1]
