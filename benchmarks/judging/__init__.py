"""A small language model as judge of vocabularies: what `language_model.py` runs.

text          words in order, with what is held out
vocabularies  the learners, and the ids of every word under each
lines         learners whose entries may cross spaces, and the ids of lines
recipe        the shape of the model, and what each budget spends
transformer   the model: trained on ids, asked for the bits of others (needs torch)
kneser_ney    an n-gram model that is asked the same
matrix        which runs there are, in which order, and the record of those that were made
"""
