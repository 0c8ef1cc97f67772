"""Custom stages over other libraries, one file each; an extra installs the library.

    spacy       pre-tokenizer: the tokenizers of spaCy                        piecework[spacy]
    sacremoses  pre-tokenizer and punctuation normalizer of Moses             piecework[moses]
    segmenters  pre-tokenizer for text without spaces: jieba or any function  piecework[jieba]
    ftfy        normalizer that repairs text                                  piecework[ftfy]

The functions of these stages pickle by reference and work in any thread.
"""
