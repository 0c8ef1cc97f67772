"""Settings of the process in sentencepiece that have no effect here."""

from __future__ import annotations


def set_min_log_level(level: int) -> None:
    """Accept the lowest level of messages to log; nothing is logged.

    >>> set_min_log_level(3)
    """


def set_nbest_timeout(milliseconds: int) -> None:
    """Accept the time after which `nbest_encode` returns fewer segmentations; it always returns all.

    >>> set_nbest_timeout(0)
    """


def set_data_dir(path: str) -> None:
    """Accept the folder of the normalization rules; these are part of the package.

    >>> set_data_dir("data")
    """


SetMinLogLevel = set_min_log_level
SetNBestTimeout = set_nbest_timeout
SetDataDir = set_data_dir
