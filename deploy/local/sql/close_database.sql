-- Writes the statement that takes a database ($1) away from everyone but its owner.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', $1::text)
