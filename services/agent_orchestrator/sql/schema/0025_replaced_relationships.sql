-- What took the place of an ended relationship: if that is deleted, as though it had never been said, the one before holds again.
alter table memory_relationship add column ended_by uuid;
create index memory_relationship_ended_by on memory_relationship (space, user_id, ended_by) where ended_by is not null;
