"""The executable specification: every algorithm as the literature states it, in plain Python.

Nothing here is fast and nothing here imports the compiled core. Each file holds one idea and is
short enough to read in one sitting; together, in the order of the data:

    bert                 text -> words: BERT's normalizer and pre-tokenizer, with their alignment
    words                the tokenizers every course begins with: spaces, punctuation, characters
    wordpiece            a word -> pieces: greedy longest match, and the fewest pieces
    tokenizer            the stages put together: text -> ids -> text
    wordpiece_training   word counts -> vocabulary by joining pairs: pmi, likelihood, frequency
    wordpiece_top_down   word counts -> vocabulary by keeping frequent substrings
"""
