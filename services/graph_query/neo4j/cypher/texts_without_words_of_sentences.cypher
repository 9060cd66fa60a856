// The next sentences in the order of their uuids: the last of those looked at, and uuid and text of each that has no added words
// yet and whose text is not ASCII alone.
MATCH (e:BraidSentence) USING INDEX SEEK e:BraidSentence(uuid) WHERE e.uuid > $p.after
WITH e ORDER BY e.uuid LIMIT $p.limit
WITH e.uuid AS uuid, e.braid_words IS NULL AS missing, coalesce(e.text, '') AS text
RETURN max(uuid) AS last, collect(CASE WHEN missing AND text =~ '(?s).*[^\\x00-\\x7f].*' THEN [uuid, text] END) AS texts
