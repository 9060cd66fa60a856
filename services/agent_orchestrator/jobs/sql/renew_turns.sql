-- Renews leases, for $3 longer than usual; returns the turns that still belong to their worker.
update turn set renew_time = now() + $3::interval where id = any($1::bigint[]) and owner = $2 returning id
