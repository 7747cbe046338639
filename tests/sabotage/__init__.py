"""Sabotage: a project with a planted regression, broken in hundreds of ways, must never be green.

A case is an entry of ``cases/AREA.yaml``: its name, what is broken, and the expected exit status and words.
``runner`` copies the project of ``project.py``, breaks it, runs it by up to three ways (the command
``riskguard compare runs/candidate.run --baseline prod``, ``pytest --riskguard``, the same with ``-n 2``), each in a
separate process, and looks for problems. For every case it is a problem if

- the exit status is not the expected one, worst of all if it is 0; or pytest reports a passed test (there are
  four gates in riskguard.yaml and one test with the fixture, and each fails when nothing is broken);
- one of the words is missing from what was printed, in which white space counts as one space;
- a traceback of riskguard's own, ``INTERNALERROR`` or ``internal error`` was printed;
- a file of the project, such as the store, was changed;
- the run took over 30 s (more if the machine is busy with other things) or over 1 GB of memory.

**To add a case**, write an entry into the file of your area::

    - name: qrels-truncated
      breaks: [{truncate: [qrels.txt, 0.5]}]
      words: [qrels.txt, expected 4 columns]

``status`` is the exit status expected of the command (default 3: incomparable); that of pytest is then 1, unless
``in_pytest`` says otherwise. Every case runs by the command, a quarter of them by pytest too; ``ways: PYTEST`` is for
what the command does not read, ``ways: EVERY`` for what is read in another way. ``command: baseline verify`` runs
another command, and the command only. ``status: 0, project: improved`` is honest use of a candidate that is better
than the baseline, which must be green. ``Case`` documents the rest, ``sabotages`` has the vocabulary; any function
that takes the project's folder is a sabotage, and a module ``cases/AREA.py`` has those that only one area needs.

**To try it**: ``RISKGUARD_SABOTAGE=AREA/NAME pytest -m nightly tests/sabotage`` runs the cases with such names, and
shows what was printed where something is wrong. CI runs a third of the cases by the command and a tenth of those by
pytest (``test_matrix.py``); each night and before a release all of them run.
"""
