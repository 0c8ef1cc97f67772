"""The pipeline of a backend tokenizer: compiled by piecework; components of `tokenizers` on request.

A pipeline is in one of two states. *Compiled*: a `Tokenizer` of this library encodes. *Original*: an object
of `tokenizers` encodes, because nothing has asked for a compiled one yet or because it cannot be compiled.
Components that were handed out can be changed in place, so each call compares them with their earlier state.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import tokenizers

import piecework as pw
from piecework import Tokenizer
from piecework.spec import AddedToken

STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
# Attributes of models that can be set. Their vocabulary cannot.
_MODEL_SETTINGS = (
    *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk"),
    *("byte_fallback", "ignore_merges", "max_input_chars_per_word"),
)


class Pipeline:
    """The stages and the model of a backend tokenizer, without truncation and padding."""

    def __init__(
        self, compiled: Tokenizer | None = None, original: tokenizers.Tokenizer | None = None
    ) -> None:
        self._compiled = compiled
        self._original = original
        # Why the original cannot be compiled; None if that is not known.
        self._refusal: str | None = None
        # The stages as components, in the compiled state; with the model if it was asked for.
        self._components: tokenizers.Tokenizer | None = None
        self._has_model = False
        self._is_stale = False
        # Components that were handed out, with their state at that time.
        self._watched: dict[str, tuple[Any, object]] = {}

    # ---- states

    def compiled(self) -> Tokenizer | None:
        """Return the compiled tokenizer, None if the pipeline cannot be compiled."""
        self._take_in_changes()
        if self._compiled is None and self._refusal is None:
            self._compile()
        return self._compiled

    @property
    def refusal(self) -> str | None:
        """Why the pipeline cannot be compiled; None if it is compiled."""
        self.compiled()
        return self._refusal

    def uncompiled(self) -> tokenizers.Tokenizer | None:
        """Return the object of `tokenizers` in the original state, None in the compiled state."""
        self._take_in_changes()
        return self._original

    def original(self) -> tokenizers.Tokenizer:
        """Return the pipeline as an object of `tokenizers`, which is built on first use."""
        self._take_in_changes()
        return self._original if self._original is not None else self._with_model()

    def replace_original(self, original: tokenizers.Tokenizer) -> None:
        """Take over an object of `tokenizers` that has changed."""
        self.__init__(original=original)  # type: ignore[misc]

    def replace_compiled(self, compiled: Tokenizer) -> None:
        """Take over a tokenizer that was derived from the compiled one."""
        self.__init__(compiled)  # type: ignore[misc]

    def shared(self) -> Pipeline:
        """Return a pipeline that changes apart from this one; compiled tables are shared."""
        compiled = self.compiled()
        if compiled is not None:
            return Pipeline(compiled)
        return Pipeline(original=deepcopy(self._original))

    def _compile(self) -> None:
        original = self._original
        assert original is not None
        try:
            text = json.loads(original.to_str())
            text["truncation"] = text["padding"] = None
            compiled = Tokenizer.from_str(json.dumps(text))
        except Exception as error:  # custom components of `tokenizers` raise Exception itself
            self._refusal = str(error)
            return
        self.replace_compiled(compiled)

    # ---- components

    def component(self, name: str) -> Any:
        """Return a stage or the model as a component of `tokenizers`; changes of it are noticed."""
        self._take_in_changes()
        holder = self._original
        if holder is None:
            holder = self._with_model() if name == "model" else self._with_stages()
        component = getattr(holder, name)
        if self._compiled is not None and component is not None:
            self._watched[name] = (component, _state(name, component))
        return component

    def set_component(self, name: str, component: Any) -> None:
        """Replace a stage or the model by a component of `tokenizers`."""
        self._take_in_changes()
        if self._original is not None:
            setattr(self._original, name, component)
            self._refusal = None
        elif name == "model":
            holder = self._with_model()
            holder.model = component
            self.replace_original(holder)
        else:
            setattr(self._with_stages(), name, component)
            self._watched.pop(name, None)
            self._is_stale = True

    def _with_stages(self) -> tokenizers.Tokenizer:
        if self._components is None:
            assert self._compiled is not None
            try:
                stages = pw.tokenizer.stages.stages_of(self._compiled)
                self._components = tokenizers.Tokenizer.from_str(pw.spec.portable_json(stages))
            except Exception:  # a stage that only the whole pipeline can express there
                return self._with_model()
        return self._components

    def _with_model(self) -> tokenizers.Tokenizer:
        if not self._has_model:
            assert self._compiled is not None
            whole = tokenizers.Tokenizer.from_str(self._compiled.to_str())
            if self._components is not None:
                _copy_stages(self._components, whole)
            self._components, self._has_model = whole, True
        assert self._components is not None
        return self._components

    # ---- changes

    def _take_in_changes(self) -> None:
        for name, (component, before) in list(self._watched.items()):
            state = _state(name, component)
            if state != before:
                if name == "model":
                    self.replace_original(self._with_model())
                    return
                self._is_stale = True
                self._watched[name] = component, state
            # A sequence shares its items with whoever asked for one, so it is watched on.
            elif not hasattr(component, "__getitem__") and _is_held_here_only(component):
                del self._watched[name]
        if self._is_stale:
            self._is_stale = False
            self._restage()

    def _restage(self) -> None:
        compiled, components = self._compiled, self._components
        assert compiled is not None
        assert components is not None
        try:
            stages = json.loads(components.to_str())
            compiled = pw.tokenizer.stages.with_stages(
                compiled, {name: stages[name] for name in STAGES}
            )
        except Exception:  # custom components of `tokenizers` raise Exception itself
            self.replace_original(self._with_model())
            return
        self._compiled = compiled


def _copy_stages(source: tokenizers.Tokenizer, target: tokenizers.Tokenizer) -> None:
    for name in STAGES:
        setattr(target, name, getattr(source, name))


def _state(name: str, component: Any) -> object:
    """Return what changes when a component is changed in place."""
    if name == "model":
        return tuple(getattr(component, setting, None) for setting in _MODEL_SETTINGS)
    try:
        state: object = component.__getstate__()
    except Exception:  # a custom component has no state to compare
        return None
    return state


def _is_held_here_only(component: Any) -> bool:
    # The references: the tuple of `_watched`, the loop, this argument and the argument of getrefcount.
    return sys.getrefcount(component) <= 4


# ---- added tokens of `tokenizers` and of this library, one turned into the other


_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def added_token(token: AddedToken) -> tokenizers.AddedToken:
    """Return the added token of `tokenizers` that equals one of a specification."""
    flags = {name: getattr(token, name) for name in _FLAGS}
    return tokenizers.AddedToken(token.content, **flags)


def with_new_tokens(
    tokenizer: Tokenizer, tokens: Sequence[str | tokenizers.AddedToken], *, is_special: bool
) -> tuple[Tokenizer, int]:
    """Return a tokenizer with further added tokens, and how many of them are new or changed.

    Empty tokens and those that are added already are skipped, as in `tokenizers`.
    """
    present = {token.content: token for token in tokenizer.added_tokens}
    changed: dict[str, AddedToken] = {}
    count = 0
    for given in tokens:
        token = _specified(given, is_special=is_special)
        known = changed.get(token.content) or present.get(token.content)
        if token.content and (known is None or _flags(known) != _flags(token)):
            # The content goes to the end, as the last one added.
            changed.pop(token.content, None)
            changed[token.content] = token
            count += 1
    return (tokenizer.with_added_tokens(list(changed.values())) if changed else tokenizer), count


def _specified(token: str | tokenizers.AddedToken, *, is_special: bool) -> AddedToken:
    if isinstance(token, str):
        return AddedToken(token, normalized=not is_special, special=is_special)
    flags = {name: getattr(token, name) for name in _FLAGS}
    return AddedToken(token.content, **{**flags, "special": is_special or flags["special"]})


def _flags(token: AddedToken) -> tuple[bool, ...]:
    return tuple(getattr(token, name) for name in _FLAGS)
