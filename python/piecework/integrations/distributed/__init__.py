"""Count and encode on clusters; each engine has a file of its own over the same functions.

`ray` and `spark` have `count_files`, which returns the `Counts` of `piecework.count_files`, and functions for
data sets of the engine. `engines` has what they share: it checks, divides the files and adds up. The engine
distributes tasks, stores their results and repeats failed ones; `tasks` has what workers run, over
`count_files`, `encode_files` and functions on Arrow batches.

>>> import pyarrow as pa
>>> import piecework as pw
>>> from piecework.integrations.distributed import count_batch, counts_of_table, merge_counts
>>> batches = [pa.table({"text": ["hug pug"]}), pa.table({"text": ["hug"]})]
>>> tables = [count_batch(batch, "text", preset="bert-uncased") for batch in batches]
>>> counts_of_table(merge_counts(tables)).most_common()
[('hug', 2), ('pug', 1)]

Each engine is an extra: `piecework[ray]`, `piecework[spark]`.
"""

from piecework.integrations.distributed.arrow_counts import (
    count_batch,
    counts_of_table,
    counts_table,
    merge_counts,
)
from piecework.integrations.distributed.tasks import encode_batch_column

__all__ = [
    "count_batch",
    "counts_of_table",
    "counts_table",
    "encode_batch_column",
    "merge_counts",
]
