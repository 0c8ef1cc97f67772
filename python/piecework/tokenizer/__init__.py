"""The tokenizer, and what its calls take and return.

`tokenizer` has the class: load, train, encode, decode, save. `encoding` and `batch` are what encoding returns,
`decode_stream` decodes ids as they come, `sampling` draws segmentations. The functions of `lattice` and `stages`
take a tokenizer first: other segmentations and their scores, and the stages one by one.
"""

from piecework.tokenizer.tokenizer import Tokenizer

__all__ = ["Tokenizer"]
