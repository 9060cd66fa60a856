-- The types that a space has chosen; none where it has not.
select name from memory_type where space = $1 order by name
