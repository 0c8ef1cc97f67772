"""The special tokens of a prompt that are not added tokens: control pieces and tokens known by role."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from piecework._internal.lazy import pw, typing
from piecework.spec import AddedToken, Metaspace, SentencePiece, SentencePieceNormalizer, Unigram
from piecework.spec.post_processors import BertProcessing, RobertaProcessing, TemplateProcessing
from piecework.spec.roles import CUSTOMARY_NAMES


def prompt_stages(
    spec: pw.TokenizerSpec, roles: Collection[str], id_of: Mapping[str, int]
) -> dict[str, typing.Any]:
    """Return the stages of a tokenizer that change for prompts.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "</s>": 1}))
    >>> prompt_stages(tok.spec, ["</s>"], tok.get_vocab())["added_tokens"][0].content
    '</s>'

    Special tokens that are no added tokens become added tokens: those of a role and of the post-processor,
    control pieces of SentencePiece, and pieces of a Unigram model with customary names, such as `</s>`.
    Not the token for unknown characters, which any text may become.

    A SentencePiece model that keeps spaces (Llama's, Mistral's) adds one, its "dummy prefix", at the
    beginning of the prompt only, not after each special token, as `LlamaTokenizer` of transformers does.
    One that removes extra spaces (T5's, XLNet's) adds it to each text between special tokens, as there.
    """
    unk_token = getattr(spec.model, "unk_token", None)
    known = {unk_token, "", *(token.content for token in spec.added_tokens)}
    added = [
        AddedToken(content, id_of[content], special=True, normalized=False)
        for content in dict.fromkeys(_special_tokens(spec, roles))
        if content not in known and content in id_of
    ]
    if not added and not spec.added_tokens:
        return {}
    return {"added_tokens": (*spec.added_tokens, *added), **_prefixed_once(spec)}


def _special_tokens(spec: pw.TokenizerSpec, roles: Collection[str]) -> Iterator[str]:
    """Yield the special tokens that the stages and the roles name."""
    # One character, such as the `!` that pads some of CLIP's, is text of users too.
    yield from (token for token in roles if len(token.strip()) > 1)
    if isinstance(spec.model, SentencePiece):
        yield from (piece.text for piece in spec.model.pieces if piece.type == "control")
    if isinstance(spec.model, Unigram):
        yield from CUSTOMARY_NAMES
    processor = spec.post_processor
    if isinstance(processor, BertProcessing | RobertaProcessing):
        yield from (processor.cls[0], processor.sep[0])
    elif isinstance(processor, TemplateProcessing):
        yield from processor.special_tokens


def _prefixed_once(spec: pw.TokenizerSpec) -> dict[str, typing.Any]:
    """Return the stages that add the dummy prefix of SentencePiece at the beginning of the text only."""
    normalizer = spec.normalizer
    if not isinstance(normalizer, SentencePieceNormalizer) or spec.pre_tokenizer is not None:
        return {}
    if not normalizer.add_dummy_prefix or normalizer.treat_whitespace_as_suffix:
        return {}
    # Where the spaces at the ends of a text are dropped, the added one is the only one it can have.
    if normalizer.remove_extra_whitespaces:
        return {}
    space = "▁" if normalizer.escape_whitespaces else " "
    return {
        "normalizer": replace(normalizer, add_dummy_prefix=False),
        "pre_tokenizer": Metaspace(space, prepend_scheme="first", split=False),
    }
