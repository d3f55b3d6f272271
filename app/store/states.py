"""The states that the log's writer decides by, each read at most once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence, Set

from msgspec.structs import replace
from sqlalchemy import Connection, select

from app.domain.meeting.state import MeetingState
from app.store.ledger import Append, States
from app.store.state_rows import below_of, state_of
from app.store.tables import MeetingRow, table

_MOST_KEPT = 2_000

_meeting = table(MeetingRow)


class KeptStates:
    """The states of meetings at work as this process has left them.

    Where the database is ``shared``, other processes may have moved a meeting on since.
    """

    def __init__(self, *, shared: bool) -> None:
        self._shared = shared
        self._kept: OrderedDict[str, MeetingState] = OrderedDict()

    def keep(self, state: MeetingState) -> None:
        self._kept[state.meeting.id] = state
        self._kept.move_to_end(state.meeting.id)
        if state.ended:
            del self._kept[state.meeting.id]
        elif len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)

    def forget(self, meeting_id: str) -> None:
        self._kept.pop(meeting_id, None)

    def of(self, connection: Connection, batch: Sequence[Append]) -> States:
        """The states of the batch's meetings and of all above them; they hold until the commit."""
        ids = {append.meeting_id for append in batch}
        found = self._found(connection, {a.meeting_id for a in batch if not a.creates})
        # A meeting that is there says what is above it, a new one's first entry does.
        for each in (*batch, *(state.meeting for state in found.values())):
            ids.update(each.ancestors)
        if self._shared:
            found = self._locked(connection, ids, found)
        return found | self._found(connection, ids - found.keys(), kept=not self._shared)

    def _found(self, connection: Connection, ids: Set[str], *, kept: bool = True) -> States:
        """Those of the meetings that there are, as they are ``kept`` or else as they are stored."""
        found = {id_: self._kept[id_] for id_ in ids if id_ in self._kept} if kept else {}
        missing = sorted(ids - found.keys())
        if missing:
            rows = connection.execute(select(_meeting).where(_meeting.c.id.in_(missing)))
            found |= {row["id"]: state_of(row) for row in rows.mappings()}
        return found

    def _locked(self, connection: Connection, ids: Set[str], found: States) -> States:
        """The states at hand that are still true, with the rows of all these meetings locked."""
        # In the order of ids, so that two processes never wait for each other's rows.
        rows = connection.execute(
            select(_meeting.c.id, _meeting.c.last_seq, _meeting.c.below)
            .where(_meeting.c.id.in_(sorted(ids)))
            .order_by(_meeting.c.id)
            .with_for_update()
        )
        true: States = {}
        for row in rows:
            state = found.get(row.id) or self._kept.get(row.id)
            if state is not None and state.last_seq == row.last_seq:
                # Meetings below it may have drawn on it from another process meanwhile.
                true[row.id] = replace(state, below=below_of(row.below))
        return true
