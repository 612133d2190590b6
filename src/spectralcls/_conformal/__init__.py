"""What is left out tells what to expect: ranks and sets of classes, residuals with their sizes, intervals, quantiles.

A unit is what is left out at a time: a sample, or all samples of a group.
"""

from .choice import FEW, chosen_by_others
from .residuals import Residuals
