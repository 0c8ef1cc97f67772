"""The table of learners: a new one is an import and a place in `LEARNERS`.

`piecework.train` exports the classes. Options, messages, tables and the tests of all learners come from
`LEARNERS`.
"""

from piecework.train.learners.learner import Learner as Learner
from piecework.train.learners.merges import Merges as Merges
from piecework.train.learners.pruning import Pruning as Pruning
from piecework.train.learners.top_down import TopDown as TopDown

LEARNERS: dict[str, type[Learner]] = {
    learner.name: learner for learner in (Pruning, Merges, TopDown)
}
"""The learners by name, the default one first."""
