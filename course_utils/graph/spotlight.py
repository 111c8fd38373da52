"""Which part of a picture an event changes: the text it puts there, and where the eye should go."""

from __future__ import annotations

from .data import Edge, Place
from .events import (
    Accumulated,
    ChangedByHook,
    ChangedInPlace,
    Entered,
    Event,
    Freed,
    GradientMessage,
    Returned,
    Sent,
)
from .wording import gradient_text


def texts_of(event: Event) -> list[tuple[object, str]]:
    """The texts that an event puts on the picture, and where."""
    match event:
        case Entered(node=node, incoming=incoming):
            return [(Place(node, index), gradient_text(one)) for index, one in enumerate(incoming)]
        case Sent(message=message, waiting=waiting):
            edge: Edge = message.edge
            return [(edge, message_text(message)), (edge.place, gradient_text(waiting))]
        case Accumulated(place=place, after=after):
            return [(("grad", place), gradient_text(after))]
        case ChangedByHook(node=node, index=index, after=after):
            slot = Place(node, index)
            return [(slot, gradient_text(after)), (("grad", slot), gradient_text(after))]
        case ChangedInPlace(node=node, index=index, after=after):
            return [(Place(node, index), gradient_text(after))]
        case Returned(place=place, gradient=gradient):
            return [(place, gradient_text(gradient))]
    return []


def message_text(message: GradientMessage) -> str:
    """A message in the few letters of a chip."""
    if message.gradient is None and not message.needed:
        return "not asked for"
    return gradient_text(message.gradient)


def is_new(event: Event | None, place: Place) -> bool:
    """Whether the event changed what has arrived at a place."""
    match event:
        case Entered(node=node):
            return node == place.node
        case Sent(message=message):
            return message.edge.place == place
        case Returned(place=returned):
            return returned == place
        case ChangedByHook(node=node, index=index, side="incoming") | ChangedInPlace(node=node, index=index):
            return Place(node, index) == place
    return False


def fills_grad(event: Event | None, place: Place) -> bool:
    """Whether the event changed the `.grad` of the tensor at a place."""
    match event:
        case Accumulated(place=filled):
            return filled == place
        case ChangedByHook(node=node, side=".grad"):
            return node == place.node
    return False


def node_of(event: Event | None) -> int | None:
    """The number of the node at which an event happens."""
    match event:
        case Entered(node=node) | Freed(node=node) | ChangedByHook(node=node):
            return node
        case ChangedInPlace(writer=writer):
            return writer
        case Sent(message=message):
            return message.source
        case Accumulated(place=place) | Returned(place=place):
            return place.node
    return None
