"""Answer the rows of a golden file for `piecework golden --check golden.jsonl --with COMMAND`.

    piecework golden --check golden.jsonl --with 'python adapter.py tokenizer.json'

A row is a line of JSON on standard input, its answer a line of JSON on standard output. Write the same twenty
lines in the language of your engine. `ids` are required; `tokens`, `byte_offsets`, `char_offsets` and
`decoded` are compared if they are there.
"""

import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()
for line in sys.stdin:
    row = json.loads(line)
    answer = {"row": row["row"]}
    if "truncation" in row or "padding" in row:
        answer["skip"] = "this adapter does not truncate or pad"
    else:
        tokenizer.encode_special_tokens = not row["parse_special"]
        try:
            special = row["add_special_tokens"]
            answer["ids"] = tokenizer.encode(
                row["text"], row.get("pair"), add_special_tokens=special
            ).ids
        except Exception as error:
            answer["error"] = str(error)
    print(json.dumps(answer), flush=True)
