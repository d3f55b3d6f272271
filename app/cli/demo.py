"""``yoriai demo``: one sample meeting, from the request to the minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.cli.service import follow, own_service

_TOPIC = "Should the platform team keep its four services in one repository?"
_CONTEXT = "12 engineers, 4 services, one release train, a build of 25 minutes."


def hold_demo(folder: Path) -> None:
    """Hold the meeting and print it; files lie in ``folder``, the service ends with it."""
    environment = {
        "YORIAI_DATABASE_URL": f"sqlite+aiosqlite:///{folder / 'yoriai.db'}",
        "YORIAI_MINUTES_DIR": str(folder / "minutes"),
        "YORIAI_LOG_LEVEL": "warning",
    }
    with own_service(environment) as client:
        print(f"The service answers on {client.base_url}.\n")
        answer = client.post("/v1/meetings", json={"topic": _TOPIC, "context": _CONTEXT})
        meeting = answer.raise_for_status().json()
        print(f"POST /v1/meetings  ->  {answer.status_code}  {meeting['id']}")
        for warning in meeting["warnings"]:
            print(f"  warning: {warning}")
        print(f"GET /v1/meetings/{meeting['id']}/events")
        path = ""
        for event in follow(client, meeting["id"]):
            print(f"  {event['id']:>3}  {event['type']:<20} {_told(event)}")
            path = event["data"].get("path", path)
        print(f"\nGET /v1/meetings/{meeting['id']}/decision\n")
        accept = {"Accept": "text/markdown"}
        record = client.get(f"/v1/meetings/{meeting['id']}/decision", headers=accept)
        print(record.raise_for_status().text)
        print(f"The minutes lie in {path}.")


def _told(event: dict[str, Any]) -> str:
    content = event["data"]
    match event["type"]:
        case "round.started":
            return f"round {content['round']}: {_short(content['motion'])}"
        case "reply.received":
            return f"{content['participant']}: {content.get('stance', content['status'])}"
        case "round.closed":
            return f"round {content['round']}: {content['consensus']}"
        case "summary.updated":
            return f"motion is now: {_short(content['motion'])}"
        case "decision.recorded":
            outcome = content["outcome"]
            return f"{outcome['result']}: {_short(outcome['decision'] or '-')}"
        case "minutes.written":
            return str(content["path"])
        case "meeting.ended":
            return f"{content['result']}, stopped by {content['stopped_by']}"
        case _:
            return ""


def _short(text: str) -> str:
    return text if len(text) <= 70 else text[:69] + "…"
