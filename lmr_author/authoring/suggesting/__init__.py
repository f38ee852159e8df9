"""Stage: rank functions by how well the paper describes them and how good a task each makes."""

from lmr_author.authoring.suggesting.paper import PaperText
from lmr_author.authoring.suggesting.ranking import Suggestion, Suggestions, rank, suggest, suggest_repository
