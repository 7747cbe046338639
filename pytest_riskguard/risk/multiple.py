import math

import numpy as np
from scipy.special import ndtr


def expected_scores(scores):
    x = np.asarray(scores, float)
    S = x.sum(1)
    T = x.sum(0)
    N = x.sum()
    return np.outer(S, T) / N if N > 0 else np.zeros_like(x)


def z_scores(scores):
    x = np.asarray(scores, float)
    e = expected_scores(x)
    return np.where(e > 0, (x - e) / np.sqrt(np.where(e > 0, e, 1)), 0.0)


def topic_contributions(scores, *, alpha, kind="linear"):
    if kind == "smooth":
        x = np.asarray(scores, float)
        e = expected_scores(x)
        d = x - e
        s = ((1.38426 * d - 0.51659) * d + 0.11578) * d
        return np.where(e > 0, s / np.sqrt(np.where(e > 0, e, 1)), 0.0)
    z = z_scores(scores)
    return np.where(z < 0, (1 + alpha) * z, z)


def zrisk(scores, *, alpha, kind="linear"):
    return np.array([math.fsum(r) for r in topic_contributions(scores, alpha=alpha, kind=kind)])


def georisk(scores, *, alpha, kind="linear"):
    x = np.asarray(scores, float)
    return np.sqrt(x.mean(1) * ndtr(zrisk(x, alpha=alpha, kind=kind) / x.shape[1]))


def looks_like_percent(scores):
    return bool(np.any(np.asarray(scores) > 1))
