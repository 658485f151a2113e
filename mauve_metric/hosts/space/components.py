"""Components of Gradio with methods of our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from gradio.component_meta import ComponentMeta
from gradio.components import Component

C = TypeVar("C", bound=Component)


def with_methods(base: type[C], **methods: Callable[..., Any]) -> type[C]:
    """A component that is shown as `base` is, with these methods.

    Methods of an instance are lost when Gradio makes it anew, which every `gr.update` and `gr.skip` does; and a class
    made by Gradio's own metaclass writes a `.pyi` file beside its source.
    """
    made = type.__new__(ComponentMeta, base.__name__, (base,), {"__module__": __name__, **methods})
    return cast(type[C], made)
