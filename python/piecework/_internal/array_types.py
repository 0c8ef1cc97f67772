"""Types for annotations that name numpy; imported under `if TYPE_CHECKING:`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework._internal.types import ArrowArray, ArrowStream

Ids: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]

Texts: TypeAlias = (
    Sequence[str] | ArrowStream | ArrowArray | npt.NDArray[np.bytes_] | npt.NDArray[np.object_]
)
