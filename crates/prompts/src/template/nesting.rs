//! Bounds the nesting of a source before it is parsed: the engine's parser, compiler and syntax tree are recursive, and
//! their own limits leave out chains such as `not not x`, `--x`, `a.b.c` and `a + b + c`.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, ErrorKind};

/// The longest source.
const MAX_SOURCE_BYTES: usize = 512 * 1024;

/// The most operators, steps and brackets around or before a part of an expression.
const MAX_CHAIN: usize = 100;

/// The most statements around another, each `elif` counted.
const MAX_STATEMENTS: usize = 50;

pub(super) fn check(source: &str, is_expression: bool, syntax: &SyntaxConfig) -> Result<(), Error> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("a template has at most {} KiB", MAX_SOURCE_BYTES >> 10);
        return Err(Error::new(ErrorKind::SyntaxError, message));
    }
    let mut nesting = Nesting { chains: vec![0], ..Nesting::default() };
    for token in tokenize(source, is_expression, syntax.clone()) {
        // What cannot be read is reported by the parser.
        let Ok((token, span)) = token else { return Ok(()) };
        if !nesting.add(&token) {
            let message = format!(
                "line {} is nested too deeply: at most {MAX_CHAIN} operators and brackets belong together, and at most {MAX_STATEMENTS} statements",
                span.start_line
            );
            return Err(Error::new(ErrorKind::SyntaxError, message));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Nesting {
    /// The operators since the last separator, for each open bracket.
    chains: Vec<usize>,
    chain: usize,
    /// The levels that each open statement takes.
    statements: Vec<usize>,
    open: usize,
    /// The next token is the first word of a statement.
    first: bool,
    /// In `set`, which has a body if it has no `=`.
    of_set: bool,
}

impl Nesting {
    /// Takes one more token; false if that is too many.
    fn add(&mut self, token: &Token<'_>) -> bool {
        let first = std::mem::take(&mut self.first);
        match token {
            Token::VariableStart | Token::VariableEnd => self.begin(),
            Token::BlockStart => {
                self.begin();
                self.first = true;
            }
            Token::BlockEnd => {
                if std::mem::take(&mut self.of_set) {
                    self.enter();
                }
                self.begin();
            }
            Token::Ident(word) if first => self.statement(word),
            Token::Ident("and" | "or" | "not" | "is" | "in" | "if" | "else") => self.step(),
            Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => {
                self.step();
                self.chains.push(0);
            }
            Token::BracketClose | Token::ParenClose | Token::BraceClose => {
                if self.chains.len() > 1 {
                    self.chain -= self.chains.pop().unwrap_or(0);
                }
            }
            Token::Comma | Token::Colon => self.separate(),
            Token::Assign => {
                self.of_set = self.of_set && self.chains.len() > 1;
                self.separate();
            }
            Token::TemplateData(_)
            | Token::Ident(_)
            | Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_) => {}
            _ => self.step(),
        }
        self.chain <= MAX_CHAIN && self.open <= MAX_STATEMENTS
    }

    fn begin(&mut self) {
        self.chains = vec![0];
        self.chain = 0;
    }

    fn step(&mut self) {
        self.chain += 1;
        if let Some(chain) = self.chains.last_mut() {
            *chain += 1;
        }
    }

    fn separate(&mut self) {
        if let Some(chain) = self.chains.last_mut() {
            self.chain -= std::mem::take(chain);
        }
    }

    fn enter(&mut self) {
        self.statements.push(1);
        self.open += 1;
    }

    fn statement(&mut self, word: &str) {
        match word {
            "for" | "if" | "with" | "macro" | "call" | "filter" | "autoescape" | "block" => {
                self.enter();
            }
            "elif" => {
                self.open += 1;
                if let Some(levels) = self.statements.last_mut() {
                    *levels += 1;
                }
            }
            "set" => self.of_set = true,
            _ if word.starts_with("end") => self.open -= self.statements.pop().unwrap_or(0),
            _ => {}
        }
    }
}
