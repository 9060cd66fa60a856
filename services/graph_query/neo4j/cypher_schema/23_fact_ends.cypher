// Before braid_fact_terms: the words of facts' ends that it finds them by.
MATCH ()-[e:RELATES_TO]->() WHERE e.braid_ends IS NULL
CALL (e) {
  SET e.braid_ends = replace(left(startNode(e).uuid, 18), '-', '') + ' ' + replace(left(endNode(e).uuid, 18), '-', '')
} IN TRANSACTIONS OF 1000 ROWS
