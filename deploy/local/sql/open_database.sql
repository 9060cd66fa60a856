-- Writes the statement that lets a role ($2) connect to a database ($1), and nothing more.
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', $1::text, $2::text)
