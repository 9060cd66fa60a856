-- Renews leases; returns the turns that still belong to their worker.
update turn set renew_time = now() where id = any($1::bigint[]) and owner = $2 returning id
