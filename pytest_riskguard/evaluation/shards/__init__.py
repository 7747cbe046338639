"""Runs scored piece by piece, in several processes or on several machines, and put together to the same result."""
