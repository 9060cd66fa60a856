// State of each of Braid's indexes.
SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'braid_'
RETURN name, state
