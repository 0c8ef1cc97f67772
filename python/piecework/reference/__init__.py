"""The reference: every algorithm of piecework in plain Python, short enough to read.

It is not fast, and it does not need the compiled core, which has to give the same results. `README.md`
in this folder is a tour in the order in which one learns. The algorithms, each with `train`, `encode` and
`decode`:

    words                  words and characters, and their vocabularies
    bpe                    byte-pair encoding; patterns has the alphabet of 256 bytes
    wordpiece              WordPiece
    unigram                Unigram; lattice sums over all segmentations of a word
    sentencepiece          SentencePiece: raw text with spaces as ▁

The stages of a whole tokenizer, in the order of the data:

    aligned                text whose characters keep their spans of the original text, and its normal forms
    tokenizer              all stages together: text -> ids -> text; added tokens; word -> tokens
    normalizers            text -> normalized text, with bert, charsmap and sentencepiece_stages; patterns has
                           searches, scripts and character classes
    pre_tokenizers         normalized text -> words, with bert
    wordpiece_model, bpe_model, sentencepiece_model, sentencepiece_unigram
                           word -> tokens
    post_processors        tokens -> windows -> one row with special tokens -> rows of equal length
    encoding               rows -> columns
    decoders               tokens -> text, with sentencepiece_stages
    prompts                where ids differ from the ids of their own text; the last ids of a prompt that a
                           longer token could replace

Learners with the options of real trainers:

    boundaries             the parts of words with boundaries, which every learner takes as words
    bpe_training           BPE
    parity_training        BPE in which languages choose the merges in turns
    superwords             BPE entries that cross spaces, also of SentencePiece
    wordpiece_training     WordPiece by merges; each other learner has a file wordpiece_<name>
    unigram_training       Unigram
    unigram_pruning        Unigram with pieces by pruning
    sentencepiece_training how SentencePiece's trainer splits texts, restricts pieces and merges
"""
