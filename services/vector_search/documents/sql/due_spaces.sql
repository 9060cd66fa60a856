-- Spaces in which a version has come into force since their last write; like spaces_to_index, not limited to one space.
select space from space_stats where next_change <= now() order by space
