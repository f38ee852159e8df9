"""Code that runs in a task's environment: recorder, replayer, codec, comparison.

Python 3.7 and newer, standard library only; numpy, torch and pandas are used where the process has
them already or the data need them. Modules import one another relatively, so the folder works under
any package name: ``lmr_author.probe`` on the host, ``lmr_probe`` inside an environment, also when it
is run by its path (``python FOLDER record …``, see ``__main__``).
"""
