#!/bin/sh
# Makes the secrets of compose.yaml once, below deploy/compose/secrets: passwords (.env) and the services' own API key.
set -eu
cd "$(dirname "$0")"
umask 077
[ -e secrets/.env ] && { echo "deploy/compose/secrets exists already: nothing was changed"; exit 0; }
mkdir -p secrets/keys
random() { od -An -N 24 -tx1 /dev/urandom | tr -d ' \n'; }
service_key=$(random)
user_key=$(random)
hash() { printf %s "$1" | sha256sum | cut -d ' ' -f 1; }
cat > secrets/.env <<END
POSTGRES_PASSWORD=$(random)
BRAID_WRITER_PASSWORD=$(random)
BRAID_READER_PASSWORD=$(random)
BRAID_MIGRATOR_PASSWORD=$(random)
BRAID_AGENT_PASSWORD=$(random)
BRAID_AGENT_MIGRATOR_PASSWORD=$(random)
NEO4J_PASSWORD=$(random)
BRAID_SERVICE_KEY=$service_key
END
cat > secrets/keys/api_keys.json <<END
{"keys": [
  {"id": "services", "hash": "sha256:$(hash "$service_key")", "space": null, "user": null,
   "scopes": ["read", "write", "admin", "delegate"], "expires_at": null},
  {"id": "first", "hash": "sha256:$(hash "$user_key")", "space": "main", "user": "first",
   "scopes": ["read", "write", "admin"], "expires_at": null}
]}
END
# The containers' user (10001) reads it; the folder above keeps others out.
chmod 755 secrets/keys
chmod 644 secrets/keys/api_keys.json
echo "Your API key (space main, shown once): $user_key"
