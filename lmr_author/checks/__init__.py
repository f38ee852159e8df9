"""Static checks: one class each, with the examples that are its tests and its documentation.

``base`` says what a check is, ``registry`` has them all, and a module that holds some begins with their codes.
The other modules are what checks read with:

- a task: ``view`` (read once, never outside of its folder), ``listing``, ``scan``, ``lenient``, ``unwanted``,
  ``conforms`` (to a schema)
- what ``info.json`` means: ``info_entries``, ``lookup``, ``written_paths``, ``repository_folder``, ``pairing``
- a mask: ``masked_bodies``, ``bodies``, ``scopes``, ``outside``
- an image: ``dockerfile``, ``docker_paths``, ``dockerignore``, ``installs``, ``published``, ``own_requirements``
- a hand-written test: ``reading``, what it says (``messages``), what of it never starts (``unstarted``), and in it
    - what it reaches, opens and needs: ``follow``, ``path_texts``, ``file_uses``, ``opened``, ``json_keys``, ``needs``,
      ``needs_gpu``, ``reached``, ``other_class``
    - whether a failure is seen: ``outcome``, ``flow``, ``sites``, ``handlers``, ``runners``, ``verdicts``,
      ``printing``, ``idle``, ``hidden``, ``verdict_lists``, ``inverted``, ``threads``,
      ``failsafe``, ``folding``, ``managers``
    - what is compared with what: ``comparing``, ``sides``, ``assignments``, ``copies``, ``in_place``; how closely:
      ``shallow``, ``ordering``, ``tolerance``, ``unread``; with itself: ``round_trips``
- code of any kind: ``syntax``

``example_task`` and ``example_texts`` are the good task that examples change; ``describe`` puts checks into words.
"""
