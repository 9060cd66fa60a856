-- Writes the statement that creates a database ($1) owned by a role ($2), unless it exists.
SELECT format('CREATE DATABASE %I OWNER %I', $1::text, $2::text)
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = $1::text)
