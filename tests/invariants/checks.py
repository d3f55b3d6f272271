"""What must hold of every meeting, whatever befell it. Each check reads the log by itself: it uses
none of the rules that it looks after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from msgspec import structs

from app.domain.meeting.cancellation import Cancellation
from app.domain.meeting.entries import Event
from app.domain.meeting.envelope import UNTOUCHED
from app.domain.meeting.folding import LATE
from app.domain.meeting.state import MeetingState, fold
from app.domain.money import NOTHING, Cost
from app.records.minutes import minutes_json
from tests.invariants.world import Record

_NOTHING = Decimal(0)
_REPLIES = ("reply.received", "office.replied")
_KNOWN_TO_HAVE_ENDED = frozenset({"ok", "invalid", "off_topic", "refused", "error"})
"""Statuses of a reply that came from the agent; a timeout or a missing budget is none."""


# --- one tree at a time -------------------------------------------------------------------------


def _ancestors(record: Record) -> Mapping[str, Sequence[str]]:
    """The meetings above each one."""
    return {
        entry.meeting_id: entry.data["ancestors"]
        for _, entry in record.entries
        if entry.type == "meeting.created"
    }


@dataclass
class _Account:
    """What one meeting has drawn, added up from its log; money and tokens."""

    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    usd: Decimal = _NOTHING
    tokens: int = 0
    reserved: dict[str, Cost] = field(default_factory=dict[str, Cost])

    def take(self, entry: Event) -> None:
        data = entry.data
        if entry.type in ("meeting.created", "meeting.resumed"):
            self.limits = data["limits"]
        elif entry.type == "request.reserved":
            assert data["for"] not in self.reserved, f"{entry} was not booked before"
            self.reserved[data["for"]] = Cost.read(data["reserved"])
        elif entry.type == "decision.recorded":
            assert not self.reserved, f"{self.reserved} got no answer, and nothing was booked"
        elif entry.type == "request.unanswered":
            assert data["usage"] or Cost.read(data["booked"]) == self.reserved[data["for"]]
            self._settle(data["for"], data)
        elif entry.type in _REPLIES:
            self._settle((entry.step or "").removesuffix(LATE), data)

    def _settle(self, step: str, data: Mapping[str, Any]) -> None:
        self.reserved.pop(step, None)
        paid = data["usage"] or data["booked"]
        if paid is not None:
            cost = Cost.read(paid)
            self.usd += cost.usd or _NOTHING
            self.tokens += cost.tokens

    @property
    def held(self) -> tuple[Decimal, int]:
        """What is spent and what is reserved, together."""
        reserved = self.reserved.values()
        usd = sum((cost.usd or _NOTHING for cost in reserved), self.usd)
        return usd, self.tokens + sum(cost.tokens for cost in reserved)


def nothing_is_overdrawn(record: Record) -> None:
    """At every entry: what a meeting and all below it have spent and reserved is in its limits."""
    above = _ancestors(record)
    accounts: defaultdict[str, _Account] = defaultdict(_Account)
    for position, entry in record.entries:
        accounts[entry.meeting_id].take(entry)
        for id_ in (entry.meeting_id, *above[entry.meeting_id]):
            tree = [accounts[id_], *(accounts[low] for low in above if id_ in above[low])]
            usd = sum((each.held[0] for each in tree), _NOTHING)
            tokens = sum(each.held[1] for each in tree)
            limits = accounts[id_].limits
            where = f"{id_} at entry {position} ({entry.type} of {entry.meeting_id})"
            if limits["usd"] is not None:
                assert usd <= Decimal(limits["usd"]), f"{where}: {usd} of {limits['usd']} dollars"
            if limits["tokens"] is not None:
                assert tokens <= limits["tokens"], f"{where}: {tokens} of {limits['tokens']} tokens"


def nothing_is_had_for_nothing(record: Record) -> None:
    """What a meeting shows as spent is what its agents used, or more; it says what of it nobody
    confirmed, and each sending that an agent worked for had room of its own."""
    used = dict.fromkeys(record.rows, NOTHING)
    for call in record.witness.calls:
        used[call.meeting_id] += call.used
    for id_, row in record.rows.items():
        assert row.spent.tokens >= used[id_].tokens, id_
        assert row.spent.usd is not None
        assert row.spent.usd >= (used[id_].usd or _NOTHING), id_
        log = record.log(id_)
        open_ = [e for e in log if e.type == "request.unanswered" and e.data["usage"] is None]
        assert row.unconfirmed.requests == len(open_), id_
        assert row.unconfirmed.cost.tokens == sum(
            Cost.read(each.data["booked"]).tokens for each in open_
        )
    worked = Counter(call.request_id for call in record.witness.calls if call.used != NOTHING)
    rooms = Counter(
        entry.data["request_id"] for _, entry in record.entries if entry.type == "request.reserved"
    )
    assert worked <= rooms, worked - rooms


def nothing_is_sent_after_a_cancel(record: Record) -> None:
    """Not a request is reserved, and nobody who could know of the cancel asks an agent."""
    above = _ancestors(record)
    cancelled: set[str] = set()
    reserved: dict[str, int] = {}
    for position, entry in record.entries:
        if entry.type == "cancellation.requested":
            cancelled.add(entry.meeting_id)
        elif entry.type == "meeting.resumed":
            cancelled.discard(entry.meeting_id)
        elif entry.type == "request.reserved":
            by = cancelled & {entry.meeting_id, *above[entry.meeting_id]}
            where = f"{entry.meeting_id} reserved a request at entry {position}"
            assert not by, f"{where}, after the cancel of {by}"
            reserved.setdefault(entry.data["request_id"], position)
    for call in record.witness.calls:
        assert call.request_id in reserved, f"{call} was never reserved"
        tree = {call.meeting_id, *above[call.meeting_id]}
        if reserved[call.request_id] > call.settled:
            continue  # It was reserved since, so no cancel was in force any more.
        by = {id_ for id_ in tree if _cancelled_at(record, id_, call.settled)}
        assert not by, f"{call} was made when all could know of the cancel of {by}"


def _cancelled_at(record: Record, meeting_id: str, position: int) -> bool:
    """Whether the meeting had been cancelled, and not resumed, at that place in the log."""
    going = False
    for at, entry in record.entries:
        if at > position:
            break
        if entry.meeting_id == meeting_id:
            going |= entry.type == "cancellation.requested"
            going &= entry.type != "meeting.resumed"
    return going


def nothing_is_sent_past_the_deadline(record: Record) -> None:
    """Neither a meeting's own deadline nor that of one above it, each as it then was."""
    above = _ancestors(record)
    deadlines: dict[str, datetime] = {}
    ended: set[str] = set()
    asked: dict[str, Mapping[str, datetime]] = {}
    for _, entry in record.entries:
        if entry.type in ("meeting.started", "meeting.resumed"):
            deadlines[entry.meeting_id] = datetime.fromisoformat(entry.data["deadline"])
            ended.discard(entry.meeting_id)
        elif entry.type == "meeting.ended":
            ended.add(entry.meeting_id)
        elif entry.type == "request.reserved":
            tree = (entry.meeting_id, *above[entry.meeting_id])
            asked[entry.data["request_id"]] = {
                id_: deadlines[id_] for id_ in tree if id_ in deadlines and id_ not in ended
            }
    for call in record.witness.calls:
        for id_, deadline in asked[call.request_id].items():
            assert call.at < deadline, f"{call} was made past {id_}'s deadline, {deadline}"


