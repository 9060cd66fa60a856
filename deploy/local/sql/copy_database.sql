-- Writes the statement that creates a database ($1) owned by a role ($2) as a copy of another ($3).
SELECT format('CREATE DATABASE %I OWNER %I TEMPLATE %I', $1::text, $2::text, $3::text)
