-- Writes the statement that drops a database ($1) and ends its connections, if it exists.
SELECT format('DROP DATABASE IF EXISTS %I WITH (FORCE)', $1::text)