# --- one meeting at a time ----------------------------------------------------------------------


def _legs(log: Sequence[Event]) -> Iterator[list[Event]]:
    """The log, parted where the meeting was resumed."""
    leg: list[Event] = []
    for entry in log:
        if entry.type == "meeting.resumed":
            yield leg
            leg = []
        leg.append(entry)
    yield leg


def every_end_has_one_outcome(record: Record) -> None:
    for meeting_id in record.rows:
        for leg in _legs(record.log(meeting_id)):
            public = [entry.type for entry in leg if entry.number is not None]
            decisions = [n for n, type_ in enumerate(public) if type_ == "decision.recorded"]
            ends = [n for n, type_ in enumerate(public) if type_ == "meeting.ended"]
            assert (len(decisions), len(ends)) == (1, 1), f"{meeting_id}: {public}"
            assert decisions < ends == [len(public) - 1], f"{meeting_id}: {public}"


def states_count_what_logs_hold(record: Record) -> None:
    """At every entry, and not only once all has been given back."""
    for id_ in record.rows:
        log = record.log(id_)
        account, state = _Account(), fold(log[:1])
        for entry in log:
            account.take(entry)
            state = state if entry.seq == 1 else state.after(entry)
            own = state.own.spent + state.own.reserved
            assert (own.usd, own.tokens) == account.held, f"{id_} at its entry {entry.seq}"


