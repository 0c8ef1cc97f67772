"""The API of sentencepiece over piecework, in the place of the library."""

import sys

import piecework.compat.sentencepiece

sys.modules[__name__] = piecework.compat.sentencepiece
