"""The part of `Tokenizer` that gives variants: other added tokens or stages, other lengths and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from piecework._core import Core
from piecework._internal.lazy import hints, pw, typing
from piecework._internal.validation import check_bytes, check_choice, check_size, check_stage
from piecework.errors import ArgumentError, InputTypeError

TYPE_CHECKING = False


class Adaptable:
    """The part of `Tokenizer` that gives variants of it; the others give what is changed."""

    if TYPE_CHECKING:
        _core: Core
        _functions: tuple[Callable[[str], typing.Any], ...]
        _special_in_text: pw.spec.SpecialInText

        @property
        def spec(self) -> pw.TokenizerSpec:  # noqa: D102
            ...

        @property
        def added_tokens(self) -> tuple[pw.spec.AddedToken, ...]:  # noqa: D102
            ...

        def get_vocab(self) -> dict[str, int]:  # noqa: D102
            ...

        def token_to_id(self, token: str) -> int | None:  # noqa: D102
            ...

        def _derived(self, spec: pw.TokenizerSpec) -> hints.Self: ...

        @classmethod
        def _of(
            cls,
            core: Core,
            special_in_text: pw.spec.SpecialInText,
            functions: Sequence[Callable[[str], typing.Any]],
        ) -> hints.Self: ...

    def with_added_tokens(
        self, tokens: Sequence[str | pw.spec.AddedToken], *, special: bool = False
    ) -> hints.Self:
        """Return a tokenizer that also finds these tokens whole in the text.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.with_added_tokens(["<name>"], special=True).encode("to<name>").ids == [
        ...     tok.token_to_id("to"), tok.get_vocab_size()
        ... ]
        True

        A token that is in the vocabulary keeps its id; a new one gets the next id. A string becomes
        a special token, or an ordinary one that is sought in normalized text. An `AddedToken` gives
        every detail but the id.
        """
        from dataclasses import replace

        from piecework.spec import AddedToken

        added = {token.content: token for token in self.added_tokens}
        next_id = max([*self.get_vocab().values(), -1]) + 1
        for given in tokens:
            token = given
            if isinstance(given, str):
                token = AddedToken(given, special=special, normalized=not special)
            if not isinstance(token, AddedToken):
                raise InputTypeError("tokens", type(token).__name__, "str or AddedToken")
            id = added[token.content].id if token.content in added else None
            if id is None:
                id = self.token_to_id(token.content)
            if id is None:
                id, next_id = next_id, next_id + 1
            added[token.content] = replace(token, id=id)
        return self._replaced(added_tokens=tuple(added.values()))

    def without_added_tokens(self, contents: Collection[str]) -> hints.Self:
        """Return a tokenizer that no longer finds these tokens whole in the text.

        Entries of the vocabulary stay there. Raises `ArgumentError` for what was not added.
        """
        names = [token.content for token in self.added_tokens]
        for content in contents:
            if content not in names:
                raise ArgumentError("contents", repr(content), "added tokens")
        kept = tuple(token for token in self.added_tokens if token.content not in contents)
        return self._replaced(added_tokens=kept)

    def with_normalizer(self, normalizer: pw.spec.Normalizer | None) -> hints.Self:
        """Return a tokenizer with another normalizer; None leaves text as it is.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.with_normalizer(pw.spec.CustomNormalizer(str.lower)).encode("A").ids
        [1]
        """
        from piecework.spec import Normalizer

        check_stage("normalizer", normalizer, Normalizer)
        return self._replaced(normalizer=normalizer)

    def with_pre_tokenizer(self, pre_tokenizer: pw.spec.PreTokenizer | None) -> hints.Self:
        """Return a tokenizer with another pre-tokenizer; None leaves text whole."""
        from piecework.spec import PreTokenizer

        check_stage("pre_tokenizer", pre_tokenizer, PreTokenizer)
        return self._replaced(pre_tokenizer=pre_tokenizer)

    def with_extras(self, *, bos: bool = False, eos: bool = False) -> hints.Self:
        """Return a SentencePiece tokenizer that puts its pieces of these roles around every text.

        >>> import piecework as pw
        >>> pieces = (("<unk>", 0.0, "unknown"), ("</s>", 0.0, "control"), ("▁", -1.0, "normal"))
        >>> model = pw.spec.SentencePiece(tuple(pw.spec.ScoredPiece(*piece) for piece in pieces))
        >>> tok = pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer())
        >>> tok.with_extras(eos=True).encode("x").ids
        [2, 0, 1]

        `add_special_tokens=False` leaves them out. A pair is two texts with theirs. Raises
        `ArgumentError` for a piece that the model does not have, and for other models.
        """
        from piecework.vocabulary import extras

        return self._replaced(post_processor=extras(self.spec.model, bos=bos, eos=eos))

    def with_truncation(
        self,
        max_length: int | None,
        *,
        stride: int = 0,
        strategy: typing.Literal["longest_first", "only_first", "only_second"] = "longest_first",
        direction: typing.Literal["right", "left"] = "right",
    ) -> hints.Self:
        """Return a tokenizer that cuts encodings to `max_length` tokens; None cuts nothing.

        `encode` gives the further windows as `overflowing`, each with `stride` tokens of the window
        before it. `encode_batch` drops them, unless `overflow=True` makes rows of them.
        """
        from piecework.spec import Truncation

        if max_length is None:
            return self._replaced(truncation=None)
        check_size("max_length", max_length)
        check_size("stride", stride)
        check_choice("strategy", strategy, ("longest_first", "only_first", "only_second"))
        check_choice("direction", direction, ("right", "left"))
        return self._replaced(truncation=Truncation(max_length, stride, strategy, direction))

    def with_padding(
        self,
        length: int | typing.Literal["longest"] | None = "longest",
        *,
        direction: typing.Literal["right", "left"] = "right",
        pad_to_multiple_of: int | None = None,
        pad_token: str = "[PAD]",
        pad_type_id: int = 0,
    ) -> hints.Self:
        """Return a tokenizer that fills encodings with `pad_token`; None fills nothing.

        `length` is a number of tokens, or "longest" for the longest of each batch.
        """
        from piecework.spec import Padding

        if length is None:
            return self._replaced(padding=None)
        if length != "longest":
            check_size("length", length)
        if pad_to_multiple_of is not None:
            check_size("pad_to_multiple_of", pad_to_multiple_of)
        check_choice("direction", direction, ("right", "left"))
        pad_id = self.token_to_id(pad_token)
        if pad_id is None:
            raise ArgumentError("pad_token", repr(pad_token), "a token of the vocabulary")
        padding = Padding(
            length=None if length == "longest" else length,
            direction=direction,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
            pad_token=pad_token,
            pad_to_multiple_of=pad_to_multiple_of,
        )
        return self._replaced(padding=padding)

    def with_special_in_text(self, treatment: pw.spec.SpecialInText) -> hints.Self:
        """Return a tokenizer that by default parses, takes as text or refuses special tokens in text.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=20)
        >>> tok.with_special_in_text("text").count("[SEP]", add_special_tokens=False)
        3
        """
        return self._of(self._core, checked_special_in_text(treatment), self._functions)

    def with_word_cache_budget(self, bytes_per_thread: int) -> hints.Self:
        """Return a tokenizer whose caches take at most so many bytes in each thread that encodes.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_word_cache_budget(1 << 20)
        >>> tok.memory().caches <= 1 << 20
        True

        The ids are the same, whatever the budget; a small one makes encoding slower. The default is 64 MiB.
        Tokenizers made from this one and pickles keep the budget. Specifications and files do not hold
        it. Raises `ArgumentError` for less than 4096.
        """
        check_bytes("bytes_per_thread", bytes_per_thread, 4096)
        core = self._core.with_word_cache_budget(bytes_per_thread)
        return self._of(core, self._special_in_text, self._functions)

    def _replaced(self, **stages: typing.Any) -> hints.Self:
        from dataclasses import replace

        return self._derived(replace(self.spec, **stages))


def checked_special_in_text(treatment: pw.spec.SpecialInText) -> pw.spec.SpecialInText:
    """Refuse what is no way to treat special tokens in text."""
    check_choice("special_in_text", treatment, ("parse", "text", "refuse"))
    return treatment
