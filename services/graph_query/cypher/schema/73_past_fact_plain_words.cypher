// Before braid_past_fact_terms: words of Latin letters without their accents, by which it finds what was stored before it.
MATCH (e:FactVersion) WHERE e.braid_words IS NULL AND e.fact =~ '(?s).*[\\u00c0-\\u024f\\u0300-\\u036f\\u1e00-\\u1eff].*'
CALL (e) {
  SET e.braid_words = trim(reduce(words = '', word IN split(e.fact, ' ') |
    CASE WHEN word =~ '(?s).*[\\u00c0-\\u024f\\u0300-\\u036f\\u1e00-\\u1eff].*'
         THEN words + ' ' + reduce(plain = '', char IN split(normalize(word, NFD), '') |
           CASE WHEN char >= '\u0300' AND char <= '\u036f' THEN plain ELSE plain + char END)
         ELSE words END))
} IN TRANSACTIONS OF 1000 ROWS
