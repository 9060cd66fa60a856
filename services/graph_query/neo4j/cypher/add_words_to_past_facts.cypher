// Sets the words that the full text of versions of facts needs beside theirs.
UNWIND $p.rows AS row
MATCH (e:FactVersion {uuid: row[0]}) USING INDEX SEEK e:FactVersion(uuid)
SET e.braid_words = row[1]
