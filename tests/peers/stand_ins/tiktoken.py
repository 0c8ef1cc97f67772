"""The API of tiktoken over piecework, in the place of the library."""

import sys

import piecework.compat.tiktoken

sys.modules[__name__] = piecework.compat.tiktoken
