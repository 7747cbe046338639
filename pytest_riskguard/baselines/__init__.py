"""The store of baselines on disk: runs that a team trusts, with the scores they had when they were stored.

Importing this package loads nothing; import ``Store`` from ``pytest_riskguard.baselines.store``.
"""
