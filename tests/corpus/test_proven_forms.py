"""The table of proven forms is what the corpus proves, and its verdicts are right there."""

from collections import defaultdict

import pytest

from kernel_magics.ir.forms import CALCULATIONS, MAKERS
from tests.corpus.make_proven_forms import TABLE, make_table, operations, programs, takes, verdicts

OTHERS = ("f32", "f64", "i32", "i1", "complex<f32>")


def test_the_table_in_the_package_is_what_the_programs_prove(corpus):
    assert make_table(corpus / "conformance") == TABLE.read_text()


def test_most_programs_that_give_their_values_are_safe(corpus):
    found = verdicts(corpus / "conformance", "pass")
    assert found["refuse"] == 0
    assert found["safe"] > 0.95 * found.total() > 850


@pytest.mark.parametrize(("kind", "verdict"), [("crash", "refuse"), ("other_platform", "unproven")])
def test_no_program_that_ends_the_process_is_safe(corpus, kind, verdict):
    assert set(verdicts(corpus / "conformance", kind)) == {verdict}


def test_no_op_whose_types_are_not_read_has_two_element_types(corpus):
    samples = defaultdict(list)
    for _, unit in programs(corpus / "conformance"):
        for operation in operations(unit.module.operation):
            if operation.name in CALCULATIONS and not samples[operation.name]:
                samples[operation.name] = [unit, operation]
    assert len(samples) == len(CALCULATIONS)
    for kind, (_, operation) in samples.items():
        element = str(operation.results[0].type.element_type)
        mixed = [takes(operation, e, only_first=True) for e in OTHERS if e != element]
        assert not any(mixed), kind
    assert MAKERS > CALCULATIONS
