"""Plain LambdaMART against LightGBM's own lambdarank, and the objectives inside LightGBM."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_riskguard.errors import UsageError
from pytest_riskguard.ltr import TFARO, TSARO, UCRO, GeoRisk, JudgedQueries, LambdaMART, QueryBaselines
from pytest_riskguard.risk import SMOOTH

pytest.importorskip("numba")
lightgbm = pytest.importorskip("lightgbm")

Array = npt.NDArray[np.float64]
#: One tree of two leaves, whose values are a sum of gradients over a sum of hessians.
STUMP = {"objective": "lambdarank", "num_leaves": 2, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0}
QUIET = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
#: A document's row is repeated, since LightGBM estimates the number of rows of a leaf from its hessian.
COPIES = 50


def lightgbms_gradients(labels: Array, scores: Array, group: list[int], **options: Any) -> tuple[Array, Array]:
    """Gradient and hessian of lambdarank: of each document by the leaf of a tree that splits it off.

    The leaf is -g / (h + lambda_l2), so two values of lambda_l2 give both.
    """
    found = np.zeros((2, labels.size))
    for row in range(labels.size):
        one = np.zeros((labels.size, 1))
        one[row] = 1
        leaves = []
        for penalty in (0.0, 1.0):
            data = lightgbm.Dataset(
                np.tile(one, (COPIES, 1)),
                np.tile(labels, COPIES),
                group=group * COPIES,
                init_score=np.tile(scores, COPIES),
                params={"min_data_in_bin": 1, "feature_pre_filter": False, **QUIET},
            )
            params = {**STUMP, **QUIET, "learning_rate": 1.0, "lambda_l2": penalty, **options}
            booster = lightgbm.Booster(params, data)
            booster.update()
            tree = booster.dump_model()["tree_info"][0]["tree_structure"]
            leaves.append(tree["right_child"]["leaf_value"] if "right_child" in tree else 0.0)
        if leaves[0] != 0:
            hessian = leaves[1] / (leaves[0] - leaves[1])
            found[:, row] = -leaves[0] * hessian / COPIES, hessian / COPIES
    return found[0], found[1]


@pytest.mark.slow
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("sigmoid", [1.0, 2.0])
@pytest.mark.parametrize("equal", [True, False])
def test_lambdamart_has_the_gradients_of_lightgbm(norm, sigmoid, equal):
    rng = np.random.default_rng(7)
    group = [9, 1, 5]
    labels = rng.integers(0, 5, sum(group)).astype(float)
    # LightGBM looks its sigmoid up in a table of 2^20 steps from -25 to 25, which is exact at multiples of a step.
    scores = np.zeros(labels.size) if equal else rng.integers(-3, 4, labels.size) * 25 / 128
    options = {"lambdarank_truncation_level": 4, "lambdarank_norm": norm, "sigmoid": sigmoid}
    theirs = lightgbms_gradients(labels, scores, group, **options)
    ours = LambdaMART(truncation_level=4, norm=norm, sigmoid=sigmoid).gradients(labels, scores, group)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)
    assert np.abs(ours[0]).max() > 0.1


def queries(seed: int, count: int = 60) -> tuple[Array, Array, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(5, 30, count)
    features = rng.normal(size=(group.sum(), 6))
    signal = features @ [1.0, 0.7, 0.3, 0, 0, 0] + np.maximum(features[:, 3], 0) * features[:, 0]
    labels = np.digitize(signal + rng.normal(size=group.sum()), [0.5, 1.2, 2, 3]).astype(float)
    return features, labels, group


def every_objective(labels: Array, group: Any, features: Array) -> list[Any]:
    data = JudgedQueries(labels, group)
    one = QueryBaselines.from_document_scores(data, {"bm25": features[:, 0]})
    several = QueryBaselines.from_document_scores(data, {"bm25": features[:, 0], "other": features[:, 1]})
    return [
        LambdaMART(),
        UCRO(one, 2),
        TSARO(one, 2),
        TFARO(several.mean(), 2),
        GeoRisk(several, 2),
        UCRO(one, tradeoff=SMOOTH),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(6))
def test_one_objective_serves_train_and_ranker(place):
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    features, labels, group = queries(0)
    objective = every_objective(labels, group, features)[place]
    weight = np.repeat(np.linspace(0.5, 2, group.size), group)
    params = {"num_leaves": 7, "learning_rate": 0.1, "min_child_samples": 20, **QUIET}
    for weights in (None, weight):
        data = lightgbm.Dataset(features, labels, group=group, weight=weights)
        booster = lightgbm.train({"objective": objective, **params}, data, 10)
        ranker = lightgbm.LGBMRanker(objective=objective, n_estimators=10, **params)
        for fitted in (ranker, clone(ranker)):
            fitted.fit(features, labels, group=group, sample_weight=weights)
            np.testing.assert_array_equal(fitted.predict(features), booster.predict(features))
    unweighted = lightgbm.train(
        {"objective": objective, **params}, lightgbm.Dataset(features, labels, group=group), 10
    )
    assert np.abs(unweighted.predict(features) - booster.predict(features)).max() > 1e-3


def test_folds_are_refused():
    features, labels, group = queries(3)
    data = lightgbm.Dataset(features, labels, group=group, params=QUIET)
    with pytest.raises(UsageError, match=r"instead of lightgbm\.cv, train on each fold separately"):
        lightgbm.cv({"objective": LambdaMART(), "metric": "None", **QUIET}, data, 2, nfold=3)


def test_data_without_groups_are_refused():
    features, labels, _ = queries(3)
    with pytest.raises(UsageError, match="the data have no groups: give group="):
        lightgbm.train({"objective": LambdaMART(), **QUIET}, lightgbm.Dataset(features, labels), 1)


def test_weights_of_rows_multiply_gradients_as_lightgbm_does():
    features, labels, group = queries(1)
    weight = np.repeat(np.linspace(0.5, 2, group.size), group)
    params = {"num_leaves": 15, "lambdarank_truncation_level": 10, **QUIET}
    found = []
    for objective in ("lambdarank", LambdaMART(truncation_level=10)):
        data = lightgbm.Dataset(features, labels, group=group, weight=weight)
        found.append(lightgbm.train({**params, "objective": objective}, data, 1).predict(features))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
