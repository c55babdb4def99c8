"""Language models as judges: one client, one cache and one budget per endpoint, and four ways to ask."""

from .grading import judge
from .pairwise import pairwise
from .ranking import ranking
from .rubric import rubric

__all__ = ["judge", "pairwise", "ranking", "rubric"]
