-- Indexes stored chunks anew whose title differs and is given by the latest version; answers with what they were.
select id, was, length_change, current from retitle_chunks($1, $2, $3, $4)
