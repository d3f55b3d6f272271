"""What a rehearsing agent says, in each language: the words only, to be filled in.

The logic is in ``rehearsal_script``. A language is one ``Lines``; a sentence missing from it is
a type error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.meeting.meeting import Language


@dataclass(frozen=True, slots=True)
class Lines:
    """Templates by what they are for. Tuples of three are the three temperaments, in order:
    in favour, against at first, undecided at first.
    """

    participant: str
    no_role: str
    opening: tuple[str, str, str]
    still_against: str
    convinced: tuple[str, str, str]
    changed: tuple[str, str, str]
    option_motion: str
    topic_motion: str
    summary_head: str
    stances: Mapping[str, str]
    silent: str
    nothing_said: str
    agreed: str
    differ_none: str
    concern: str
    recommendation: str
    position: tuple[str, str, str]
    option_position: str
    reasoning: tuple[str, ...]
    proposal: tuple[str, str, str]
    concerns: tuple[str, str, str]
    agreements: str
    disagreements: tuple[str, str]
    refined: str
    backing_changed: str
    rationale: tuple[str, str, str]
    mitigation: str
    common_title: str
    own_titles: tuple[str, str, str]
    why: str
    yes_reasons: tuple[str, str]
    no_reasons: tuple[str, str]
    member_answer: tuple[str, str, str]
    complete: str
    draft: str
    draft_criterion: str
    draft_change: str
    objection: str
    resolves_when: str
    anything: str


ENGLISH = Lines(
    participant="Participant",
    no_role="a member of this table",
    opening=(
        (
            "Speaking for {role}, I would go ahead with “{motion}”. The step can be undone, and "
            "waiting costs us every week. What I ask for is one owner and a date to look at it "
            "again."
        ),
        (
            "Speaking for {role}, I cannot back “{motion}” as it stands. Nobody has said what we "
            "do if it goes wrong, nor who carries the extra work in the first weeks. Name a way "
            "back and a limit, and I will look at it again."
        ),
        (
            "Speaking for {role}, I see the point of “{motion}” but not yet the proof. A small "
            "trial with a measure that we fix beforehand would tell us more than another argument. "
            "Until then I take no side."
        ),
    ),
    still_against="Speaking for {role}: the trial answers half of my worry. “{motion}” still does "
    "not say how we get back if the measure is missed. Add that, and I have no objection left.",
    convinced=(
        (
            "Speaking for {role}, I stay with “{motion}”. It has become narrower since we began, "
            "and the better for it: an owner, a measure and a date are in it."
        ),
        (
            "Speaking for {role}, I can now back “{motion}”. The way back is written down, and the "
            "extra work has an end. What I feared is still possible, but it is no longer unlimited."
        ),
        (
            "Speaking for {role}, I agree with “{motion}”. It is small enough to try and it will "
            "be judged by something that we chose before we began."
        ),
    ),
    changed=(
        "the others' conditions made the proposal safer than it was.",
        "the way back that I asked for is now part of the proposal.",
        "the proposal is now a trial with a measure, which is what I was missing.",
    ),
    option_motion="Take “{option}” as the default, with one named owner, a measure that is fixed "
    "beforehand, and a review after one cycle at which it can be undone.",
    topic_motion="Try it in one place for one cycle, with one named owner, a measure that is "
    "fixed beforehand, and a review at which it can be undone ({topic})",
    summary_head="After round {round}:",
    stances={
        "AGREE": "in favour",
        "DISAGREE": "against",
        "NEUTRAL": "undecided",
        "UNKNOWN": "no clear stance",
    },
    silent="no reply",
    nothing_said="nothing was said",
    agreed="It should be tried on a small scale before it is made the rule.",
    differ_none="How long the trial must run before it counts.",
    concern="The extra work of the first weeks has to have an end.",
    recommendation="Begin within one cycle, write down the measure first, and hold the review "
    "even if all goes well.",
    position=(
        "We should move, in one small step that can be undone.",
        "We should keep what we have until the cost of changing it is known.",
        "We should try both on a small scale and let the result decide.",
    ),
    option_position="{option} is the right choice here.",
    reasoning=(
        "The step can be undone within one cycle.",
        "The cost of waiting is paid every week and seen by nobody.",
        "A measure fixed beforehand keeps the later argument short.",
    ),
    proposal=(
        "Start with one team for one cycle, with a named owner and a date for the review.",
        "Write down what the change would cost in the first year, then decide on that.",
        "Run both side by side on one piece of work and compare them by one measure.",
    ),
    concerns=(
        "The first weeks cost more than they bring.",
        "A change made in a hurry is seldom undone, even where it could be.",
        "A trial without a measure ends in opinions.",
    ),
    agreements="The call for a measure fixed beforehand, and for a way back.",
    disagreements=(
        (
            "I still weigh the cost of waiting differently; the strongest counter-argument is the "
            "work of the first weeks, and I answer it with a limit on it."
        ),
        (
            "Nothing that would change the decision; the strongest counter-argument, the work of "
            "the first weeks, is answered by a limit on it."
        ),
    ),
    refined="{proposal} The review may end it, and the extra work stops after one cycle.",
    backing_changed="their proposal answers the way back, which mine left open.",
    rationale=(
        "It can be begun with what we have and undone if it fails.",
        "It costs less in the first year, which is what we can know.",
        "It leaves most ways open until we know more.",
    ),
    mitigation="A review after one cycle, with the power to undo the choice.",
    common_title="Begin with a small trial and a measure fixed beforehand",
    own_titles=(
        "Name one owner who may stop it",
        "Write down the cost of the first year",
        "Ask those who will live with it",
    ),
    why="It is cheap, and whatever comes of it we know more than before.",
    yes_reasons=("It can be undone.", "Waiting has a cost too."),
    no_reasons=("The cost of the first year is unknown.", "Nobody owns the way back."),
    member_answer=(
        "Begin small: one place, one cycle, one owner, and a measure that is fixed beforehand.",
        "Count the cost of the first year before anything else, and name who pays it.",
        "Let those who will live with the result choose between two worked examples.",
    ),
    complete="It answers the question, and what is still open is named.",
    draft="{topic}\n\nWhat we propose: one step that can be undone, with one named owner, a "
    "measure that is fixed beforehand, and a review after one cycle.",
    draft_criterion="On “{text}”: this is covered, and the review checks it again.",
    draft_change="A sentence was added that meets the condition.",
    objection="The draft does not say how it deals with this passage.",
    resolves_when="the draft names this passage and what follows from it",
    anything="Speaking for {role}: begin with a small step that can be undone, name one owner, "
    "and fix beforehand what would count as success.",
)

JAPANESE = Lines(
    participant="参加者",
    no_role="この場の一員",
    opening=(
        (
            "{role}の立場から申し上げます。「{motion}」は進めてよいと考えます。"
            "やり直しが利く一歩であり、待つこと自体にも毎週の負担があります。"
            "担当者を一人決め、見直す日をあらかじめ置いてください。"
        ),
        (
            "{role}の立場から申し上げます。「{motion}」はこのままでは支持できません。"
            "うまくいかなかったときの戻り方も、最初の数週間に増える作業を誰が負うかも決まっていません。"
            "戻り方と上限が示されれば考え直します。"
        ),
        (
            "{role}の立場から申し上げます。"
            "「{motion}」の狙いは分かりますが、裏づけがまだ足りません。"
            "物差しを先に決めた小さな試行のほうが、議論を重ねるより多くを教えてくれます。"
            "今はどちらとも言いません。"
        ),
    ),
    still_against="{role}の立場から申し上げます。試行にすることで心配の半分は消えました。"
    "ただ「{motion}」には、物差しに届かなかったときの戻り方がまだ書かれていません。"
    "それが加われば異論はありません。",
    convinced=(
        (
            "{role}の立場から、引き続き「{motion}」に賛成します。"
            "始めたときより狭く、よい案になりました。担当者、物差し、期日がそろっています。"
        ),
        (
            "{role}の立場から、「{motion}」を支持できるようになりました。"
            "戻り方が明記され、増える作業にも終わりがあります。"
            "心配が消えたわけではありませんが、際限のないものではなくなりました。"
        ),
        "{role}の立場から、「{motion}」に賛成します。試せる大きさであり、始める前に選んだ物差しで判断できます。",
    ),
    changed=(
        "ほかの参加者の条件によって案が前より安全になったため。",
        "求めていた戻り方が案に入ったため。",
        "物差しのある試行になり、足りなかった裏づけが得られるため。",
    ),
    option_motion="「{option}」を基本とし、担当者を一人置き、物差しを先に決め、一巡したところで見直して取りやめもできるようにする。",
    topic_motion="一か所で一巡だけ試し、担当者を一人置き、物差しを先に決め、見直しの場で取りやめもできるようにする（{topic}）",
    summary_head="第{round}ラウンドまでの要点:",
    stances={
        "AGREE": "賛成",
        "DISAGREE": "反対",
        "NEUTRAL": "保留",
        "UNKNOWN": "立場不明",
    },
    silent="返答なし",
    nothing_said="発言なし",
    agreed="全体の決まりにする前に、小さく試すこと。",
    differ_none="試行をどれだけ続ければ十分とみなすか。",
    concern="最初の数週間に増える作業には終わりを決める必要がある。",
    recommendation="一巡のうちに始め、先に物差しを書き残し、順調でも見直しの場を必ず開く。",
    position=(
        "やり直しの利く小さな一歩から進めるべきである。",
        "変える費用が分かるまでは今のままがよい。",
        "両方を小さく試し、結果で決めるべきである。",
    ),
    option_position="ここでは{option}が適している。",
    reasoning=(
        "一巡のうちに元へ戻せる。",
        "待つ費用は毎週かかるのに、誰の目にも留まらない。",
        "物差しを先に決めておけば、あとの議論が短くなる。",
    ),
    proposal=(
        "一つのチームで一巡だけ始め、担当者と見直しの日を決める。",
        "変えた場合の初年度の費用を書き出し、それを見て決める。",
        "一つの仕事で両方を並べて動かし、一つの物差しで比べる。",
    ),
    concerns=(
        "最初の数週間は得るものより負担が大きい。",
        "急いで変えたものは、戻せるはずでも戻されないことが多い。",
        "物差しのない試行は、感想の言い合いで終わる。",
    ),
    agreements="物差しを先に決めること、戻り方を用意することは、そのとおりである。",
    disagreements=(
        "待つ費用の重さについては見方が違う。最も強い反論は最初の数週間の負担だが、上限を置くことで応えられる。",
        "結論を変えるほどの違いはない。最も強い反論である最初の数週間の負担には、上限を置くことで応えている。",
    ),
    refined="{proposal}見直しの場で取りやめることもでき、増える作業は一巡で終える。",
    backing_changed="自分の案に欠けていた戻り方が、その案には示されているため。",
    rationale=(
        "今あるもので始められ、失敗しても元に戻せる。",
        "初年度の費用が小さく、それは今の時点で分かる。",
        "もっと分かるまで、多くの道を残しておける。",
    ),
    mitigation="一巡したところで見直し、取りやめる権限を置く。",
    common_title="物差しを先に決めて小さく試す",
    own_titles=("止められる担当者を一人置く", "初年度の費用を書き出す", "影響を受ける人に尋ねる"),
    why="費用が小さく、結果がどうであれ前より多くのことが分かる。",
    yes_reasons=("元に戻せる。", "待つことにも費用がかかる。"),
    no_reasons=("初年度の費用が分からない。", "戻り方の担当が決まっていない。"),
    member_answer=(
        "小さく始める。一か所、一巡、担当者一人、そして先に決めた物差し。",
        "何よりも先に初年度の費用を数え、誰が負担するかを決める。",
        "影響を受ける人が、二つの具体例から選ぶ。",
    ),
    complete="問いに答えており、残る点も示されている。",
    draft="{topic}\n\n提案: やり直しの利く一歩とし、担当者を一人置き、物差しを先に決め、"
    "一巡したところで見直す。",
    draft_criterion="「{text}」について: 満たしており、見直しの場でもう一度確かめる。",
    draft_change="条件を満たす一文を加えた。",
    objection="この箇所をどう扱うかが草案に書かれていない。",
    resolves_when="この箇所と、そこから導かれることが草案に書かれたとき",
    anything="{role}の立場から申し上げます。やり直しの利く小さな一歩から始め、担当者を一人決め、"
    "何をもって成功とするかを先に定めてください。",
)

LINES: Mapping[Language, Lines] = {"en": ENGLISH, "ja": JAPANESE}
