"""Compare the ids of a library with a golden file. Needs that library, and nothing of piecework.

    python check_golden.py tokenizers golden.jsonl tokenizer.json
    python check_golden.py transformers golden.jsonl FOLDER_OR_TOKENIZER_JSON
    python check_golden.py tiktoken golden.jsonl cl100k_base
    python check_golden.py sentencepiece golden.jsonl spiece.model
    python check_golden.py mistral_common golden.jsonl tekken.json

Prints the rows that differ, the shortest text first, and counts the rows that the library has no call for.
The exit code is 0 if all compared rows are equal, 1 if a row differs or none was compared, and 2 for
other arguments. A last argument such as `ids,decoded` limits what is compared; otherwise it is all that
the library gives.
"""

import importlib
import json
import os
import sys
from collections import Counter
from importlib.metadata import version

FIELDS = "ids,tokens,char_offsets,decoded"


class Skip(Exception):  # noqa: N818
    """The library has no call for a row."""


def over_tokenizers(library, file):
    """Return the function that answers a row with `tokenizers`."""
    tokenizer = library.Tokenizer.from_file(file)
    if not hasattr(tokenizer, "no_padding"):
        return over_tokenizers_1(library, tokenizer)

    def answer(row):
        set_mode(tokenizer, row)
        encoding = tokenizer.encode(
            row["text"], row.get("pair"), add_special_tokens=row["add_special_tokens"]
        )
        return {
            "ids": encoding.ids,
            "tokens": [tokenizer.id_to_token(id) for id in encoding.ids],
            "char_offsets": [list(span) for span in encoding.offsets],
            "decoded": tokenizer.decode(encoding.ids, skip_special_tokens=False),
        }

    return answer


def set_mode(tokenizer, row):
    """Set what `tokenizers` keeps as state: special tokens in text, truncation, padding."""
    if hasattr(tokenizer, "encode_special_tokens"):
        tokenizer.encode_special_tokens = not row["parse_special"]
    elif not row["parse_special"]:
        raise Skip("special tokens in text are always parsed")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if "truncation" in row:
        cut = dict(row["truncation"])
        tokenizer.enable_truncation(direction=cut.pop("side"), **cut)
    if "padding" in row:
        pad = row["padding"]
        tokenizer.enable_padding(length=pad["length"], direction=pad["side"], pad_id=pad["id"])


