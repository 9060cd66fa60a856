-- Writes the statement that creates a login role ($1) with a password ($2), unless it exists.
SELECT format(
    'CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
    $1::text, $2::text
)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = $1::text)
