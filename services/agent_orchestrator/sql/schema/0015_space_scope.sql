-- The deletion of a space, and the counts of what it contains, see the rows of all its users.
create policy memory_relationship_space on memory_relationship using (
  space = current_setting('braid.space', true) and current_setting('braid.memory_scope', true) = 'space');
create policy memory_write_space on memory_write using (
  space = current_setting('braid.space', true) and current_setting('braid.memory_scope', true) = 'space');
