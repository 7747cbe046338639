"""Coverage-guided fuzzing of every reader: ``python -m tests.fuzz READER --seconds 600`` (dependency group ``fuzz``).

``targets`` has a function for each reader that takes bytes, ``seeds`` the files that the search begins with. The
tests replay the seeds, with some of their bytes changed, without atheris.
"""
