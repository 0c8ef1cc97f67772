"""Jinja's sandbox, changed so that every string of a template keeps the origin of its characters.

Constants and text of the template compile to tracked strings, and operators, calls, filters and output go
through functions that keep origins and count steps. This module needs the extra `chat`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NoReturn, cast

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, LoopControlExtension
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter, safe_range
from jinja2.utils import Cycler, Joiner, Namespace

from piecework.chat.budget import (
    BUDGET,
    CHARS_PER_ITEM,
    Budget,
    check_number,
    check_power,
    check_product,
    step,
    take_each,
)
from piecework.chat.filters import chat_filters
from piecework.chat.operators import (
    brace_formatted,
    compared,
    count_search,
    counted_tests,
    percent_formatted,
)
from piecework.chat.tracked_text import (
    GENERATED,
    TEMPLATE,
    TrackedText,
    derived,
    joined,
    plain,
    tracked,
)
from piecework.errors import TemplateError

_MAX_TEMPLATE_CHARS = 1 << 20
_OWN_ATTRIBUTES = frozenset(("escaped", "origins", "part", "with_bits"))
# Of integers; both can make more bytes than a prompt has.
_BYTES_ATTRIBUTES = frozenset(("from_bytes", "to_bytes"))
_BINARY = frozenset(("+", "-", "*", "/", "//", "**", "%"))


@lru_cache(maxsize=64)
def compiled(template: str) -> jinja2.Template:
    """Compile a chat template.

    >>> compiled("<{{ text }}>").filename
    '<template>'

    Raises `TemplateError` for a template that is not valid, and for one of more than a million characters.
    """
    if len(template) > _MAX_TEMPLATE_CHARS:
        problem = f"has {len(template)} characters; the limit is {_MAX_TEMPLATE_CHARS}"
        raise TemplateError("chat template", problem)
    # Constants are evaluated while a template is compiled, outside of every rendering.
    token = BUDGET.set(Budget(is_compiling=True))
    try:
        return ChatEnvironment().from_string(template)
    except TemplateError:
        raise
    except jinja2.TemplateSyntaxError as error:
        place = f"chat template: line {error.lineno}"
        message = f"is not valid Jinja: {error.message}"
        raise TemplateError(place, message) from error
    except (
        RecursionError,
        MemoryError,
        SyntaxError,
        ValueError,
        TypeError,
        OverflowError,
    ) as error:
        found = f"{type(error).__name__}: {error}"
        raise TemplateError("chat template", f"is not valid Jinja: {found[:200]}") from error
    finally:
        BUDGET.reset(token)


def has_generation(template: str) -> bool:
    """Return whether a template has `{% generation %}`.

    >>> has_generation("{% generation %}{{ text }}{% endgeneration %}")
    True
    """
    return cast("ChatEnvironment", compiled(template).environment).has_generation


class _TrackingGenerator(CodeGenerator):
    """Writes constants as tracked strings."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802
        value = node.as_const(frame.eval_ctx)
        if isinstance(value, str):
            self.write(f"environment.literal({plain(value)!r})")
        else:
            super().visit_Const(node, frame)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:  # noqa: N802
        self.write(f"environment.literal({node.data!r})")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802
        self.write("environment.compared(")
        self.visit(node.expr, frame)
        for operand in node.ops:
            self.write(f", {operand.op!r}, ")
            self.visit(operand.expr, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        name = "sliced" if isinstance(node.arg, nodes.Slice) else None
        self._call(name, super().visit_Getitem, node, frame)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        self._call("counted", super().visit_List, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        name = "counted" if node.ctx == "load" else None
        self._call(name, super().visit_Tuple, node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        self._call("counted", super().visit_Dict, node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        self.write("environment.concat((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def _call(self, name: str | None, visit: Any, node: nodes.Node, frame: Frame) -> None:
        """Write an expression in a call of a function of the environment, or alone."""
        self.write(f"environment.{name}(" if name else "(")
        visit(node, frame)
        self.write(")")

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.literal({''.join(map(plain, group))!r})"


class _Generation(Extension):
    """`{% generation %}`: marks the text that the assistant generates."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> nodes.Node:
        line = next(parser.stream).lineno
        cast("ChatEnvironment", self.environment).has_generation = True
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_generated")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _generated(self, caller: Callable[[], Any]) -> TrackedText:
        return tracked(caller()).with_bits(GENERATED)


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """The environment of transformers' chat templates, with origins and limits.

    >>> ChatEnvironment().literal("a").origins
    b'\\x01'
    """

    code_generator_class = _TrackingGenerator
    intercepted_binops = _BINARY
    has_generation = False
    """Whether the template has `{% generation %}`."""

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,
            finalize=tracked,
            extensions=(_Generation, LoopControlExtension),
        )
        self.filters = cast("Any", chat_filters())
        self.tests = {**self.tests, **counted_tests()}
        self.globals = {
            "cycler": Cycler,
            "dict": _new_dict,
            "joiner": Joiner,
            "namespace": _ChatNamespace,
            "raise_exception": _raise_exception,
            "range": safe_range,
            "strftime_now": _strftime_now,
        }

    # Functions that the compiled code calls.

    bounded = staticmethod(take_each)
    compared = staticmethod(compared)
    step = staticmethod(step)

    @staticmethod
    def literal(text: str) -> TrackedText:
        """Return text of the template."""
        return TrackedText(text, TEMPLATE)

    @staticmethod
    def concat(parts: Iterable[object]) -> TrackedText:
        """Concatenate the texts of values."""
        text = joined(parts)
        BUDGET.get().check_size(text)
        return text

    @staticmethod
    def counted(value: Any) -> Any:
        """Return a value whose size counts as steps; raise if it is larger than a prompt can be."""
        BUDGET.get().check_size(value)
        return value

    @staticmethod
    def sliced(value: Any) -> Any:
        """Return a slice, whose characters or items count as steps; its items have been counted before."""
        if isinstance(value, (str, list, tuple)):
            BUDGET.get().take(len(value))
        return value

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may read an attribute; the origins of a text are not for templates."""
        if isinstance(obj, TrackedText) and attr in _OWN_ATTRIBUTES:
            return False
        if isinstance(obj, int) and attr in _BYTES_ATTRIBUTES:
            return False
        return super().is_safe_attribute(obj, attr, value)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template = super()._parse(source, name, filename)
        for constant in template.find_all(nodes.Const):
            check_number(constant.value)
        for loop in template.find_all(nodes.For):
            loop.iter = self._call_of("bounded", [cast("nodes.Expr", loop.iter)], loop)
        blocks = cast("Any", template.find_all((nodes.Macro, nodes.CallBlock)))
        for block in blocks:
            count = nodes.ExprStmt(self._call_of("step", [], block))
            count.set_lineno(block.lineno)
            count.set_environment(self)
            block.body.insert(0, count)
        return template

    def _call_of(self, name: str, args: list[nodes.Expr], near: nodes.Node) -> nodes.Call:
        call = nodes.Call(nodes.EnvironmentAttribute(name), args, [], None, None)
        call.set_lineno(near.lineno)
        call.set_environment(self)
        return call

    # Operations of the template.

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Apply a binary operator to values of a bounded size."""
        if operator == "**":
            check_power(left, right)
        elif operator == "*":
            check_product(left, right)
        elif operator == "%" and isinstance(left, str):
            return self.counted(percent_formatted(tracked(left), right))
        elif operator in ("//", "%"):
            check_number(left)
            check_number(right)
        return self.counted(super().call_binop(context, operator, left, right))

    def call(  # noqa: D102
        __self,  # noqa: N805
        __context: Any,
        __obj: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        _count_call(__obj, args)
        return __self.counted(super().call(__context, __obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a function that formats with origins, for `format` of a string."""
        if not isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        text = value.__self__
        if value.__name__ != "format" or not isinstance(text, str):
            return None
        formatter = SandboxedFormatter(self)

        def field_of(name: str, args: Any, kwargs: Any) -> object:
            return formatter.get_field(name, args, kwargs)[0]

        def formatted(*args: Any, **kwargs: Any) -> str:
            return brace_formatted(tracked(text), args, kwargs, field_of)

        return formatted


def _count_call(function: Any, args: tuple[Any, ...]) -> None:
    """Count what a method reads, and what `namespace` and `dict` copy, before the call."""
    subject = getattr(function, "__self__", None)
    BUDGET.get().take(len(subject) if isinstance(subject, str) else 0)
    if isinstance(subject, (list, tuple)) and args:
        count_search(args[0], subject)
    if function in (_ChatNamespace, _new_dict):
        for value in args:
            if isinstance(value, (str, list, tuple, dict)):
                BUDGET.get().take(CHARS_PER_ITEM * len(value))


class _ChatNamespace(Namespace):
    """A namespace without attributes that begin with an underscore."""

    def __init__(*args: Any, **values: Any) -> None:
        for name in values:
            _check_attribute(name)
        Namespace.__init__(*args, **values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_attribute(name)
        super().__setitem__(name, value)


def _check_attribute(name: str) -> None:
    if name.startswith("_"):
        problem = f"the name {plain(name)!r} must not begin with an underscore"
        raise TemplateError("namespace", problem)


def _new_dict(*args: Any, **values: Any) -> dict[Any, Any]:
    return dict(*args, **values)


def _raise_exception(message: object) -> NoReturn:
    text = plain(str(message))
    raise TemplateError("chat template", f"{text}")


def _strftime_now(form: str) -> TrackedText:
    from datetime import datetime

    return derived(datetime.now().strftime(plain(form)), form)
