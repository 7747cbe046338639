"""What the pages on published figures show is what the tests and the study compute."""

import csv
import re

import pytest

from tests.house import CHECKOUT
from tests.published import interval_tables, pools
from tests.published.tables import FOLDER

ERRATA = (CHECKOUT / "docs/explanation/errata.md").read_text(encoding="utf-8")
REPRODUCTION = (CHECKOUT / "docs/reproduction.md").read_text(encoding="utf-8")


#: Which tests hold each erratum of the page.
ERRATA_TESTS = {
    "TJ_i, Eq. 22 and 23": [
        "test_equation_23_as_printed_is_reversed_and_root_n_too_large",
        "test_section_5_2_names_the_topics_that_stand_out",
    ],
    "SARO's alpha', section 6.3": ["test_alpha_prime_on_losses_is_from_half_of_alpha_to_alpha"],
    "Tables 1 and 2, DFalah121A and irra12c": [
        "test_two_runs_were_scored_from_other_files",
        "test_table_2_cells_of_two_runs_are_of_other_scores",
        "test_the_public_dfalah121a_is_the_one_of_this_paper_and_not_of_sigir_2014",
    ],
    "Table 3": [
        "test_table_3_mean_cells_of_two_runs_are_exchanged",
        "test_table_3_median_cells_of_two_runs_are_exchanged",
    ],
    "Friedman's test of Table 2": [
        "test_table_2s_p_is_that_of_a_common_order_with_each_baselines_own_zero",
        "test_without_the_zeros_baselines_agree_far_more",
    ],
    "Section 2.4, the principal components": [
        "test_the_nine_runs_are_meant_not_the_eight_of_the_text_and_nothing_is_centred"
    ],
    "Section 4: under MEAN and MEDIAN": ["test_order_under_mean_is_nearly_and_not_quite_that_of_effectiveness"],
    "Table 6, ZRisk": [
        "test_table_6_zrisk_is_of_other_scores",
        "test_table_6_trisk_of_four_runs_is_of_other_scores",
        "test_table_6_georisk_follows_from_its_mean_and_zrisk",
    ],
    "Section 5, p = 0.7592": ["test_paired_tests_of_section_5_on_the_public_scores"],
    "Section 6, consistency": ["test_an_improving_swap_may_lower_georisk"],
    "BCa, the sentences around Eq. 7": [
        "test_the_levels_of_equation_7_belong_into_equation_5",
        "test_on_skewed_scores_equation_3_is_off_by_most_of_a_standard_error",
    ],
    "The discriminant of s'(x)": ["test_a_trade_off_that_falls_anywhere_is_told_from_one_that_does_not"],
    "The fences": [
        "test_the_points_of_the_smooth_function_are_the_fences_of_figure_1",
        "test_a_fit_to_the_fences_of_the_paper_has_its_coefficients",
    ],
    "The collection": [
        "test_table_2_comes_out_to_the_printed_digit",
        "test_zrisk_minus_of_table_2_comes_out_to_the_printed_digit",
    ],
    "GeoRisk-, Eq. 8 and Table 2": [
        "test_georisk_minus_as_printed_counts_more_risk_as_safer",
        "test_georisk_minus_of_dfalah121a",
        "test_system_risk_ordering_of_airs_2019",
    ],
    "rmit-ir/trisk": ["test_rmit_ir_trisk_divides_by_n"],
    "gdeval": ["test_without_c_gdeval_rewards_a_run_that_leaves_out_its_worst_topic"],
    "R's boot": ["test_r_counts_none_of_the_replicates_equal_to_the_mean"],
}


def shown(name: str) -> str:
    """The file behind a table that the page on reproduction shows."""
    assert f"```{{data}} reproduction/{name}\n" in REPRODUCTION
    return (FOLDER / f"{name}.csv").read_text(encoding="utf-8")


def test_the_tables_of_the_study_are_what_it_prints(shared):
    for name, table in interval_tables.tables(shared).items():
        assert shown(name) == table


@pytest.mark.parametrize("name", ["reference-baselines", "multiple-baselines", "minus-convention"])
def test_the_tables_of_pools_are_what_is_computed(shared, name):
    assert shown(name) == pools.tables(shared)[name]


def test_what_is_said_below_the_tables_is_in_them():
    risky = {}
    for r, level, method, count, *_ in csv.reader(shown("study-intervals").splitlines()[1:]):
        risky[r, level, method] = int(count)
    for r in ("1", "10"):
        for level in ("95%", "99.9%"):
            t, basic, studentized, percentile, bca = (risky[r, level, method] for method in interval_tables.METHODS)
            assert basic <= t <= percentile <= bca
            assert t <= studentized <= bca
    assert "Student-t calls 3 of 48 runs risky, basic 0, percentile 25, BCa 37, and studentized" in " ".join(
        REPRODUCTION.split()
    )
    assert [risky["10", "99.9%", method] for method in interval_tables.METHODS] == [3, 0, 24, 25, 37]


def test_every_erratum_is_held_by_a_test_that_is_there():
    there = {
        name
        for file in (CHECKOUT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert re.findall(r"^\*\*(.+?)\*\*", ERRATA, re.MULTILINE) == [*ERRATA_TESTS]
    assert all(tests and {*tests} <= there for tests in ERRATA_TESTS.values())
