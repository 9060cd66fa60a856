#!/bin/sh
# Run once by the PostgreSQL image on an empty volume: Braid's roles, databases and grants (deploy/README.md, step 1).
set -eu
psql -v ON_ERROR_STOP=1 -U postgres -d postgres \
  -v migrator="$BRAID_MIGRATOR_PASSWORD" -v writer="$BRAID_WRITER_PASSWORD" -v reader="$BRAID_READER_PASSWORD" \
  -v agent_migrator="$BRAID_AGENT_MIGRATOR_PASSWORD" -v agent="$BRAID_AGENT_PASSWORD" <<'SQL'
CREATE ROLE braid_migrator LOGIN PASSWORD :'migrator';
CREATE ROLE braid_writer LOGIN PASSWORD :'writer';
CREATE ROLE braid_reader LOGIN PASSWORD :'reader';
CREATE ROLE braid_agent_migrator LOGIN PASSWORD :'agent_migrator';
CREATE ROLE braid_agent LOGIN PASSWORD :'agent';
CREATE DATABASE braid_vector OWNER braid_migrator;
CREATE DATABASE braid_agent OWNER braid_agent_migrator;
REVOKE ALL ON DATABASE braid_vector, braid_agent FROM PUBLIC;
GRANT CONNECT ON DATABASE braid_vector TO braid_writer, braid_reader;
GRANT CONNECT ON DATABASE braid_agent TO braid_agent;
SQL
psql -v ON_ERROR_STOP=1 -U postgres -d braid_vector -f /braid/vector_grants.sql
psql -v ON_ERROR_STOP=1 -U postgres -d braid_agent -f /braid/agent_grants.sql
