"""Batch normalisation, by StableHLO's own definition of it in other ops."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from kernel_magics.call.replay.operation import Op, Run


class _Feature:
    """Moves between an array and what there is one of for each feature."""

    def __init__(self, op: Op) -> None:
        self.shape = op.operands[0].shape
        self.axis = op.number("feature_index")
        self.others = tuple(d for d in range(len(self.shape)) if d != self.axis)
        self.count = int(np.prod([self.shape[d] for d in self.others]))
        attribute: Any = op.operation.attributes["epsilon"]
        self.epsilon = np.array(attribute.value, op.operands[0].known)

    def spread(self, row: Any) -> Any:
        return lax.broadcast_in_dim(row, self.shape, (self.axis,))

    def mean(self, x: Any) -> Any:
        total = lax.reduce_sum(x, self.others)
        return lax.div(total, lax.full_like(total, self.count))

    def normalized(self, x: Any, mean: Any, variance: Any) -> Any:
        deviation = lax.sqrt(lax.add(variance, lax.full_like(variance, self.epsilon)))
        return lax.div(lax.sub(x, self.spread(mean)), self.spread(deviation))


def _inference(op: Op) -> Run:
    feature = _Feature(op)

    def batch_norm(x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        normalized = feature.normalized(x, mean, variance)
        return lax.add(lax.mul(feature.spread(scale), normalized), feature.spread(offset))

    return batch_norm


def _training(op: Op) -> Run:
    feature = _Feature(op)

    def batch_norm(x: Any, scale: Any, offset: Any) -> Any:
        mean = feature.mean(x)
        variance = feature.mean(lax.square(lax.sub(x, feature.spread(mean))))
        normalized = feature.normalized(x, mean, variance)
        scaled = lax.mul(feature.spread(scale), normalized)
        return lax.add(scaled, feature.spread(offset)), mean, variance

    return batch_norm


def _grad(op: Op) -> Run:
    feature = _Feature(op)

    def batch_norm_grad(x: Any, scale: Any, mean: Any, variance: Any, grad: Any) -> Any:
        deviation = lax.sqrt(lax.add(variance, lax.full_like(variance, feature.epsilon)))
        normalized = feature.normalized(x, mean, variance)
        grad_scale = lax.reduce_sum(lax.mul(grad, normalized), feature.others)
        grad_offset = lax.reduce_sum(grad, feature.others)
        count = lax.full_like(grad_offset, feature.count)
        about = lax.sub(grad, feature.spread(lax.div(grad_offset, count)))
        about = lax.sub(about, lax.mul(normalized, feature.spread(lax.div(grad_scale, count))))
        grad_x = lax.mul(about, feature.spread(lax.div(scale, deviation)))
        return grad_x, grad_scale, grad_offset

    return batch_norm_grad


NORMALIZATION: dict[str, Callable[[Op], Run]] = {
    "batch_norm_grad": _grad,
    "batch_norm_inference": _inference,
    "batch_norm_training": _training,
}
