r"""tiktoken's API on top of piecework: the same names, the same ids, the same kinds of errors.

Rank files are never downloaded. A rank file comes from a path, from the folder in the environment
variable PIECEWORK_TIKTOKEN_DIR, or from tiktoken's own cache folder: TIKTOKEN_CACHE_DIR,
DATA_GYM_CACHE_DIR, or `data-gym-cache` in the folder for temporary files. In the cache, a file is named
by the SHA-1 of its URL.

>>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"in": 256, b"ing": 257}
>>> enc = Encoding("tiny", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|end|>": 258})
>>> enc.encode("being")
[98, 101, 257]
"""

from __future__ import annotations

from piecework.compat.tiktoken import core as core
from piecework.compat.tiktoken import load as load
from piecework.compat.tiktoken import model as model
from piecework.compat.tiktoken import registry as registry
from piecework.compat.tiktoken.encoding import Encoding
from piecework.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from piecework.compat.tiktoken.registry import get_encoding, list_encoding_names

# The version of tiktoken whose names these are.
__version__ = "0.14.0"

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]
