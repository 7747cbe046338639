"""Tables of Apache Arrow: its own files and Parquet."""
