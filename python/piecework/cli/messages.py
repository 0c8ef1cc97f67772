"""Translate messages of the library for the command line: argument names become flags."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping

import click

import piecework as pw

_VALUE = r"(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote)).)*)(?P=quote)|(?P<number>\d[\d.]*\b)"


def with_flags(error: pw.PieceworkError, parameters: Iterable[click.Parameter]) -> str:
    """Return the message of an error, with the flags of a command in place of argument names.

    >>> option = click.Option(["--vocab-size"])
    >>> with_flags(pw.errors.TrainingError("vocab_size", "6", "at least 15"), [option])
    '--vocab-size must be at least 15, not 6'

    The place of the error is replaced if it is an argument. In the rest of the message, `name=`,
    `name="value"` and names with underscores are replaced.
    """
    flags = flags_of(parameters)
    translated = copy.copy(error)
    place = error.place
    if isinstance(error, (pw.errors.ArgumentError, pw.errors.TrainingError)):
        place = _place(place, flags)
        if error.message.startswith((f"{error.place} ", f"{error.place}:")):
            translated.message = place + error.message[len(error.place) :]
    translated.place = in_flags(place, flags)
    translated.found = in_flags(error.found, flags)
    translated.expected = in_flags(error.expected, flags)
    translated.message = in_flags(translated.message, flags)
    return str(translated)


def flags_of(parameters: Iterable[click.Parameter]) -> dict[str, str]:
    """Return argument name -> what the user types: a flag, or the name of a positional argument."""
    flags = {}
    for parameter in parameters:
        if isinstance(parameter, click.Option):
            flag = max(parameter.opts, key=len)
            for name in (parameter.name, flag.lstrip("-").replace("-", "_")):
                flags[str(name)] = flag
        else:
            usage = re.search(r"[A-Z]+", parameter.human_readable_name)
            flags[str(parameter.name)] = usage.group() if usage else str(parameter.name).upper()
    return flags


def in_flags(text: str, flags: Mapping[str, str]) -> str:
    """Return a message with flags in place of argument names.

    >>> in_flags('expected encoding_name="cl100k_base", or merges=', {"encoding_name": "--encoding-name"})
    'expected --encoding-name cl100k_base, or merges='
    """

    def keyword(match: re.Match[str]) -> str:
        flag = flags.get(match["name"])
        if flag is None:
            return match[0]
        value = match["value"] or match["number"]
        return f"{flag} {value}" if value else flag

    def switch(match: re.Match[str]) -> str:
        flag = flags.get(match["name"])
        if flag is None or not flag.startswith("--"):
            return match[0]
        return flag if match["value"] == "True" else f"--no-{flag[2:]}"

    def word(match: re.Match[str]) -> str:
        return flags.get(match[0], match[0])

    text = re.sub(r"\b(?P<name>[a-z_]+)=(?P<value>True|False)\b", switch, text)
    text = re.sub(rf"\b(?P<name>[a-z_]+)=(?:{_VALUE}|(?![\w'\"<]))", keyword, text)
    text = re.sub(r"(?<![\w'\"/.\[<-])[a-z]+(?:_[a-z]+)+(?![\w'\"/.\]>=-])", word, text)
    return re.sub(r"(?<![\w'\"])None(?= for |: )", "nothing", text)


def _place(place: str, flags: Mapping[str, str]) -> str:
    match = re.match(r"[A-Za-z_]+(?=\W|$)", place)
    if match is None or match[0] not in flags:
        return place
    return flags[match[0]] + place[match.end() :]
