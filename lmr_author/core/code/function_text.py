"""One function as libcst reads it: the place of its body, and its text with another one."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cached_property

import libcst as cst
from libcst.metadata import MetadataWrapper, WhitespaceInclusivePositionProvider

from lmr_author.core.code.module import (
    NEWLINE,
    Definition,
    FunctionNode,
    Module,
    Region,
    indent_of,
    newline_after,
)
from lmr_author.core.code.tree import first_line
from lmr_author.core.errors import SourceError, TargetError

_TYPE_COMMENT = re.compile(r"#\s*type:\s*\(")


class FunctionText:
    """The text of one function as libcst reads it, with ``\\n`` for every line end."""

    def __init__(self, module: Module, definition: Definition) -> None:
        if isinstance(definition.node, ast.ClassDef):
            raise TargetError(f"{definition.qualname} in {module.name} is a class", "name one of its methods")
        self.module, self.node = module, definition.node
        self.line = first_line(self.node)
        first = module.line_text(self.line)
        self.indent = indent_of(first)
        self.start = module.line_start(self.line) + first.index(self.indent + first.strip())
        # libcst reads no indented function by itself.
        self.above = "if 1:\n" if self.indent else ""
        self.text = self.above + NEWLINE.sub("\n", module.text[self.start : _end_of_lines(module, self.node)])
        try:
            wrapper = MetadataWrapper(cst.parse_module(self.text), unsafe_skip_copy=True)
            positions = wrapper.resolve(WhitespaceInclusivePositionProvider)
            self.tree = wrapper.module
            self.body = cst.ensure_type(self._around().body[0], cst.FunctionDef).body
        except (cst.ParserSyntaxError, RecursionError, ValueError, TypeError) as error:
            raise SourceError(
                f"{module.name}:{self.line}: libcst cannot read {definition.qualname}: {_reason(error)}",
                "choose another function: this one cannot be edited safely",
            ) from error
        position, lines = positions[self.body], self.text.split("\n")
        self.first, last = (
            sum(len(line) + 1 for line in lines[: at.line - 1]) + at.column
            for at in (position.start, position.end)
        )
        self.last = self._with_comments(len(self.text[:last].rstrip()))

    def _with_comments(self, last: int) -> int:
        """Return the end of the last line, and of comments below that are indented deeper than the function itself.

        libcst leaves out those that are not as deep as the body; they may hold the solution as well.
        """
        end = line_end = (self.text + "\n").find("\n", last)
        own_width = len(self.indent.expandtabs(8))
        for line in self.text[end + 1 :].split("\n"):
            line_end += 1 + len(line)
            if not line.strip():
                continue
            width = len(indent_of(line).expandtabs(8))
            if line.strip()[0] != "#" or width <= own_width:
                break
            end = line_end
        return end

    def _around(self) -> cst.Module | cst.IndentedBlock:
        if not self.above:
            return self.tree
        return cst.ensure_type(cst.ensure_type(self.tree.body[0], cst.If).body, cst.IndentedBlock)

    @cached_property
    def region(self) -> Region:
        module, header = self.module, ""
        indent = self.indent + ("\t" if "\t" in self.indent else "    ")
        if isinstance(self.body, cst.IndentedBlock):
            behind = self.body.header
            header = behind.whitespace.value + behind.comment.value if behind.comment else ""
            indent = indent_of(module.line_text(first_line(self.node.body[0])))
        comments = self._type_comments()
        return Region(
            start=self._offset(self.first),
            end=self._offset(self.last),
            header_rest=header,
            indent=indent,
            newline=newline_after(module, self._line(self.first)),
            docstring=self._docstring(),
            type_comment=comments[0].comment.value if comments and comments[0].comment else None,
        )

    def with_body(self, lines: Sequence[str]) -> str:
        """Return the region's text with other statements behind the docstring."""
        where = self.region
        statements = _statements(lines, where.indent, self.module.name)
        if where.docstring is not None:
            first = self.body.body[0]
            line = first if isinstance(first, cst.SimpleStatementLine) else self.body
            text = cst.ensure_type(line.body[0], cst.Expr).with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            statements.insert(0, cst.SimpleStatementLine([text]))
        leading = [*self._type_comments(), *statements[0].leading_lines]
        statements[0] = statements[0].with_changes(leading_lines=leading)
        body = cst.IndentedBlock(statements, indent=where.indent.removeprefix(self.indent))
        if isinstance(self.body, cst.IndentedBlock):
            header = self.body.header if where.header_rest else cst.TrailingWhitespace()
            body = self.body.with_changes(body=statements, header=header, footer=())
        edited = self._with(body)
        if not edited.startswith(self.text[: self.first]):
            raise SourceError(
                f"{self.module.name}:{self.line}: libcst would change the header", "choose another function"
            )
        edited = edited[self.first :].rstrip("\n")
        if where.docstring is None:
            return edited.replace("\n", where.newline)
        # The docstring keeps the line ends it has, whatever they are.
        before, same, after = edited.partition(NEWLINE.sub("\n", where.docstring))
        docstring = where.docstring if same else ""
        return before.replace("\n", where.newline) + docstring + after.replace("\n", where.newline)

    def _with(self, body: cst.IndentedBlock) -> str:
        """Return the text with another body, and without the comments below that are not the function's."""
        around = self._around()
        function = cst.ensure_type(around.body[0], cst.FunctionDef).with_changes(body=body)
        changed = around.with_changes(body=[function], footer=())
        if isinstance(changed, cst.IndentedBlock):
            changed = self.tree.with_changes(body=[self.tree.body[0].with_changes(body=changed)], footer=())
        return changed.code

    def _type_comments(self) -> list[cst.EmptyLine]:
        if not isinstance(self.body, cst.IndentedBlock):
            return []
        lines = getattr(self.body.body[0], "leading_lines", ())
        return [line for line in lines if line.comment and _TYPE_COMMENT.match(line.comment.value)][:1]

    def _docstring(self) -> str | None:
        first = self.node.body[0]
        if ast.get_docstring(self.node, clean=False) is None:
            return None
        begin = self.module.offset(first.lineno, first.col_offset)
        end = self.module.offset(first.end_lineno or first.lineno, first.end_col_offset or 0)
        return self.module.text[begin:end]

    def _line(self, offset: int) -> int:
        return self.line + self.text.count("\n", len(self.above), offset)

    def _offset(self, offset: int) -> int:
        line = self._line(offset)
        start = self.start if line == self.line else self.module.line_start(line)
        return start + offset - max(self.text.rfind("\n", 0, offset) + 1, len(self.above))


def _statements(
    lines: Sequence[str], indent: str, name: str
) -> list[cst.SimpleStatementLine | cst.BaseCompoundStatement]:
    text = "".join((indent + line if line else "") + "\n" for line in lines)
    try:
        block = cst.ensure_type(cst.parse_module("if 1:\n" + text).body[0], cst.If).body
    except cst.ParserSyntaxError as error:
        raise SourceError(f"{name}: the new body is not Python: {error.message}", "") from error
    statements = []
    for statement in block.body:
        assert isinstance(statement, cst.SimpleStatementLine | cst.BaseCompoundStatement)
        statements.append(statement)
    return statements


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, cst.ParserSyntaxError) else str(error) or type(error).__name__


def _end_of_lines(module: Module, node: FunctionNode) -> int:
    """Return the end of a function's lines, and of the blank lines and comments below, which may belong to it."""
    line = node.end_lineno or node.lineno
    while line < module.line_count:
        below = module.line_text(line + 1).strip()
        if below and not below.startswith("#") and not module.line_text(line).endswith("\\"):
            break
        line += 1
    return module.line_start(line + 1) if line < module.line_count else len(module.text)
