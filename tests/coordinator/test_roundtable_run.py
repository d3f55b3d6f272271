"""Whole round tables, held over a real log (PROTOCOLS 4, 11)."""

from decimal import Decimal

import pytest

from app.coordinator.ports import Answer, Request, Usage
from app.domain.errors import AgentRefused, AgentRejected, InvalidRequest
from app.domain.meeting.meeting import Limits
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import ActingAgent, ended, of_type, says, secretary, stances


async def test_full_consensus_in_round_one_ends_early(table: MakeTable) -> None:
    events = await table(a=stances("AGREE"), b=stances("AGREE")).hold()
    assert [event.type for event in events] == [
        "meeting.created",
        "meeting.started",
        "round.started",
        "reply.received",
        "reply.received",
        "round.closed",
        "decision.recorded",
        "minutes.written",
        "meeting.ended",
    ]
    assert [event.number for event in events] == list(range(1, 10))
    outcome = ended(events)
    assert outcome["result"] == "decided"
    assert outcome["consensus"] == "FULL_CONSENSUS"
    assert outcome["stopped_by"] == "consensus"
    assert outcome["completeness"] == "complete"
    # The motion was the bare topic, so the decision is the synthesis' sentence.
    assert (outcome["decision"], outcome["decision_source"]) == ("Try one repository.", "synthesis")


async def test_a_given_motion_is_the_decision(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    outcome = ended(await held.hold(motion="Use one repository."))
    assert (outcome["decision"], outcome["decision_source"]) == ("Use one repository.", "motion")
    assert outcome["decided_by"] == {
        "kind": "consensus",
        "name": "FULL_CONSENSUS",
        "scope": "Use one repository.",
    }


async def test_the_motion_sharpens_and_the_summary_travels(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("DISAGREE", "AGREE"))
    events = await held.hold()
    started = [event.data["motion"] for event in of_type(events, "round.started")]
    assert started == [
        "Should we use one repository?",
        "Use one repository for a trial quarter.",
    ]
    outcome = ended(events)
    assert outcome["decision"] == "Use one repository for a trial quarter."
    assert outcome["decision_source"] == "motion"
    second = held.agents["a"].requests[1]
    assert second.variables["summary"] == "They talked."
    assert "I say so" not in second.prompt  # never the history itself


async def test_flips_and_baseline_are_kept(table: MakeTable) -> None:
    def convinced(request: Request) -> str:
        text = "CHANGED BECAUSE: the trial has an end.\n[STANCE: AGREE]"
        return "No. [STANCE: DISAGREE]" if request.round == 1 else text

    events = await table(a=stances("AGREE"), b=convinced).hold()
    decision = of_type(events, "decision.recorded")[0].data["roundtable"]
    assert decision["baseline"]["counts"]["DISAGREE"] == 1
    assert decision["final"]["counts"]["AGREE"] == 2
    assert decision["flips"] == [
        {
            "participant": "b",
            "round": 2,
            "from": "DISAGREE",
            "to": "AGREE",
            "direction": "neither",
            "reason": "the trial has an end.",
            "explained": True,
        }
    ]


async def test_no_consensus_after_the_last_round_is_undecided(table: MakeTable) -> None:
    events = await table(a=stances("AGREE"), b=stances("DISAGREE")).hold(limits=Limits(rounds=2))
    outcome = ended(events)
    assert outcome["result"] == "undecided"
    assert outcome["stopped_by"] == "rounds"
    assert outcome["completeness"] == "partial"
    assert outcome["decision"] is None
    assert [dissent["participant"] for dissent in outcome["dissents"]] == ["b"]


async def test_two_rounds_without_progress_stop_it(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("DISAGREE"))
    events = await held.hold(limits=Limits(rounds=9))
    assert ended(events)["stopped_by"] == "no_progress"
    assert of_type(events, "progress.stalled")[0].data["kind"] == "stalemate"
    assert len(of_type(events, "round.closed")) == 3


async def test_agents_unavailable_after_two_silent_rounds(table: MakeTable) -> None:
    dead = AgentRejected("There is no such model.")
    events = await table(a=lambda _: dead, b=lambda _: dead).hold()
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("failed", "agents_unavailable")
    assert [e.data["stance"] for e in of_type(events, "reply.received")] == ["UNKNOWN"] * 4
    assert outcome["synthesis"] is None
    assert outcome["effective_participants"] == 0


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (AgentRejected("The key is wrong."), "error", "The key is wrong."),
        (AgentRefused("It declined."), "refused", "It declined."),
        ("  ", "error", "empty"),
        ("x" * 2_000_000, "error", "2000000 characters"),
        (RuntimeError("bug"), "error", "RuntimeError"),
    ],
)
async def test_each_way_of_not_answering_is_recorded(
    table: MakeTable, answer: str | Exception, status: str, reason: str
) -> None:
    held = table(a=lambda _: answer, b=stances("AGREE"))
    reply = of_type(await held.hold(limits=Limits(rounds=1)), "reply.received")
    mine = next(event.data for event in reply if event.data["participant"] == "a")
    assert mine["status"] == status
    assert mine["stance"] == "UNKNOWN"
    assert reason in mine["reason"]
    assert len(mine["text"]) <= 2_000


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (AgentRejected("The key is wrong."), "The key is wrong."),
        ("  ", "回答が空だった。"),
        ("x" * 70_000, "回答が70000字ある。読めるのは65536字までである。"),
        (RuntimeError("bug"), "エージェントとの接続部分で「RuntimeError」が起きた。"),
    ],
)
async def test_in_a_japanese_meeting_only_a_provider_speaks_its_own_language(
    table: MakeTable, answer: str | Exception, reason: str
) -> None:
    held = table(a=lambda _: answer, b=stances("AGREE"))
    events = await held.hold(limits=Limits(rounds=1), language="ja")
    replies = {e.data["participant"]: e.data for e in of_type(events, "reply.received")}
    assert replies["a"]["reason"] == reason


