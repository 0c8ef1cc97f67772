"""A small causal transformer: trained on ids once, and asked how many bits other ids cost.

Pre-norm blocks with rotary positions, causal attention and a feed-forward layer of four times the width, no
biases; the table of input embeddings is the table of outputs. AdamW, clipped gradients, float32. The learning
rate rises, stays, and falls to zero in the last steps (Hu et al. 2024, arXiv 2404.06395, section 4), so that
models of several lengths share the steps before the rate of each falls. Windows of `context` ids are taken
from the stream in order, each id once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from judging.recipe import Recipe
from judging.text import Integers

# "medium" lets oneDNN multiply, which is twice as fast as MKL on processors that are not Intel's. With the
# instructions of AVX-512 alone it has nothing less exact than float32.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
torch.set_float32_matmul_precision("medium")


class Block(nn.Module):
    """Attention and a feed-forward layer, each added to its input."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        width = recipe.width
        self.heads = recipe.heads
        self.before_attention, self.before_feeding = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = nn.Linear(width, 3 * width, bias=False)
        self.mixed = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        """Return the output of the block for inputs of shape (batch, context, width)."""
        batch, length, width = x.shape
        projected = self.attention(self.before_attention(x))
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in projected.split(width, dim=-1)
        )
        mixture = attended(rotated(query, rotation), rotated(key, rotation), value)
        x = x + self.mixed(mixture.transpose(1, 2).reshape(batch, length, width))
        return x + cast(Tensor, self.down(functional.gelu(self.up(self.before_feeding(x)))))


def rotated(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Rotate each pair of columns by an angle that grows with the position."""
    cosine, sine = (part[: x.shape[-2]] for part in rotation)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def attended(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return for each place the values at and before it, mixed by the softmax of query times key.

    In windows of 128, `scaled_dot_product_attention` takes four times as long with oneDNN.
    """
    length, width = query.shape[-2:]
    later = torch.full((length, length), -torch.inf).triu(1)
    scores = query / math.sqrt(width) @ key.transpose(-2, -1) + later
    return scores.softmax(-1) @ value


class Transformer(nn.Module):
    """The model: `forward` returns a logit for each entry after each id."""

    def __init__(self, entries: int, recipe: Recipe) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(entries, recipe.width)
        self.blocks = nn.ModuleList(Block(recipe) for _ in range(recipe.layers))
        self.last = nn.RMSNorm(recipe.width)
        half = recipe.width // recipe.heads // 2
        speeds = 10_000.0 ** (-torch.arange(half) / half)
        angles = torch.outer(torch.arange(recipe.context), speeds)
        self.rotation = angles.cos(), angles.sin()
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                residual = name.endswith(("mixed.weight", "down.weight"))
                nn.init.normal_(
                    parameter, std=0.02 / math.sqrt(2 * recipe.layers) if residual else 0.02
                )

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits of shape (batch, context, entries)."""
        x = self.embeddings(ids)
        for block in self.blocks:
            x = block(x, self.rotation)
        return functional.linear(self.last(x), self.embeddings.weight)


def trained(
    ids: Integers, lengths: Sequence[int], entries: int, recipe: Recipe, seed: int
) -> Iterator[Transformer]:
    """Yield a model for each length, in rising order: trained on so many of the first ids.

    A model is the one that training on its ids alone gives.
    """
    torch.manual_seed(seed)
    model = Transformer(entries, recipe)
    optimizer = optimizer_of(model, recipe)
    batches = windows(ids, recipe)
    done = 0
    for length in lengths:
        steps = recipe.steps(length)
        rates = [recipe.rate_at(step, steps) for step in range(steps)]
        shared = recipe.shared_steps(steps)
        train(model, optimizer, batches, rates[done:shared])
        done = shared
        own_model, own_optimizer = deepcopy((model, optimizer))
        train(own_model, own_optimizer, windows(ids, recipe, shared), rates[shared:])
        yield own_model


def optimizer_of(model: Transformer, recipe: Recipe) -> torch.optim.Optimizer:
    """Return an optimizer, which decays the weights of tables."""
    tables = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    others = [parameter for parameter in model.parameters() if parameter.dim() != 2]
    groups = [
        {"params": tables, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=(0.9, 0.95))


def train(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    batches: Iterator[tuple[Tensor, Tensor]],
    rates: Sequence[float],
) -> None:
    """Take a step at each learning rate, with the next batches."""
    for rate, (inputs, targets) in zip(rates, batches, strict=False):
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def windows(ids: Integers, recipe: Recipe, first: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the whole batches of a stream from `first` on: windows of ids, and the ids after them."""
    size = recipe.batch * recipe.context
    for step in range(first, recipe.steps(len(ids))):
        used = torch.from_numpy(ids[step * size : (step + 1) * size + 1])
        yield used[:-1].view(recipe.batch, -1), used[1:].view(recipe.batch, -1)


def bits(model: Transformer, ids: Integers, recipe: Recipe) -> np.ndarray:
    """Return the bits of each id after the first, with half a context before it at least, where there is one.

    Windows overlap by half, and the second half of each is kept.
    """
    stream, half = torch.from_numpy(ids), recipe.context // 2
    found = np.empty(len(ids) - 1)
    starts = torch.arange(0, max(len(found) - recipe.context, 0) + half, half)
    starts = starts.clamp(max=max(len(found) - recipe.context, 0))
    length = min(recipe.context, len(found))
    with torch.no_grad():
        for chunk in starts.split(2 * recipe.batch):
            places = chunk[:, None] + torch.arange(length)
            logits = model(stream[places])
            costs = functional.cross_entropy(
                logits.flatten(0, 1), stream[places + 1].flatten(), reduction="none"
            ).view(len(chunk), -1)
            for start, row in zip(chunk.tolist(), costs.numpy(), strict=True):
                kept = half if start else 0
                found[start + kept : start + length] = row[kept:]
    return found / math.log(2)
