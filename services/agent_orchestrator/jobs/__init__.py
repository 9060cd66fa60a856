"""Durable jobs: accepted in one transaction with their raw input, worked on in turns, ended or listed with a reason.

The queue is PgQueuer's. It holds *turns*, not documents: one for each space and stage with work to do, one for each
job that is no upload. A worker that takes a space's turn works through what waits there, in order and in batches that
cross jobs, and gives the turn back behind those of other spaces. So one space's million documents hold up nobody
else's one, a space keeps its order, spaces run side by side, and many small uploads cost as little as one large.

PgQueuer rather than procrastinate: it speaks asyncpg, so that a turn is asked for in the very transaction that stores
an upload, without a second driver and pool; it takes up what a dead worker held by itself; and it was the quicker one
(asked for one by one 1,400 a second against 1,100, taken and ended one by one 1,160 against 530, on two cores). Of it
we use the schema and the queries; its own loop ends when the database does, and knows no lease that can be lost.
"""
