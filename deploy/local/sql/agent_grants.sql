-- Gives the agent database its extension, and its role what the migrator's objects allow it.
CREATE EXTENSION IF NOT EXISTS vector;
ALTER DEFAULT PRIVILEGES FOR ROLE braid_agent_migrator GRANT USAGE ON SCHEMAS TO braid_agent;
ALTER DEFAULT PRIVILEGES FOR ROLE braid_agent_migrator GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO braid_agent;
ALTER DEFAULT PRIVILEGES FOR ROLE braid_agent_migrator GRANT USAGE, SELECT ON SEQUENCES TO braid_agent;
ALTER DEFAULT PRIVILEGES FOR ROLE braid_agent_migrator REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE braid_agent_migrator GRANT EXECUTE ON FUNCTIONS TO braid_agent;
