"""Sources of every kind are kept in step by `braid sync`, and the service says how their last run ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.conftest import HOSTILE_KEY, System
from tests.e2e.test_sync import quoted, synced
from tests.unit.gateway.cli.sources.test_git import Written
from tests.unit.gateway.cli.sources.web_server import Answer, web_site


def source(system: System, name: str) -> dict[str, Any]:
    """Returns a source as the service keeps it."""
    ended = system.braid("sources", "get", name, "--json", key=HOSTILE_KEY)
    assert ended.returncode == 0, ended.stderr
    kept: dict[str, Any] = json.loads(ended.stdout)
    return kept


def test_a_repositorys_history_answers_as_of_its_days(system: System, tmp_path: Path) -> None:
    written = Written(tmp_path / "rulebook")
    written.commit(limits="The hoist limit is forty kilograms.", other="Nothing of interest.")
    written.commit(limits="The hoist limit is fifty kilograms.")
    first = synced(system, written.folder, "--kind", "git", "--history")
    assert first["new"] == ["rulebook/limits.md", "rulebook/other.md"]
    assert quoted(system, "hoist forty", "2026-01-01T12:00:00Z") == {"rulebook/limits.md"}
    with system.client(HOSTILE_KEY) as http:
        asked = {"query": "hoist limit", "limit": 1}
        [then] = http.post(
            "/api/search/text", json=asked | {"as_of": "2026-01-01T12:00:00Z"}
        ).json()["results"]
        [now] = http.post("/api/search/text", json=asked).json()["results"]
    assert "forty" in then["content"]
    assert "fifty" in now["content"]

    written.commit(limits="The hoist limit is sixty kilograms.", other=None, rest="The rest.")
    named = system.braid("sync", "rulebook", "--force", "--json", key=HOSTILE_KEY)
    assert named.returncode == 0, named.stderr
    again = json.loads(named.stdout)
    assert (again["new"], again["changed"]) == (["rulebook/rest.md"], ["rulebook/limits.md"])
    assert again["vanished"] == ["rulebook/other.md"]
    kept = source(system, "rulebook")
    assert (kept["kind"], kept["with_history"]) == ("git", True)
    run = kept["last_run"]
    assert (run["added"], run["changed"], run["removed"], run["error"]) == (1, 1, 1, "")


def test_a_site_and_its_feed_are_in_step_and_say_when_they_fail(
    system: System, tmp_path: Path
) -> None:
    with web_site() as site:
        site.put("/docs/", '<title>Start</title><p>Begin.</p><a href="kiln.html">more</a>')
        site.put("/docs/kiln.html", "<title>Kiln</title><p>The kiln fires at nine hundred.</p>")
        site.put(
            "/feed.xml",
            '<rss version="2.0"><channel><item><title>Opening</title><link>https://example.org/opening</link>'
            "<pubDate>Mon, 06 Jan 2025 10:00:00 GMT</pubDate><description>The pottery opens.</description>"
            "</item></channel></rss>",
        )
        first = synced(system, f"{site.address}/docs/", "--name", "pottery")
        assert first["new"] == ["pottery/index", "pottery/kiln.html"]
        assert quoted(system, "kiln fires") == {"pottery/kiln.html"}
        news = synced(system, f"{site.address}/feed.xml", "--name", "pottery-news")
        assert news["new"] == ["pottery-news/example.org/opening"]
        assert source(system, "pottery-news")["kind"] == "feed"
        opened = "pottery-news/example.org/opening"
        assert opened in quoted(system, "pottery opens", "2025-02-01")
        assert opened not in quoted(system, "pottery opens", "2025-01-01")

        site.pages["/docs/kiln.html"] = Answer(status=500)
        failed = synced(system, "pottery", code=4)
        assert (failed["unchanged"], failed["vanished"]) == (1, [])
        del site.pages["/docs/"]
        ended = system.braid("sync", "pottery", key=HOSTILE_KEY)
        assert ended.returncode == 1
        assert "/docs/ answers 404" in source(system, "pottery")["last_run"]["error"]

    paused = system.braid("sources", "pause", "pottery", key=HOSTILE_KEY)
    assert paused.returncode == 0, paused.stderr
    refused = system.braid("sync", "pottery", key=HOSTILE_KEY)
    assert (refused.returncode, "pottery is paused" in refused.stderr) == (1, True)
    listed = system.braid("sources", "list", key=HOSTILE_KEY)
    assert "paused" in listed.stdout
    for name in ("pottery", "pottery-news"):
        assert system.braid("sources", "delete", name, key=HOSTILE_KEY).returncode == 0
    assert quoted(system, "kiln fires") == {"pottery/kiln.html"}


def test_a_source_that_somebody_else_set_is_not_read_by_its_name(
    system: System, tmp_path: Path
) -> None:
    (tmp_path / "private.md").write_text("The vault opens at the sound of a flute.")
    body = {"kind": "folder", "root": str(tmp_path), "every_minutes": 1}
    with system.client(HOSTILE_KEY) as http:
        assert http.put("/api/sources/trap", json=body).status_code == 200
    for words in (("sync", "trap"), ("sync",)):
        ended = system.braid(*words, key=HOSTILE_KEY)
        assert ended.returncode != 0
        assert "trap was set on another machine" in ended.stderr
    assert quoted(system, "vault flute") == set()
    given = synced(system, tmp_path, "--name", "trap")
    assert given["new"] == ["trap/private.md"]
    assert synced(system, "trap")["unchanged"] == 1
