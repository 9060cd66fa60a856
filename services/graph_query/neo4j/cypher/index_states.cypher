// State of each of Braid's indexes. In the language version of searches, so that a probe loads their parser.
CYPHER 25
SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'braid_'
RETURN name, state
