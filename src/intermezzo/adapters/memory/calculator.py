"""The language that a simulated kernel understands: names, literals, arithmetic and `print`.

A subset of Python that is read, never executed by Python itself, so that a dry run can be offered to people
without giving them the control plane's process.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class CalculationError(Exception):
    """A cell went wrong; the text is what a person would see."""


def run(code: str, names: dict[str, Any]) -> tuple[str, str]:
    """Run a cell against `names`, which it may change. Returns what it printed and the repr of its last expression.

    Raises `CalculationError`; what was assigned before it stays assigned.
    """
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError) as error:
        raise CalculationError(f"SyntaxError: {error}") from error
    printed: list[str] = []
    result = ""
    for statement in statements:
        result = ""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = _value(value, names)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                names[name] = _combine(op, _name(name, names), _value(value, names))
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=arguments, keywords=[])):
                printed.append(" ".join(str(_value(a, names)) for a in arguments) + "\n")
            case ast.Expr(value=value):
                outcome = _value(value, names)
                result = "" if outcome is None else repr(outcome)
            case ast.Pass():
                pass
            case _:
                raise CalculationError(f"a simulated kernel cannot run: {ast.unparse(statement)}")
    return "".join(printed), result


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return _name(name, names)
        case ast.List(elts=elements):
            return [_value(e, names) for e in elements]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _combine(ast.Sub(), 0, _value(operand, names))
        case ast.BinOp(left=left, op=op, right=right):
            return _combine(op, _value(left, names), _value(right, names))
        case _:
            raise CalculationError(f"a simulated kernel cannot work out: {ast.unparse(node)}")


def _name(name: str, names: dict[str, Any]) -> Any:
    if name not in names:
        raise CalculationError(f"NameError: name '{name}' is not defined")
    return names[name]


def _combine(op: ast.operator, left: Any, right: Any) -> Any:
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if type(op) not in _OPERATORS or not (numbers or (isinstance(op, ast.Add) and type(left) is type(right))):
        raise CalculationError(f"a simulated kernel cannot combine {type(left).__name__} and {type(right).__name__}")
    try:
        return _OPERATORS[type(op)](left, right)
    except (ArithmeticError, TypeError) as error:
        raise CalculationError(f"{type(error).__name__}: {error}") from error
