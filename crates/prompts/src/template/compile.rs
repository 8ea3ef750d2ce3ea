//! Turns a template into instructions of the engine, with bounded operators in place of the engine's own.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::ast::{self, Expr, Spanned, Stmt};
use minijinja::machinery::{CodeGenerator, Instructions, Span, parse, parse_expr};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, ErrorKind, Value};

use super::nesting;
use super::operators::{ADD, CONCATENATE, LITERAL, MULTIPLY, NEEDLE, READ, SLICE, STORE, UNPACK};
use super::scopes::Scopes;

/// The name of a template in the engine.
const NAME: &str = "<string>";

/// A template that can be evaluated.
pub(super) struct Compiled<'s> {
    pub(super) instructions: Instructions<'s>,
    pub(super) blocks: BTreeMap<&'s str, Instructions<'s>>,
    /// The variables that it reads and does not set.
    pub(super) names: BTreeSet<String>,
}

/// What a template may consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Text, expressions and statements.
    Full,
    /// Text and expressions.
    Expressions,
}

/// Compiles a text with expressions and statements. With `nested`, variables are paths (`input.a`).
pub(super) fn template<'s>(
    source: &'s str,
    syntax: &SyntaxConfig,
    language: Language,
    nested: bool,
) -> Result<Compiled<'s>, Error> {
    nesting::check(source, false, syntax)?;
    let parsed = parse(source, NAME, syntax.clone())?;
    let mut rewriter = Rewriter { scopes: Scopes::new(nested), language, repeats: false };
    let rewritten = rewriter.statement(&parsed)?;
    let mut generator = CodeGenerator::new(NAME, source);
    generator.compile_stmt(&rewritten);
    Ok(finish(generator, rewriter))
}

/// Compiles a single expression.
pub(super) fn expression(source: &str) -> Result<Compiled<'_>, Error> {
    nesting::check(source, true, &SyntaxConfig::default())?;
    let parsed = parse_expr(source)?;
    let language = Language::Expressions;
    let mut rewriter = Rewriter { scopes: Scopes::new(false), language, repeats: false };
    let rewritten = rewriter.expression(&parsed)?;
    let mut generator = CodeGenerator::new(NAME, source);
    generator.compile_expr(&rewritten);
    Ok(finish(generator, rewriter))
}

fn finish<'s>(generator: CodeGenerator<'s>, rewriter: Rewriter<'s>) -> Compiled<'s> {
    let (instructions, blocks) = generator.finish();
    Compiled { instructions, blocks, names: rewriter.scopes.into_names() }
}

/// Copies a syntax tree, with calls of bounded filters in it.
struct Rewriter<'s> {
    scopes: Scopes<'s>,
    language: Language,
    /// Whether the statement may run more than once.
    repeats: bool,
}

type Rewritten<T> = Result<T, Error>;

