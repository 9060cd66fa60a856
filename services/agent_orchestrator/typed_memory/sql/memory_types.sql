-- The types that a space has set; no rows if it has set none.
select name from memory_type where space = $1 order by name
