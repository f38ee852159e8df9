"""Static checks: functions that find one defect each, one file for each group of codes.

``base`` is the engine, ``registry`` lists every check. The groups are ``metadata`` (0xx), ``paper`` (1xx), ``docker``
(2xx), ``goal_files`` and ``masks`` (3xx), ``leaks`` (4xx), ``unit_tests`` (5xx),
``instruction`` (6xx) and ``hygiene`` (7xx and 8xx). They read a task through :mod:`lmr_author.proof.contents`.
"""
