"""Other libraries, one file each; an extra installs the library, which is imported when it is used.

    arrow       ids and counts of columns, with nulls and dictionaries        piecework[arrow]
    polars      expressions                                                   piecework[polars]
    duckdb      SQL functions                                                 piecework[duckdb]
    pandas      series                                                        piecework[pandas]
    spacy       tokenizer of pipelines, alignment                             piecework[spacy]
    distributed  counts and ids of Ray Data and Spark                         piecework[ray]
    datasets    function for `Dataset.map` that reads and returns Arrow       piecework[datasets]
    embeddings  rows of embedding tables moved to the ids of a changed vocabulary  piecework[torch]
    torch       collator for data loaders                                     piecework[torch]
    transformers  fast tokenizers accelerated; a `Tokenizer` with their interface  piecework[transformers]
    vllm        plugin for vLLM                                               piecework[transformers]
    sglang      plugin for SGLang                                             piecework[transformers]

The functions of the stages and of `datasets` pickle by reference and work in any thread.
"""