def reservations_settle_to_zero(record: Record) -> None:
    """And what a meeting's row says of those below it is what they say themselves."""
    above = _ancestors(record)
    for id_, row in record.rows.items():
        assert row.own.reserved == UNTOUCHED.reserved, f"{id_} still has {row.reserved}"
        below = sum(
            (record.rows[low].own for low in record.rows if id_ in above[low]), start=UNTOUCHED
        )
        assert row.below == below, f"{id_} counts {row.below} below it, and there is {below}"


def numbers_have_no_gaps_and_rows_follow_from_logs(record: Record) -> None:
    for id_, row in record.rows.items():
        log = record.log(id_)
        numbers = [entry.number for entry in log if entry.number is not None]
        assert numbers == list(range(1, len(numbers) + 1)), id_
        assert [entry.seq for entry in log] == list(range(1, len(log) + 1)), id_
        _assert_equal(structs.replace(row, below=UNTOUCHED), fold(log))


def _assert_equal(row: MeetingState, folded: MeetingState) -> None:
    for name in MeetingState.__struct_fields__:
        kept, made = getattr(row, name), getattr(folded, name)
        if isinstance(kept, list | tuple):
            kept, made = list(kept), list(made)
        assert kept == made, f"{row.meeting.id}.{name}: {kept!r} is kept, the log says {made!r}"


# --- cancelling ---------------------------------------------------------------------------------

Items = Mapping[str, str]
"""The state of each item of a cancellation, by what it refers to."""


def what_is_unconfirmed_is_never_called_stopped(record: Record) -> None:
    for id_ in record.rows:
        for leg, shown in _shown_by_leg(record.log(id_)):
            for before, after in pairwise(shown):
                for ref, state in before.items():
                    if state == "unconfirmed":
                        assert after[ref] != "stopped", f"{id_}: {ref} was unconfirmed in {leg}"
    for id_, row in record.rows.items():
        minutes = minutes_json(record.log(id_))["cancellation"]
        assert _items(minutes) == _known(row.cancellation), id_


def what_is_stopped_is_known_to_have_ended(record: Record) -> None:
    """By what its agent said, by its reply, or by its own end in the log."""
    for id_ in record.rows:
        log = record.log(id_)
        ended = {
            entry.data["request_id"]
            for entry in log
            if entry.type in _REPLIES and entry.data["status"] in _KNOWN_TO_HAVE_ENDED
        }
        ended |= {entry.data["meeting_id"] for entry in log if entry.type == "child.ended"}
        ended |= {ref for ref, said in record.witness.said.items() if "stopped" in said}
        # A request that was reserved and never sent is no work of anybody.
        ended |= _reserved_only(log, {call.request_id for call in record.witness.calls})
        for _, shown in _shown_by_leg(log):
            for items in shown:
                stopped = {ref for ref, state in items.items() if state == "stopped"}
                assert stopped <= ended, f"{id_}: {stopped - ended} may still be at work"


def _reserved_only(log: Sequence[Event], called: set[str]) -> set[str]:
    reserved = (entry.data["request_id"] for entry in log if entry.type == "request.reserved")
    return {ref for ref in reserved if ref not in called}


def _shown_by_leg(log: Sequence[Event]) -> Iterator[tuple[int, list[Items]]]:
    """For each leg: what the events and the state show of its cancellation, in order."""
    shown: list[Items] = []
    leg = 0
    state = fold(log[:1])
    for entry in log[1:]:
        if entry.type == "meeting.resumed":
            yield leg, shown
            leg, shown = leg + 1, []
        state = state.after(entry)
        if entry.type == "cancellation.closed":
            shown.append(_items(entry.data))
        if state.cancellation is not None:
            shown.append(_known(state.cancellation))
    yield leg, shown


def _known(cancellation: Cancellation | None) -> Items:
    return _items(None if cancellation is None else cancellation.record())


def _items(cancellation: Mapping[str, Any] | None) -> Items:
    items = () if cancellation is None else cancellation["items"]
    return {item["ref"]: item["state"] for item in items}


def nothing_of_ours_went_wrong(record: Record) -> None:
    assert not record.faults
    for id_, row in record.rows.items():
        assert row.outcome is not None
        assert row.outcome.record()["stopped_by"] != "error", id_


CHECKS: Sequence[Callable[[Record], None]] = (
    nothing_of_ours_went_wrong,
    nothing_is_overdrawn,
    nothing_is_had_for_nothing,
    every_end_has_one_outcome,
    nothing_is_sent_after_a_cancel,
    nothing_is_sent_past_the_deadline,
    states_count_what_logs_hold,
    reservations_settle_to_zero,
    what_is_unconfirmed_is_never_called_stopped,
    what_is_stopped_is_known_to_have_ended,
    numbers_have_no_gaps_and_rows_follow_from_logs,
)
