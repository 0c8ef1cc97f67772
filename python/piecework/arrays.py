"""numpy, imported when an array is first made: to load a tokenizer and encode a text needs none."""

from __future__ import annotations

TYPE_CHECKING = False  # importing it takes longer than all that is imported here
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
else:

    class _Numpy:
        """Stands for the module until something of it is asked for; keeps what was."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["np"]
