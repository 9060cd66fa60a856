-- Large spaces with vectors that are not in the index yet. Like due_spaces, not limited to one space.
select distinct space from spaces_to_index() as s (space) order by space
