"""Advice of `PortabilityError`: formats that preserve a tokenizer that others cannot reproduce."""

_REPRODUCIBLE = "a tokenizer that other libraries can reproduce"
KEPT_BY_MODEL = f"{_REPRODUCIBLE}; '.model' and '.piecework' files preserve this one"
KEPT_BY_OWN = f"{_REPRODUCIBLE}; a '.piecework' file preserves this one"
