-- Large spaces of which vectors wait outside of the index; the one query that is not about one space.
select distinct space from waiting_spaces() as w (space) order by space
