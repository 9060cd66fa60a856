-- Renews leases; the turns that come back are still their worker's.
update turn set renew_time = now() where id = any($1::bigint[]) and owner = $2 returning id
