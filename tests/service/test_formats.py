"""Each format from POST to minutes, with the built-in rehearsal, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.running import RunningService

WISHES: dict[str, dict[str, Any]] = {
    "roundtable": {},
    "debate": {},
    "poll": {"rules": {"output": "ranking"}, "options": ["Rust", "Go", "Zig"]},
    "vote": {"options": ["Rust", "Go"]},
    "council": {"completion_gate": {"min_completions": 2}},
    "review": {
        "participants": [
            {"name": "ann", "role": "author"},
            {"name": "bob", "role": "critic"},
            {"name": "cid", "role": "critic"},
        ],
        "materials": [
            {"id": "m1", "version": "1", "text": "Replies take three working days as a rule."}
        ],
        "criteria": [{"id": "c1", "text": "short", "check": {"max_chars": 4_000}}],
    },
}


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("format_", WISHES)
def test_a_whole_meeting(service: RunningService, format_: str, language: str) -> None:
    wish = {"topic": "どの言語で書くべきか?", "format": format_, "language": language}
    meeting = service.hold(**wish, **WISHES[format_])
    outcome = meeting["outcome"]
    assert outcome["result"] in {"decided", "undecided"}
    events = service.events(meeting["id"])
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "meeting.ended"
    path = f"/v1/meetings/{meeting['id']}"
    minutes = service.text(f"{path}/minutes", "text/markdown")
    (written,) = (service.folder / "minutes").glob(f"*{meeting['id']}.md")
    assert written.read_text("utf-8") == minutes
    assert service.text(f"{path}/minutes", "text/html").startswith("<!")
    assert service.text(f"{path}/decision", "text/markdown")
    for part in ("rounds", "votes", "dissents", "objections"):
        assert service.client.get(f"{path}/{part}").status_code == 200
    if format_ in ("poll", "vote"):
        assert service.client.get(f"{path}/votes").json()["items"]
    if format_ == "review":
        assert service.client.get(f"{path}/objections").json()["items"]


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"format": "vote"}, "#/options"),
        ({"format": "vote", "options": ["a"]}, "#/options"),
        ({"format": "vote", "options": ["ａ", "A"]}, "#/options/1"),
        ({"format": "vote", "count": 1}, "#/count"),
        ({"format": "poll", "count": 2}, "#/count"),
        ({"format": "debate", "participants": [{"name": "a"}]}, "#/participants"),
        (
            {"format": "vote", "options": ["a", "b"], "rules": {"resolution": ["escalate"]}},
            "#/rules/resolution",
        ),
        (
            {"format": "vote", "options": ["a", "b"], "rules": {"quorum": 1.5}},
            "#/rules/quorum",
        ),
        (
            {"format": "vote", "options": ["a", "b"], "rules": {"quorum": 4}},
            "#/rules/quorum",
        ),
        (
            {
                "format": "vote",
                "options": ["a", "b"],
                "rules": {"protocol": "weighted", "threshold": 1.2},
            },
            "#/rules/threshold",
        ),
        (
            {
                "format": "vote",
                "options": ["a", "b"],
                "participants": [{"name": "a", "weight": 2.5}, {"name": "b"}],
            },
            "#/participants/0/weight",
        ),
        (
            {"format": "council", "completion_gate": {"min_completions": 4}},
            "#/completion_gate/min_completions",
        ),
        ({"format": "poll", "rules": {"quorum": 1}}, "#/rules/quorum"),
        ({"format": "debate", "rules": {"history": "none"}}, "#/rules/history"),
        ({"arbiter": {"kind": "agent", "agent": "nobody"}}, "#/arbiter/agent"),
        ({"arbiter": {"kind": "agent"}}, "#/arbiter/agent"),
        ({"arbiter": {"kind": "human", "agent": "default"}}, "#/arbiter/agent"),
        ({"arbiter": {"kind": "judge"}}, "#/arbiter/kind"),
    ],
)
def test_bad_input_of_formats(service: RunningService, wish: dict[str, Any], pointer: str) -> None:
    answer = service.client.post("/v1/meetings", json={"topic": "Which?", **wish})
    assert answer.status_code == 422, answer.text
    found = [fault["pointer"] for fault in answer.json()["errors"]]
    assert any(one == pointer or one.startswith(pointer) for one in found), found
