"""Files that retrieval libraries and benchmarks write and read."""
