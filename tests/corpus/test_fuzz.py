"""Changed programs through `%%hlo` in a real shell: it lives, answers, and keeps its session."""

from tests.fuzz import outcomes

SEED, COUNT = 1, 500


def test_changed_programs_do_no_harm(corpus):
    found = list(outcomes(corpus, SEED, range(COUNT)))
    assert [outcome for outcome in found if outcome.is_fault] == []
    assert len(found) == COUNT
    # Else nothing got past the parser.
    assert sum(outcome.what == "ok" for outcome in found) > COUNT // 20
