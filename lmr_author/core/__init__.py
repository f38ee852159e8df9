"""What all of it is made of: the task's folder and records, Python source, papers, repositories, files and programs.

Nothing here knows a verb of lmr-author, and nothing here starts code of a repository.
"""
