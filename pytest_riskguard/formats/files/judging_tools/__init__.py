"""Files of the tools in which people and models judge documents: Quepid, OpenSearch, Elasticsearch, RRE."""
