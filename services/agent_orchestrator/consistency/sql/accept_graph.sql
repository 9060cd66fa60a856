-- Accepts that a space's graph was restored from a backup: from now on its present revision is the highest.
update seen_graph set revision = $2, update_time = now() where space = $1 and revision > $2
