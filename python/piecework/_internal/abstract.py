"""Abstract classes of `collections.abc`, from the module that every interpreter has loaded.

`collections.abc` itself imports `collections` and four modules more, which takes a sixth of the time of
`import piecework`. Modules that are imported at once import these names from here.
"""

from _collections_abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

__all__ = ["Callable", "Collection", "Iterable", "Iterator", "Mapping", "Sequence"]
