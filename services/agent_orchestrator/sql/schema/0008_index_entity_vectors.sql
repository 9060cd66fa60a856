-- Applies 0007 to the vectors that are there. Apart from it, as reads do not wait for an index that is built, but would for
-- the locks of the policies.
set local maintenance_work_mem = '256MB';
select set_config('braid.memory_scope', 'schema', true);
do $$
declare
  dimension integer;
begin
  foreach dimension in array array(select distinct vector_dims(embedding) from memory_entity_vector) loop
    perform index_entity_vectors(dimension);
  end loop;
end $$;
delete from memory_entity_vector v using memory_entity e
where e.space = v.space and e.user_id = v.user_id and e.id = v.entity_id and e.delete_time is not null;
