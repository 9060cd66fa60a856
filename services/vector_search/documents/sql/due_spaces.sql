-- Spaces in which a version has come into force since they were last written to; like spaces_to_index, not limited to one space.
select space from space_stats where next_change <= now() order by space
