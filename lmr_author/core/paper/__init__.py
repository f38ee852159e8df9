"""The paper: found and fetched (arXiv id, URL, PDF file), its text extracted, its pages drawn."""

from lmr_author.core.paper.extract import PageImage, Paper, extract, images, stated_years
from lmr_author.core.paper.fetch import FetchedPaper, fetch
