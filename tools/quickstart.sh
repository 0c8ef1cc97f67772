#!/bin/sh
# Train WordPiece on text that came with Python and encode a sentence, showing each command.
set -eu
bin=$1
demo=$2
sentence="Tokenization keeps common words and splits others: helpfully, unreadable, standardization."

title() { printf '\n\033[1m%s\033[0m\n' "$1"; }
plain() { printf '\n%s\n' "$1"; }
[ -t 1 ] || title() { plain "$1"; }

# Show a command as it can be repeated, then run it.
run() {
    printf '  $'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

mkdir -p "$demo"

title "1. Text: the English that every Python carries"
run "$bin/python" tools/quickstart_corpus.py "$demo/corpus.txt"

title "2. Train: WordPiece, 8,000 entries"
run "$bin/piecework" train "$demo/corpus.txt" --vocab-size 8000 -o "$demo/tokenizer.json"

title "3. Encode: a sentence as tokens, then as ids"
echo "$sentence" > "$demo/sentence.txt"
echo "  $sentence"
run "$bin/piecework" encode "$demo/tokenizer.json" "$demo/sentence.txt" --format tokens
run "$bin/piecework" encode "$demo/tokenizer.json" "$demo/sentence.txt" --format ids

title "Yours to repeat: the tokenizer is $demo/tokenizer.json, and README.md goes on from here."
