"""The executable specification: every algorithm as the literature states it, in plain Python.

Nothing here is fast and nothing here imports the compiled core. Each file holds one idea and is
short enough to read in one sitting; together, in the order of the data:

    aligned              text that knows where it came from
    patterns             searching: texts and regular expressions; classes of characters
    bert                 text -> words: BERT's normalizer and pre-tokenizer
    normalizers          text -> normalized text: every kind, with
        unicode_forms        NFC, NFD, NFKC, NFKD
        charsmap, graphemes  the compiled rules of SentencePiece models
    pre_tokenizers       normalized text -> words: every kind, with
        scripts              where the script changes
    words                the tokenizers every course begins with: spaces, punctuation, characters
    bpe                  word counts -> merges, and a word -> pieces by them
    unigram              a word -> pieces: the likeliest, the n best, one drawn at random
    wordpiece            a word -> pieces: greedy longest match, and the fewest pieces
    post_processors      tokens of one sequence or two -> one row with special tokens
    decoders             tokens -> text
    tokenizer            the stages put together: text -> ids -> text
    wordpiece_training   word counts -> vocabulary by joining pairs: pmi, likelihood, frequency
    wordpiece_top_down   word counts -> vocabulary by keeping frequent substrings
    unigram_training     word counts -> pieces by dropping what the likelihood needs least
"""
