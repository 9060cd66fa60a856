// The version of the schema that the database was made with: no row before the baseline.
MATCH (s:BraidSchema {name: 'graph'})
RETURN s.version AS version
