"""What other libraries bring: one file for each, imported at need and installed by an extra.

    spacy       words as spaCy's tokenizer for a language makes them    piecework[spacy]
    sacremoses  words and clean punctuation as Moses makes them         piecework[moses]
    segmenters  words of texts without spaces: jieba and its like       piecework[jieba]
    ftfy        mended text                                             piecework[ftfy]

Each gives custom stages, whose functions pickle by reference and work in any thread.
"""