async def test_a_cut_off_reply_counts_with_what_it_says(table: MakeTable) -> None:
    cut = Answer("[STANCE: AGREE] and then", Usage(5, 800, None), finish="length")
    events = await table(a=lambda _: cut, b=stances("AGREE")).hold()
    reply = of_type(events, "reply.received")[0].data
    assert (reply["status"], reply["stance"], reply["finish"]) == ("ok", "AGREE", "length")


async def test_control_characters_and_half_characters_do_not_reach_the_log(
    table: MakeTable,
) -> None:
    held = table(a=says("a\x00b\ud800\u202e [STANCE: AGREE]"), b=stances("AGREE"))
    reply = of_type(await held.hold(), "reply.received")[0].data
    assert reply["text"] == "ab? [STANCE: AGREE]"


async def test_a_failing_secretary_is_replaced_by_code_and_said_first(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("DISAGREE", "AGREE"))
    held.agents["secretary"].behave = lambda _: AgentRejected("out of order")
    events = await held.hold()
    summary = of_type(events, "summary.updated")[0].data
    assert summary["source"] == "extractive"
    assert "Participant A [AGREE]: In round 1 I say so." in summary["summary"]
    decision = of_type(events, "decision.recorded")[0].data
    assert [part["kind"] for part in decision["degradation"]] == [
        "summary_by_code",
        "synthesis_by_code",
    ]
    assert decision["outcome"]["decision"] == "Should we use one repository?"


async def test_a_misshapen_synthesis_is_asked_for_once_more(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    clerk = held.agents["secretary"]
    clerk.behave = lambda request: (
        "Sure!" if not request.request_id.endswith(second_id(clerk)) else secretary(request)
    )
    outcome = ended(await held.hold())
    assert outcome["synthesis"]["decision"] == "Try one repository."
    assert len(clerk.requests) == 2
    assert "There is no JSON object in the reply." in clerk.requests[1].prompt


def second_id(agent: ActingAgent) -> str:
    return agent.requests[1].request_id if len(agent.requests) > 1 else "none yet"


async def test_the_envelope_is_never_overdrawn(table: MakeTable) -> None:
    held = table(a=stances("AGREE", "DISAGREE"), b=stances("DISAGREE", "AGREE"))
    events = await held.hold(limits=Limits(rounds=20, tokens=6_000, no_progress_rounds=20))
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "budget")
    assert len(of_type(events, "budget.exhausted")) == 1
    spent = of_type(events, "decision.recorded")[0].data["spent"]["tokens"]
    assert spent["input"] + spent["output"] <= 6_000
    assert len(of_type(events, "round.closed")) > 1
    unasked = [e for e in of_type(events, "reply.received") if e.data["status"] == "budget"]
    assert all(e.data["stance"] == "UNKNOWN" for e in unasked)


async def test_a_money_limit_needs_known_prices(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    object.__setattr__(held.agents["a"].profile, "price", None)
    with pytest.raises(InvalidRequest, match="price of a"):
        await held.hold(limits=Limits(usd=Decimal("0.5")))


async def test_a_limit_holds_where_a_provider_counts_nothing(table: MakeTable) -> None:
    uncounted = Answer("Well. [STANCE: NEUTRAL]", None)
    held = table(a=lambda _: uncounted, b=lambda _: uncounted)
    held.agents["secretary"].behave = lambda request: Answer(secretary(request), None)
    events = await held.hold(limits=Limits(rounds=20, tokens=20_000, no_progress_rounds=20))
    assert ended(events)["stopped_by"] == "budget"
    assert len(of_type(events, "round.closed")) > 1
    spent = of_type(events, "decision.recorded")[0].data["spent"]["tokens"]
    assert 0 < spent["input"] + spent["output"] <= 20_000


async def test_minutes_that_cannot_be_written_do_not_keep_the_meeting_open(
    table: MakeTable,
) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))

    async def full(log: object) -> str:
        del log
        raise OSError(28, "No space left on device")

    held.write_minutes = full
    state = await held.open()
    with pytest.raises(OSError, match="No space left"):
        await held.runner.advance(state.meeting.id)
    events = await held.events(state.meeting.id)
    assert events[-1].type == "meeting.ended"
    assert events[-1].data["result"] == "decided"
    assert events[-1].data["minutes_error"] == "No space left on device"
