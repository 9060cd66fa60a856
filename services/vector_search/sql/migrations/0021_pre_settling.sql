-- Every half minute each process asks in which spaces a version has come into force. Few wait for one at all.

create index space_stats_next_change on space_stats (next_change) where next_change < 'infinity';
