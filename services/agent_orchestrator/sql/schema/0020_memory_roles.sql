-- What a relationship's target is to the user ("boss" of "my boss is Bob"), whether a later statement ended it, so that it is history
-- instead of deleted, and where people live.
alter table memory_relationship
  add column role text not null default '' check (char_length(role) <= 100),
  add column ended boolean not null default false check (not ended or delete_time is not null),
  drop constraint memory_relationship_type_check,
  add constraint memory_relationship_type_check check (type in ('USES', 'PREFERS', 'DECIDED', 'WORKS_ON', 'WORKS_WITH', 'KNOWS',
    'DEPENDS_ON', 'MENTIONED_IN', 'PART_OF', 'LIVES_IN'));
alter table memory_entity
  drop constraint memory_entity_type_check,
  add constraint memory_entity_type_check check (type in ('person', 'project', 'tool', 'concept', 'organization', 'place', 'self'));
