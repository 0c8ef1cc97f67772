"""The learners: a new one is its file and its import here.

`piecework.train` exports the classes. Options, messages, tables and the tests of all learners come from
`LEARNERS`.
"""

from piecework.train.learners.learner import Learner as Learner
from piecework.train.learners.merges import Merges as Merges
from piecework.train.learners.pruning import Pruning as Pruning
from piecework.train.learners.top_down import TopDown as TopDown

LEARNERS: dict[str, type[Learner]] = {
    kind.name: kind
    for kind in sorted(Learner.__subclasses__(), key=lambda kind: (kind is not Pruning, kind.name))
}
"""The learners by name, the default one first."""
