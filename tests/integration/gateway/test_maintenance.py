"""Consistency checks, repairs, model migrations and unfinished deletions, through REST and the command."""

from __future__ import annotations

import json

from braid.agent.v1 import consistency_pb2, ingest_pb2, jobs_pb2, models_pb2, spaces_pb2
from gateway.cli.exit_codes import ExitCode
from tests.integration.gateway.command import braid
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import JOB_ID

RUNNING = jobs_pb2.Job(id=JOB_ID, kind=jobs_pb2.JOB_KIND_DELETE, state=jobs_pb2.JOB_STATE_RUNNING)
DONE = jobs_pb2.Job(
    id=JOB_ID,
    kind=jobs_pb2.JOB_KIND_DELETE,
    state=jobs_pb2.JOB_STATE_SUCCEEDED,
    removed=[
        jobs_pb2.RemovedRows(store=jobs_pb2.STORE_NEO4J, kind=jobs_pb2.ROW_KIND_EPISODES, count=3)
    ],
)
KIND = consistency_pb2.INCONSISTENCY_KIND_EPISODE_WITHOUT_CHUNK


def report(repaired: int) -> consistency_pb2.ConsistencyReport:
    """A report of one stray episode."""
    return consistency_pb2.ConsistencyReport(
        chunk_count=2,
        episode_count=3,
        counts=[
            consistency_pb2.InconsistencyCount(
                kind=KIND,
                found_count=1,
                repaired_count=repaired,
                action=consistency_pb2.REPAIR_ACTION_QUARANTINE,
            )
        ],
        listed=[consistency_pb2.Inconsistency(kind=KIND, id="e", document_id="d")],
        consistent=bool(repaired),
    )


async def test_an_unfinished_deletion_returns_its_job(served: Served) -> None:
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=RUNNING))
    response = await served.http.delete("/api/documents/notes/a.md")
    assert response.status_code == 202
    assert response.headers["location"] == f"/api/jobs/{JOB_ID}"
    assert (response.json()["removed"], response.json()["job"]["state"]) == ([], "RUNNING")


async def test_a_failed_deletion_is_an_error_with_its_reason(served: Served) -> None:
    failed = jobs_pb2.Job(
        id=JOB_ID,
        kind=jobs_pb2.JOB_KIND_DELETE,
        state=jobs_pb2.JOB_STATE_FAILED,
        failures=[jobs_pb2.JobFailure(reason="is odd")],
    )
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=failed))
    response = await served.http.delete("/api/documents/notes/a.md")
    assert (response.status_code, response.json()["reason"]) == (409, "WRONG_STATE")
    assert "is odd" in response.json()["detail"]

    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=RUNNING))
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=failed))
    deleted = await braid(served, "documents", "delete", "notes/a.md")
    assert (deleted.code, "is odd" in deleted.err) == (1, True)


async def test_the_command_waits_for_an_unfinished_deletion(served: Served) -> None:
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=RUNNING))
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=DONE))
    deleted = await braid(served, "documents", "delete", "notes/a.md")
    assert "episodes" in deleted.out


async def test_a_check_reports_inconsistencies_and_a_repair_reports_consistency(
    served: Served,
) -> None:
    served.script.answer(
        "CheckConsistency", consistency_pb2.CheckConsistencyResponse(report=report(0))
    )
    served.script.answer(
        "RepairConsistency", consistency_pb2.RepairConsistencyResponse(report=report(1))
    )
    checked = (await served.http.get("/api/consistency?limit=5")).json()
    assert checked["consistent"] is False
    assert checked["counts"] == [
        {"kind": "EPISODE_WITHOUT_CHUNK", "found": 1, "repaired": 0, "action": "QUARANTINE"}
    ]
    assert checked["listed"][0]["document_id"] == "d"
    assert (await served.http.post("/api/consistency")).json()["consistent"] is True
    repair = await braid(served, "space", "check", "--repair", "--apply")
    assert "consistent" in repair.out
    assert served.script.seen[-1].message.apply


async def test_a_repair_only_reports_unless_it_is_applied(served: Served) -> None:
    served.script.answer(
        "RepairConsistency", consistency_pb2.RepairConsistencyResponse(report=report(0))
    )
    planned = await braid(served, "space", "check", "--repair")
    assert (planned.code, "QUARANTINE" in planned.out, "--apply" in planned.out) == (1, True, True)
    assert not served.script.seen[-1].message.apply
    assert (await braid(served, "space", "check", "--apply")).code == 2


