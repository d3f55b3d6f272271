"""What is told in the meeting's language: a code and its arguments, never a sentence.

The sentences stand in ``app/prompts/{en,ja}/messages.toml``, one for each code. They tell an
answerer why it is asked again, and a reader of the minutes why a reply is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, Union


class Code(StrEnum):
    """A sentence or, in the first group, a part of one that stands in another's argument."""

    A_NUMBER = "a_number"
    A_LIST = "a_list"
    AN_OBJECT = "an_object"
    ENDLESS = "endless"
    MORE = "more"
    THE_KEY = "the_key"
    THE_CONFIDENCE_OF = "the_confidence_of"
    THE_SCORE_OF = "the_score_of"
    THE_SCORE_ON = "the_score_on"

    # What is wrong with any reply.
    BOTH = "both"
    NO_OBJECT = "no_object"
    NO_ANSWER = "no_answer"
    ONLY_THINKING = "only_thinking"
    KEY_MISSING = "key_missing"
    KEY_NOT_A_LIST = "key_not_a_list"
    NOT_A_NUMBER = "not_a_number"
    OUT_OF_RANGE = "out_of_range"
    NO_SECTION = "no_section"
    SECTIONS_MISSING = "sections_missing"

    # With a ballot.
    VOTE_UNKNOWN = "vote_unknown"
    ABSTENTION_REFUSED = "abstention_refused"
    RANKING_NOT_A_LIST = "ranking_not_a_list"
    RANKING_UNKNOWN = "ranking_unknown"
    RANKING_REPEATED = "ranking_repeated"
    RANKING_INCOMPLETE = "ranking_incomplete"
    RECOMMENDATIONS_NOT_A_LIST = "recommendations_not_a_list"
    RECOMMENDATIONS_TOO_MANY = "recommendations_too_many"
    RECOMMENDATION_UNTITLED = "recommendation_untitled"
    ANSWER_UNKNOWN = "answer_unknown"
    FIELDS_NO_OBJECT = "fields_no_object"
    FIELDS_UNKNOWN = "fields_unknown"
    FIELDS_REPEATED = "fields_repeated"
    FIELDS_MISSING = "fields_missing"

    # With a debater's answer.
    BACKS_UNCLEAR = "backs_unclear"
    CONFIDENCE_UNCLEAR = "confidence_unclear"

    # With a review's draft or objections.
    DRAFT_MISSING = "draft_missing"
    DRAFT_TOO_LONG = "draft_too_long"
    OBJECTIONS_TOO_MANY = "objections_too_many"
    SEVERITY_UNKNOWN = "severity_unknown"
    POINT_MISSING = "point_missing"
    CLOSED_UNKNOWN = "closed_unknown"
    NOTHING_TO_CLOSE = "nothing_to_close"
    VERDICT_UNKNOWN = "verdict_unknown"

    # With what the secretary, the gate and the arbiter are told.
    GROUPS_NOT_LISTS = "groups_not_lists"
    GROUP_NOT_OF_NUMBERS = "group_not_of_numbers"
    GROUPS_NO_PARTITION = "groups_no_partition"
    UNKNOWN_TO_GROUPS = "unknown_to_groups"
    IN_NO_GROUP = "in_no_group"
    IN_SEVERAL_GROUPS = "in_several_groups"
    SYNTHESIS_EMPTY = "synthesis_empty"
    COMPLETION_UNKNOWN = "completion_unknown"
    REVISION_UNEXPLAINED = "revision_unexplained"
    CHOICE_UNKNOWN = "choice_unknown"
    CHOICE_BARRED = "choice_barred"

    # Why there is no reply to read.
    NO_REPLY_IN_TIME = "no_reply_in_time"
    TIME_WAS_OVER = "time_was_over"
    NO_ROOM = "no_room"
    REPLY_EMPTY = "reply_empty"
    REPLY_TOO_LONG = "reply_too_long"
    ADAPTER_FAILED = "adapter_failed"
    AGENT_GONE = "agent_gone"


Arg: TypeAlias = Union[str, int, float, "Message", tuple["Arg", ...], None]
"""A text is quoted where it is told, a tuple is enumerated, and true, false and null are JSON's."""


@dataclass(frozen=True, slots=True)
class Message:
    code: Code
    args: Mapping[str, Arg]

    @classmethod
    def of(cls, code: Code, **args: Arg) -> Message:
        return cls(code, args)


class Unfit(Exception):
    """What does not fit in a reply, raised from the depth of reading it."""

    def __init__(self, code: Code, **args: Arg) -> None:
        super().__init__(code)
        self.message = Message(code, args)
