"""Other libraries, one file each; an extra installs the library, which is imported when it is used.

    spacy       pre-tokenizer: the tokenizers of spaCy                        piecework[spacy]
    sacremoses  pre-tokenizer and punctuation normalizer of Moses             piecework[moses]
    segmenters  pre-tokenizer for text without spaces: jieba or any function  piecework[jieba]
    ftfy        normalizer that repairs text                                  piecework[ftfy]
    datasets    function for `Dataset.map` that reads and returns Arrow       piecework[datasets]
    torch       collator for data loaders                                     piecework[torch]

The functions of the stages and of `datasets` pickle by reference and work in any thread.
"""
