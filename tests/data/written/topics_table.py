"""Topics as a table with tabs."""

from tests.data.world import Case

CASES = (Case("tsv", "topics", "queries.tsv", lambda world: world.topics),)
