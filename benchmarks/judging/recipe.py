"""The shape of the transformer, how it is trained, and what each budget spends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """The shape of the model, and how it is trained."""

    layers: int
    width: int
    heads: int
    context: int  # ids
    batch: int  # windows a step
    learning_rate: float
    warmup: float  # share of the steps
    weight_decay: float
    text_megabytes: float  # what the budget "text" reads
    teraflop: float  # what the budget "compute" spends

    @property
    def block_parameters(self) -> int:
        """The parameters of the blocks: all but embeddings."""
        return self.layers * (12 * self.width**2 + 2 * self.width) + self.width

    def flop_of_id(self, entries: int) -> int:
        """Return the floating-point operations of training on one id.

        Six for each parameter that is multiplied (two forward, four backward), the output table among
        them, and those of attention over half a context on average.
        """
        multiplied = 12 * self.layers * self.width**2 + entries * self.width
        return 6 * (multiplied + self.layers * self.context * self.width)

    def ids_of_compute(self, entries: int) -> int:
        """Return how many ids the budget "compute" trains on."""
        return int(self.teraflop * 1e12 / self.flop_of_id(entries))