impl<'s> Rewriter<'s> {
    fn statement(&mut self, statement: &Stmt<'s>) -> Rewritten<Stmt<'s>> {
        Ok(match statement {
            Stmt::Template(template) => {
                self.scopes.assign("self");
                let children = self.body(&template.children)?;
                Stmt::Template(Spanned::new(ast::Template { children }, template.span()))
            }
            Stmt::EmitExpr(emit) => {
                let expr = self.expression(&emit.expr)?;
                Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, emit.span()))
            }
            Stmt::EmitRaw(raw) => self.raw(raw.raw, raw.span()),
            _ if self.language == Language::Expressions => {
                let message = "statements (`{% … %}`) are not allowed here; use `{{ … }}`";
                return Err(Error::new(ErrorKind::SyntaxError, message));
            }
            Stmt::ForLoop(it) => Stmt::ForLoop(Spanned::new(self.for_loop(it)?, it.span())),
            Stmt::IfCond(it) => {
                let expr = self.expression(&it.expr)?;
                let true_body = self.scoped_body(&it.true_body)?;
                let false_body = self.scoped_body(&it.false_body)?;
                let made = ast::IfCond { expr, true_body, false_body };
                Stmt::IfCond(Spanned::new(made, it.span()))
            }
            Stmt::WithBlock(it) => {
                self.scopes.push();
                let mut assignments = Vec::new();
                for (target, value) in &it.assignments {
                    let value = self.expression(value)?;
                    assignments.push((self.target(target, false)?, value));
                }
                let body = self.body(&it.body)?;
                self.scopes.pop();
                Stmt::WithBlock(Spanned::new(ast::WithBlock { assignments, body }, it.span()))
            }
            Stmt::Set(it) => {
                let expr = self.expression(&it.expr)?;
                let expr = match it.target {
                    Expr::GetAttr(_) => filter(STORE, expr, Vec::new()),
                    _ => expr,
                };
                let target = self.target(&it.target, true)?;
                Stmt::Set(Spanned::new(ast::Set { target, expr }, it.span()))
            }
            Stmt::SetBlock(it) => {
                let filter = self.optional(it.filter.as_ref())?;
                let body = self.scoped_body(&it.body)?;
                let target = self.target(&it.target, true)?;
                Stmt::SetBlock(Spanned::new(ast::SetBlock { target, filter, body }, it.span()))
            }
            Stmt::AutoEscape(it) => {
                let enabled = self.expression(&it.enabled)?;
                let body = self.scoped_body(&it.body)?;
                Stmt::AutoEscape(Spanned::new(ast::AutoEscape { enabled, body }, it.span()))
            }
            Stmt::FilterBlock(it) => {
                let filter = self.expression(&it.filter)?;
                let body = self.scoped_body(&it.body)?;
                Stmt::FilterBlock(Spanned::new(ast::FilterBlock { filter, body }, it.span()))
            }
            Stmt::Block(it) => {
                self.scopes.push();
                self.scopes.assign("super");
                let body = self.repeated_body(&it.body)?;
                self.scopes.pop();
                let made = ast::Block { name: it.name, required: it.required, body };
                Stmt::Block(Spanned::new(made, it.span()))
            }
            Stmt::Macro(it) => {
                self.scopes.assign(it.name);
                Stmt::Macro(Spanned::new(self.macro_of(it)?, it.span()))
            }
            Stmt::CallBlock(it) => {
                let call = Spanned::new(self.call(&it.call)?, it.call.span());
                let made = self.macro_of(&it.macro_decl)?;
                let macro_decl = Spanned::new(made, it.macro_decl.span());
                Stmt::CallBlock(Spanned::new(ast::CallBlock { call, macro_decl }, it.span()))
            }
            Stmt::Do(it) => {
                let call = Spanned::new(self.call(&it.call)?, it.call.span());
                Stmt::Do(Spanned::new(ast::Do { call }, it.span()))
            }
            // There are no other templates, so these fail when they run.
            Stmt::Include(it) => {
                let name = self.expression(&it.name)?;
                let made = ast::Include { name, ignore_missing: it.ignore_missing };
                Stmt::Include(Spanned::new(made, it.span()))
            }
            Stmt::Extends(it) => {
                let name = self.expression(&it.name)?;
                Stmt::Extends(Spanned::new(ast::Extends { name }, it.span()))
            }
            Stmt::Import(it) => {
                let expr = self.expression(&it.expr)?;
                let name = self.target(&it.name, false)?;
                Stmt::Import(Spanned::new(ast::Import { expr, name }, it.span()))
            }
            Stmt::FromImport(it) => {
                let expr = self.expression(&it.expr)?;
                let mut names = Vec::new();
                for (name, alias) in &it.names {
                    let alias =
                        alias.as_ref().map(|alias| self.target(alias, false)).transpose()?;
                    names.push((self.target(name, false)?, alias));
                }
                Stmt::FromImport(Spanned::new(ast::FromImport { expr, names }, it.span()))
            }
        })
    }

    /// Text that is written more than once counts each time, as a value.
    fn raw(&self, raw: &'s str, span: Span) -> Stmt<'s> {
        if !self.repeats {
            return Stmt::EmitRaw(Spanned::new(ast::EmitRaw { raw }, span));
        }
        let value = Value::from_safe_string(raw.to_owned());
        let expr = Expr::Const(Spanned::new(ast::Const { value }, span));
        Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, span))
    }

    fn body(&mut self, body: &[Stmt<'s>]) -> Rewritten<Vec<Stmt<'s>>> {
        body.iter().map(|statement| self.statement(statement)).collect()
    }

    fn scoped_body(&mut self, body: &[Stmt<'s>]) -> Rewritten<Vec<Stmt<'s>>> {
        self.scopes.push();
        let made = self.body(body);
        self.scopes.pop();
        made
    }

    fn repeated_body(&mut self, body: &[Stmt<'s>]) -> Rewritten<Vec<Stmt<'s>>> {
        let before = std::mem::replace(&mut self.repeats, true);
        let made = self.body(body);
        self.repeats = before;
        made
    }

    fn for_loop(&mut self, it: &ast::ForLoop<'s>) -> Rewritten<ast::ForLoop<'s>> {
        self.scopes.push();
        let iter = self.expression(&it.iter)?;
        self.scopes.assign("loop");
        let target = self.target(&it.target, false)?;
        let filter_expr = self.optional(it.filter_expr.as_ref())?;
        let body = self.repeated_body(&it.body)?;
        self.scopes.pop();
        let else_body = self.scoped_body(&it.else_body)?;
        let recursive = it.recursive;
        Ok(ast::ForLoop { target, iter, filter_expr, recursive, body, else_body })
    }

    fn macro_of(&mut self, it: &ast::Macro<'s>) -> Rewritten<ast::Macro<'s>> {
        self.scopes.push();
        self.scopes.assign("caller");
        let args = it.args.iter().map(|arg| self.target(arg, false)).collect::<Rewritten<_>>()?;
        let defaults = self.expressions(&it.defaults)?;
        let body = self.repeated_body(&it.body)?;
        self.scopes.pop();
        Ok(ast::Macro { name: it.name, args, defaults, body })
    }

    /// What is assigned to. Only `set` changes a namespace.
    fn target(&mut self, target: &Expr<'s>, of_set: bool) -> Rewritten<Expr<'s>> {
        Ok(match target {
            Expr::Var(var) => {
                self.scopes.assign(var.id);
                Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span()))
            }
            Expr::List(list) => {
                let items = list.items.iter().map(|item| self.target(item, of_set));
                let items = items.collect::<Rewritten<_>>()?;
                Expr::List(Spanned::new(ast::List { items }, list.span()))
            }
            Expr::GetAttr(attr) if of_set => {
                let expr = self.expression(&attr.expr)?;
                Expr::GetAttr(Spanned::new(ast::GetAttr { expr, name: attr.name }, attr.span()))
            }
            _ => {
                let message = "only `set` can assign to something that is not a name";
                return Err(Error::new(ErrorKind::SyntaxError, message));
            }
        })
    }

    fn optional(&mut self, expression: Option<&Expr<'s>>) -> Rewritten<Option<Expr<'s>>> {
        expression.map(|expression| self.expression(expression)).transpose()
    }

    fn expressions(&mut self, expressions: &[Expr<'s>]) -> Rewritten<Vec<Expr<'s>>> {
        expressions.iter().map(|expression| self.expression(expression)).collect()
    }

    fn expression(&mut self, expression: &Expr<'s>) -> Rewritten<Expr<'s>> {
        match expression {
            // Lists and maps within a literal are part of its value.
            Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => {
                let literal = self.literal(expression)?;
                Ok(filter(LITERAL, literal, Vec::new()))
            }
            _ => self.literal(expression),
        }
    }

    fn literals(&mut self, expressions: &[Expr<'s>]) -> Rewritten<Vec<Expr<'s>>> {
        expressions.iter().map(|expression| self.literal(expression)).collect()
    }

    fn literal(&mut self, expression: &Expr<'s>) -> Rewritten<Expr<'s>> {
        Ok(match expression {
            Expr::List(list) => {
                let items = self.literals(&list.items)?;
                Expr::List(Spanned::new(ast::List { items }, list.span()))
            }
            Expr::Tuple(tuple) => {
                let items = self.literals(&tuple.items)?;
                Expr::Tuple(Spanned::new(ast::Tuple { items }, tuple.span()))
            }
            Expr::Map(map) => {
                let keys = self.literals(&map.keys)?;
                let values = self.literals(&map.values)?;
                Expr::Map(Spanned::new(ast::Map { keys, values }, map.span()))
            }
            Expr::Var(var) => {
                self.scopes.read(var.id);
                Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span()))
            }
            Expr::Const(constant) => {
                let value = constant.value.clone();
                Expr::Const(Spanned::new(ast::Const { value }, constant.span()))
            }
            Expr::GetAttr(attr) => {
                let expr = if self.scopes.read_path(expression) {
                    copy_path(&attr.expr)
                } else {
                    self.expression(&attr.expr)?
                };
                Expr::GetAttr(Spanned::new(ast::GetAttr { expr, name: attr.name }, attr.span()))
            }
            Expr::GetItem(item) => {
                let expr = read(self.expression(&item.expr)?);
                let subscript_expr = self.expression(&item.subscript_expr)?;
                Expr::GetItem(Spanned::new(ast::GetItem { expr, subscript_expr }, item.span()))
            }
            Expr::Slice(slice) => {
                let expr = self.expression(&slice.expr)?;
                let mut bounds = Vec::new();
                for bound in [&slice.start, &slice.stop, &slice.step] {
                    let bound = self.optional(bound.as_ref())?;
                    bounds.push(ast::CallArg::Pos(bound.unwrap_or_else(|| none(slice.span()))));
                }
                filter(SLICE, expr, bounds)
            }
            Expr::UnaryOp(it) => {
                #[expect(clippy::needless_match, reason = "the kind cannot be copied")]
                let op = match it.op {
                    ast::UnaryOpKind::Not => ast::UnaryOpKind::Not,
                    ast::UnaryOpKind::Neg => ast::UnaryOpKind::Neg,
                };
                let expr = self.expression(&it.expr)?;
                Expr::UnaryOp(Spanned::new(ast::UnaryOp { op, expr }, it.span()))
            }
            Expr::BinOp(it) => self.operator(it)?,
            Expr::Compare(it) => {
                let needle = |operand| filter(NEEDLE, operand, Vec::new());
                let expr = needle(self.expression(&it.expr)?);
                let mut ops = Vec::new();
                for op in &it.ops {
                    let expr = needle(self.expression(&op.expr)?);
                    ops.push(ast::CompareOp { op: op.op, expr });
                }
                Expr::Compare(Spanned::new(ast::Compare { expr, ops }, it.span()))
            }
            Expr::IfExpr(it) => {
                let test_expr = self.expression(&it.test_expr)?;
                let true_expr = self.expression(&it.true_expr)?;
                let false_expr = self.optional(it.false_expr.as_ref())?;
                let made = ast::IfExpr { test_expr, true_expr, false_expr };
                Expr::IfExpr(Spanned::new(made, it.span()))
            }
            Expr::Filter(it) => {
                let expr = self.optional(it.expr.as_ref())?;
                let args = self.arguments(&it.args)?;
                Expr::Filter(Spanned::new(ast::Filter { name: it.name, expr, args }, it.span()))
            }
            Expr::Test(it) => {
                let expr = self.expression(&it.expr)?;
                let args = self.arguments(&it.args)?;
                Expr::Test(Spanned::new(ast::Test { name: it.name, expr, args }, it.span()))
            }
            Expr::Call(it) => Expr::Call(Spanned::new(self.call(it)?, it.span())),
        })
    }

    fn operator(&mut self, it: &Spanned<ast::BinOp<'s>>) -> Rewritten<Expr<'s>> {
        use ast::BinOpKind::{
            Add, Concat, Div, Eq, FloorDiv, Gt, Gte, In, Lt, Lte, Mul, Ne, Pow, Rem, ScAnd, ScOr,
            Sub,
        };
        let left = self.expression(&it.left)?;
        let right = self.expression(&it.right)?;
        let bounded = |name: &'static str, left, right| {
            let right = vec![ast::CallArg::Pos(right)];
            let made = ast::Filter { name, expr: Some(left), args: right };
            Expr::Filter(Spanned::new(made, it.span()))
        };
        let (left, right) = match it.op {
            Add => return Ok(bounded(ADD, left, right)),
            Mul => return Ok(bounded(MULTIPLY, left, right)),
            Concat => return Ok(bounded(CONCATENATE, left, right)),
            In => (filter(NEEDLE, left, Vec::new()), read(right)),
            Eq | Ne | Lt | Lte | Gt | Gte => (read(left), read(right)),
            // Of numbers alone, or not read.
            Sub | Div | FloorDiv | Rem | Pow | ScAnd | ScOr => (left, right),
        };
        Ok(Expr::BinOp(Spanned::new(ast::BinOp { op: it.op, left, right }, it.span())))
    }

    fn call(&mut self, call: &ast::Call<'s>) -> Rewritten<ast::Call<'s>> {
        let expr = self.expression(&call.expr)?;
        let mut args = self.arguments(&call.args)?;
        // `loop.changed` compares its arguments with those of the round before.
        if matches!(call.expr, Expr::GetAttr(_)) {
            let counted = args.into_iter().map(|argument| match argument {
                ast::CallArg::Pos(value) => ast::CallArg::Pos(read(value)),
                other => other,
            });
            args = counted.collect();
        }
        Ok(ast::Call { expr, args })
    }

    fn arguments(&mut self, arguments: &[ast::CallArg<'s>]) -> Rewritten<Vec<ast::CallArg<'s>>> {
        use ast::CallArg::{Kwarg, KwargSplat, Pos, PosSplat};
        let made = arguments.iter().map(|argument| {
            Ok(match argument {
                Pos(value) => Pos(self.expression(value)?),
                Kwarg(name, value) => Kwarg(name, self.expression(value)?),
                PosSplat(value) => PosSplat(filter(UNPACK, self.expression(value)?, Vec::new())),
                KwargSplat(value) => {
                    KwargSplat(filter(UNPACK, self.expression(value)?, Vec::new()))
                }
            })
        });
        made.collect()
    }
}

/// An expression whose value is counted when it is read.
fn read<'s>(expression: Expr<'s>) -> Expr<'s> {
    match expression {
        Expr::Const(_) => expression,
        other => filter(READ, other, Vec::new()),
    }
}

fn filter<'s>(name: &'static str, value: Expr<'s>, args: Vec<ast::CallArg<'s>>) -> Expr<'s> {
    let span = value.span();
    Expr::Filter(Spanned::new(ast::Filter { name, expr: Some(value), args }, span))
}

fn none<'s>(span: Span) -> Expr<'s> {
    Expr::Const(Spanned::new(ast::Const { value: Value::from(()) }, span))
}

/// Copies a path of names.
fn copy_path<'s>(path: &Expr<'s>) -> Expr<'s> {
    match path {
        Expr::GetAttr(attr) => {
            let expr = copy_path(&attr.expr);
            Expr::GetAttr(Spanned::new(ast::GetAttr { expr, name: attr.name }, attr.span()))
        }
        Expr::Var(var) => Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span())),
        other => none(other.span()),
    }
}
