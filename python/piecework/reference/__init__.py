"""The reference: every algorithm of piecework in plain Python, short enough to read.

It is not fast, and it does not need the compiled core, which has to give the same results. `README.md`
in this folder is a tour in the order in which one learns. The algorithms, each with `train`, `encode` and
`decode`:

    words                  words and characters, and their vocabularies
    bpe                    byte-pair encoding; byte_level has the alphabet of 256 bytes
    wordpiece              WordPiece
    unigram                Unigram; lattice sums over all segmentations of a word
    sentencepiece          SentencePiece: raw text with spaces as ▁

The stages of a whole tokenizer, in the order of the data:

    aligned                text whose characters keep their spans of the original text
    added_tokens           text -> added tokens and ordinary text
    normalizers            text -> normalized text, with bert, unicode_forms, charsmap (and graphemes),
                           sentencepiece_normalizer; patterns has searches and character classes
    pre_tokenizers         normalized text -> words, with bert and scripts
    models                 word -> tokens, with wordpiece_model, bpe_model, sentencepiece_model,
                           sentencepiece_unigram
    truncation_padding     tokens -> windows; windows -> rows of equal length
    post_processors        one sequence or two -> one row with special tokens
    encoding               rows -> columns
    decoders               tokens -> text, with sentencepiece_decoder
    tokenizer              all stages together: text -> ids -> text
    drift                  where ids differ from those of their own text
    healing                the last ids of a prompt that a longer token could replace
    matching_pursuit       a vector as a sum of a few others, for rows of embedding tables

Learners with the options of real trainers:

    bpe_training           BPE
    parity_training        BPE in which languages choose the merges in turns
    superwords             BPE entries that cross spaces
    wordpiece_training     WordPiece by merges; each other learner has a file wordpiece_<name>
    unigram_training       Unigram
    unigram_pruning        Unigram with pieces by pruning
    unigram_hard_em        Unigram by the best segmentation only, as surveys print it
    sentencepiece_training how SentencePiece's trainer splits texts, restricts pieces and merges, with
                           sentencepiece_superwords
"""