def over_tokenizers_1(library, tokenizer):
    """Return the function that answers a row with `tokenizers` 1.0, which has another interface."""

    def answer(row):
        options = {"truncation": None, "padding": None}
        if "truncation" in row:
            cut = dict(row["truncation"])
            cut["direction"] = cut.pop("side")
            if cut.pop("stride", 0):
                raise Skip("no stride")
            options["truncation"] = library.Truncation(**cut)
        if "padding" in row:
            pad = row["padding"]
            options["padding"] = library.Padding(
                length=pad["length"], direction=pad["side"], pad_id=pad["id"]
            )
        text = (row["text"], row["pair"]) if "pair" in row else row["text"]
        ids = tokenizer.encode(
            text,
            add_special_tokens=row["add_special_tokens"],
            encode_special_tokens=not row["parse_special"],
            **options,
        ).ids
        return {"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)}

    return answer


def over_transformers(library, file):
    """Return the function that answers a row with the class of a folder, or of a `tokenizer.json`."""
    if os.path.isdir(file):
        tokenizer = library.AutoTokenizer.from_pretrained(file, local_files_only=True)
    else:
        tokenizer = library.PreTrainedTokenizerFast(tokenizer_file=file)

    def answer(row):
        if "padding" in row:
            raise Skip("the id of padding is set by the folder")
        if row.get("pair") == "":
            raise Skip("an empty pair counts as no pair")
        options = {"truncation": False, "return_offsets_mapping": tokenizer.is_fast}
        if "truncation" in row:
            cut = dict(row["truncation"])
            tokenizer.truncation_side = cut.pop("side")
            options |= {"truncation": cut.pop("strategy", True), **cut}
        if not row["parse_special"]:
            options["split_special_tokens"] = True
        options["add_special_tokens"] = row["add_special_tokens"]
        try:
            found = tokenizer(row["text"], row.get("pair"), **options)
        except TypeError as error:
            if "split_special_tokens" in str(error):
                raise Skip("special tokens in text are always parsed") from None
            raise
        ids = found["input_ids"]
        answered = {"ids": ids, "tokens": tokenizer.convert_ids_to_tokens(ids)}
        if tokenizer.is_fast:
            answered["char_offsets"] = [list(span) for span in found["offset_mapping"]]
        decoded = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        return {**answered, "decoded": decoded}

    return answer


def over_tiktoken(library, name):
    """Return the function that answers a row with an encoding of `tiktoken`."""
    encoding = library.get_encoding(name)

    def answer(row):
        need_one_text(row)
        allowed = "all" if row["parse_special"] else set()
        ids = encoding.encode(row["text"], allowed_special=allowed, disallowed_special=())
        return {"ids": ids, "decoded": encoding.decode(ids)}

    return answer


def over_sentencepiece(library, file):
    """Return the function that answers a row with `sentencepiece`."""
    processor = library.SentencePieceProcessor(model_file=file)

    def answer(row):
        need_one_text(row)
        ids = processor.encode(row["text"])
        tokens = [processor.id_to_piece(id) for id in ids]
        return {"ids": ids, "tokens": tokens, "decoded": processor.decode(ids)}

    return answer


def over_mistral_common(library, file):
    """Return the function that answers a row with the class `Tekkenizer` of `mistral_common`."""
    tekken = importlib.import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    tokenizer = tekken.from_file(file)
    special = [tokenizer.id_to_piece(id) for id in range(tokenizer.num_special_tokens)]

    def answer(row):
        need_one_text(row)
        if row["parse_special"] and any(token in row["text"] for token in special):
            raise Skip("special tokens in text are never parsed")
        return {"ids": tokenizer.encode(row["text"], bos=False, eos=False)}

    return answer


def need_one_text(row):
    """Skip what these libraries do not have."""
    for key in ("pair", "truncation", "padding"):
        if key in row:
            raise Skip(f"no {key}")


def answer_or_error(answer, row):
    """Return the answer, or that the library raised; a panic of Rust is no `Exception`."""
    try:
        return answer(row)
    except (Skip, KeyboardInterrupt):
        raise
    except BaseException as error:
        return {"error": True, "message": f"{type(error).__name__}: {error}"}


def compare(rows, answer, compared):
    """Return the differing rows with the differing fields, and the reasons of skipped rows."""
    differing, skipped = [], Counter()
    for row in ({"decoded": each["text"], **each} for each in rows):
        try:
            found = answer_or_error(answer, row)
        except Skip as reason:
            skipped[str(reason)] += 1
            continue
        if "error" in found or "error" in row:
            fields = [] if "error" in found and "error" in row else ["error"]
        else:
            fields = [field for field in compared if found.get(field, row[field]) != row[field]]
        if fields:
            differing.append((row, found, fields))
    return sorted(differing, key=lambda each: len(each[0]["text"])), skipped


LIBRARIES = {
    "tokenizers": over_tokenizers,
    "transformers": over_transformers,
    "tiktoken": over_tiktoken,
    "sentencepiece": over_sentencepiece,
    "mistral_common": over_mistral_common,
}


USAGE = f"""usage: python check_golden.py LIBRARY GOLDEN_JSONL TOKENIZER [FIELDS]
LIBRARY is one of {", ".join(LIBRARIES)}"""


def main(arguments):
    """Compare, or say how to call this program; return the exit code."""
    if len(arguments) not in (3, 4) or arguments[0] not in LIBRARIES:
        print(USAGE, file=sys.stderr)
        return 2
    return check(*arguments)


def check(name, golden, file, fields=FIELDS):
    """Print what differs; return the exit code."""
    with open(golden, encoding="utf-8") as lines:
        header, *rows = map(json.loads, lines)
    answer = LIBRARIES[name](importlib.import_module(name), file)
    differing, skipped = compare(rows, answer, fields.split(","))
    for row, found, fields in differing:
        print(f"row {row['row']} ({', '.join(row['flags'])}): {row['comment']}")
        print(f"  text: {json.dumps(row['text'])[:200]}")
        for field in fields:
            value = found["message"] if "error" in found else found.get(field)
            print(f"  {field}: expected {row.get(field)!r}, {name} has {value!r}")
    for flag in dict.fromkeys(flag for row, _, _ in differing for flag in row["flags"]):
        print(f"{flag}: {header['flags'][flag]}")
    for reason, count in skipped.items():
        print(f"skipped {count} rows: {reason}")
    compared = len(rows) - skipped.total()
    print(f"{name} {version(name)}: {len(differing)} of {compared} compared rows differ")
    return int(bool(differing) or not compared)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
