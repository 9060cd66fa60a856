-- Large spaces of which vectors wait outside of the index; like due_spaces not about one space.
select distinct space from waiting_spaces() as w (space) order by space
