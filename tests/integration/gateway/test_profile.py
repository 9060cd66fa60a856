"""What is known about a user, in REST and the command: as a profile, and as a text for a prompt."""

from __future__ import annotations

from braid.agent.v1 import profile_pb2
from braid.common.v1 import legs_pb2
from services.runtime.times import to_timestamp
from tests.integration.gateway.command import braid
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import DAY

ITEM = profile_pb2.ProfileItem(
    id="r1",
    source=profile_pb2.PROFILE_SOURCE_ENTITY_MEMORY,
    text="You use Grafana.",
    evidence="I use Grafana at work.",
    message_id="m1",
    mention_count=2,
    last_time=to_timestamp(DAY),
)
PROFILE = profile_pb2.GetProfileResponse(statements=[ITEM])
CONTEXT = profile_pb2.GetContextResponse(
    text="What is known:\n[1] The user uses Grafana.",
    items=[profile_pb2.ContextItem(number=1, item=ITEM, score=0.5)],
    token_count=11,
    left_out_count=3,
    memory_leg=legs_pb2.LegReport(leg=legs_pb2.LEG_MEMORY, status=legs_pb2.LEG_STATUS_NO_MATCH),
)
SHOWN = {
    "id": "r1",
    "source": "entity_memory",
    "text": "You use Grafana.",
    "evidence": "I use Grafana at work.",
    "conversation_id": None,
    "message_id": "m1",
    "mention_count": 2,
    "memory_type": None,
}


async def test_a_profile_has_each_item_with_its_evidence(served: Served) -> None:
    served.script.answer("GetProfile", PROFILE)
    found = (await served.http.get("/api/memory/profile?limit=5")).json()
    (item,) = found["statements"]
    assert item.pop("last_at").startswith(DAY.date().isoformat())
    assert item == SHOWN
    assert (found["memories"], found["people"], found["projects"]) == ([], [], [])
    assert served.script.seen[-1].message.limit == 5


async def test_a_context_is_a_text_with_its_items(served: Served) -> None:
    served.script.answer("GetContext", CONTEXT)
    body = {"query": "Which dashboards?", "max_tokens": 200}
    found = (await served.http.post("/api/memory/context", json=body)).json()
    assert found["text"] == CONTEXT.text
    assert (found["token_count"], found["left_out_count"]) == (11, 3)
    (item,) = found["items"]
    assert {name: item[name] for name in ("number", "id", "score")} == {
        "number": 1,
        "id": "r1",
        "score": 0.5,
    }
    assert found["memory_leg"]["status"] == "NO_MATCH"
    sent = served.script.seen[-1].message
    assert (sent.query, sent.max_tokens) == ("Which dashboards?", 200)


async def test_the_command_shows_the_profile_and_the_text_for_a_prompt(served: Served) -> None:
    served.script.answer("GetProfile", PROFILE)
    shown = await braid(served, "memory", "profile")
    assert shown.out.splitlines() == ["You use Grafana.", "    “I use Grafana at work.”"]
    served.script.answer("GetContext", CONTEXT)
    text = await braid(served, "memory", "profile", "--for", "Which dashboards?")
    assert text.out.splitlines() == CONTEXT.text.splitlines()
    served.script.answer("GetProfile", profile_pb2.GetProfileResponse())
    assert "Nothing is known." in (await braid(served, "memory", "profile")).out