async def test_quarantines_are_listed_shown_restored_and_purged(served: Served) -> None:
    counts = [
        consistency_pb2.QuarantinedItemCount(
            kind=consistency_pb2.QUARANTINED_ITEM_KIND_FACT, count=2
        )
    ]
    one = consistency_pb2.Quarantine(id=JOB_ID, counts=counts, item_count=1)
    item = consistency_pb2.QuarantinedItem(
        id=JOB_ID, kind=consistency_pb2.QUARANTINED_ITEM_KIND_FACT, subject_id="f", text="Ada met."
    )
    served.script.answer(
        "ListQuarantines", consistency_pb2.ListQuarantinesResponse(quarantines=[one])
    )
    served.script.answer(
        "GetQuarantine", consistency_pb2.GetQuarantineResponse(quarantine=one, items=[item])
    )
    served.script.answer(
        "RestoreQuarantine",
        consistency_pb2.RestoreQuarantineResponse(restored=counts, quarantine=one),
    )
    served.script.answer("PurgeQuarantine", consistency_pb2.PurgeQuarantineResponse(purged=counts))
    listed = (await served.http.get("/api/quarantines")).json()
    assert listed["quarantines"][0]["counts"] == [{"kind": "FACT", "count": 2}]
    assert "2 fact" in (await braid(served, "space", "quarantine", "list")).out
    assert "Ada met." in (await braid(served, "space", "quarantine", "show", JOB_ID)).out
    restored = await braid(served, "space", "quarantine", "restore", JOB_ID, "--item", JOB_ID)
    assert "2 fact" in restored.out
    assert list(served.script.seen[-1].message.item_ids) == [JOB_ID]
    assert "2 fact" in (await braid(served, "space", "quarantine", "purge", JOB_ID)).out
    assert (await served.http.delete(f"/api/quarantines/{JOB_ID}")).json() == {
        "purged": [{"kind": "FACT", "count": 2}]
    }


async def test_model_migrations_return_their_jobs(served: Served) -> None:
    served.script.answer("StartReembedding", models_pb2.StartReembeddingResponse(job=DONE))
    served.script.answer("StartReextraction", models_pb2.StartReextractionResponse(job=DONE))
    served.script.answer(
        "GetSpaceModels",
        models_pb2.GetSpaceModelsResponse(configured_embedding_model="newer"),
    )
    response = await served.http.post("/api/reembed", json={"keep_former": True})
    assert (response.status_code, response.json()["job"]["id"]) == (202, JOB_ID)
    assert served.script.seen[-1].message.keep_former
    assert (await served.http.post("/api/reextract")).status_code == 202
    assert (await served.http.get("/api/models")).json() == {
        "embedding_model": None,
        "configured_embedding_model": "newer",
    }
    assert "SUCCEEDED" in (await braid(served, "space", "reembed")).out


USAGE = spaces_pb2.GetSpaceUsageResponse(
    space="local",
    stored=[
        spaces_pb2.StoredRows(
            store=jobs_pb2.STORE_ORCHESTRATOR, kind=jobs_pb2.ROW_KIND_MEMORIES, count=7
        )
    ],
    unfinished_job_count=2,
)


async def test_the_usage_of_a_space_is_returned_by_store_and_kind(served: Served) -> None:
    served.script.answer("GetSpaceUsage", USAGE)
    assert (await served.http.get("/api/space")).json() == {
        "space": "local",
        "stored": [{"store": "orchestrator", "kind": "memories", "count": 7}],
        "jobs_unfinished": 2,
        "documents_dead": 0,
    }
    shown = await braid(served, "space", "usage")
    assert "memories" in shown.out
    as_json = json.loads((await braid(served, "space", "usage", "--json")).out)
    assert as_json["stored"][0]["count"] == 7


async def test_the_deletion_of_a_space_is_a_job_whose_receipt_the_command_shows(
    served: Served,
) -> None:
    served.script.answer("DeleteSpace", spaces_pb2.DeleteSpaceResponse(job=RUNNING))
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=DONE))
    response = await served.http.delete("/api/space?confirm=local")
    assert (response.status_code, response.headers["location"]) == (202, f"/api/jobs/{JOB_ID}")
    deleted = await braid(served, "space", "delete", "local")
    assert (deleted.code, "episodes" in deleted.out) == (0, True)
    sent = [seen.messages[0] for seen in served.script.seen if seen.method.endswith("/DeleteSpace")]
    assert [request.confirm for request in sent] == ["local", "local"]


async def test_the_deletion_of_a_space_needs_its_id(served: Served) -> None:
    response = await served.http.delete("/api/space")
    assert (response.status_code, response.json()["fields"][0]["field"]) == (422, "confirm")
    assert (await braid(served, "space", "delete")).code == ExitCode.USAGE
