"""Static checks: functions that state a plain fact about a task, one file for each group of codes.

``base`` is the engine, ``registry`` lists every check. The groups are ``metadata`` (0xx), ``paper`` (1xx), ``docker``
(2xx), ``masks`` (3xx), ``leaks`` (4xx), ``unit_test`` (5xx), ``instruction`` (6xx), ``hygiene`` (7xx) and ``records``
(8xx). They read a task through ``view``; ``lookup`` and ``pairing`` find what info.json means.
"""
