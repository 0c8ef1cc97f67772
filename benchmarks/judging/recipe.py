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
    warmup: int  # steps in which the learning rate rises
    decay: float  # share of the steps in which it falls
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

    def steps(self, ids: int) -> int:
        """Return the steps of a stream: whole batches, with an id after each."""
        return max(ids - 1, 0) // (self.context * self.batch)

    def shared_steps(self, steps: int) -> int:
        """Return how many of the steps a longer run shares: those before the learning rate falls."""
        return int((1 - self.decay) * steps)

    def rate_at(self, step: int, steps: int) -> float:
        """Return the learning rate of a step.

        >>> recipe = Recipe(1, 2, 1, 4, 1, 0.5, 2, 0.4, 0.1, 1.0, 1.0)
        >>> [round(recipe.rate_at(step, 10), 3) for step in range(10)]
        [0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.375, 0.25, 0.125]
        """
        rising, falling = (step + 1) / self.warmup, (steps - step) / (self.decay * steps)
        return self.learning_rate * min(rising, falling, 1.0)
