//! Finds the references in templates and expressions before anything runs. The template engine has no list of them,
//! and it reads the `-` in `tasks.task-1` as a minus sign.

use std::collections::BTreeSet;
use std::ops::Range;

/// A template or an expression, with what it refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scan {
    /// The text for the template engine: task names that it cannot parse are in brackets.
    pub(crate) source: String,
    pub(crate) references: Vec<Reference>,
    pub(crate) prompts: Vec<PromptUse>,
    pub(crate) filters: BTreeSet<String>,
    pub(crate) tests: BTreeSet<String>,
    /// Whether there is a `{% … %}`, which only operators may write.
    pub(crate) has_statements: bool,
    /// What is between the braces, if the text is exactly one `{{ … }}`.
    pub(crate) whole: Option<String>,
}

/// A path such as `tasks.a.output.files[0]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) root: Root,
    pub(crate) steps: Vec<Step>,
    /// Whether the expression is nothing but this path.
    pub(crate) alone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    Tasks,
    Input,
    Item,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Field(String),
    Index(usize),
}

/// A call of `prompt`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PromptUse {
    /// The name, if it is a plain text.
    pub(crate) name: Option<String>,
    /// The place of the name between its quotes, in the text as it was written.
    pub(crate) place: Range<usize>,
}

impl Root {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Input => "input",
            Self::Item => "item",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Tasks, Self::Input, Self::Item].into_iter().find(|root| root.name() == name)
    }
}

impl Reference {
    /// The task that it names.
    pub(crate) fn task(&self) -> Option<&str> {
        match (self.root, self.steps.first()) {
            (Root::Tasks, Some(Step::Field(id))) => Some(id),
            _ => None,
        }
    }

    /// The path up to and including a number of steps, as it can be written.
    pub(crate) fn path(&self, steps: usize) -> String {
        let mut path = self.root.name().to_owned();
        for step in self.steps.iter().take(steps) {
            match step {
                Step::Index(at) => path.push_str(&format!("[{at}]")),
                Step::Field(name) if is_word(name) => path.push_str(&format!(".{name}")),
                Step::Field(name) if path == "tasks" => path.push_str(&format!(".{name}")),
                Step::Field(name) => path.push_str(&format!("[{name:?}]")),
            }
        }
        path
    }
}

fn is_word(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
}

/// Whether a text is a template, and not only itself.
pub(crate) fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|start| text.contains(start))
}

/// Reads a text with `{{ … }}` in it.
pub(crate) fn scan_template(text: &str) -> Scan {
    let mut scan = Scan::default();
    let mut at = 0;
    let mut whole = None;
    while let Some(start) = find_start(text, at) {
        scan.source.push_str(&text[at..start]);
        if text[start..].starts_with("{#") {
            let end = text[start..].find("#}").map_or(text.len(), |end| start + end + 2);
            scan.source.push_str(&text[start..end]);
            at = end;
            continue;
        }
        let of_statement = text[start..].starts_with("{%");
        let close = if of_statement { "%}" } else { "}}" };
        let (tokens, end) = lex(text, start + 2, Some(close));
        let end = end.min(text.len());
        scan.source.push_str(&text[start..start + 2]);
        let code_start = scan.source.len();
        scan.read(text, &tokens, start + 2..end);
        scan.has_statements |= of_statement;
        if !of_statement && start == 0 && end + 2 == text.len() {
            whole = Some(scan.source[code_start..].to_owned());
        }
        at = (end + 2).min(text.len());
        scan.source.push_str(&text[end..at]);
    }
    scan.source.push_str(&text[at..]);
    // Signs that trim white space are no part of the expression.
    scan.whole = whole.map(|code| {
        let code = code.strip_prefix(['-', '+']).unwrap_or(&code);
        let code = code.strip_suffix('-').unwrap_or(code);
        code.trim().to_owned()
    });
    scan
}

/// Reads an expression without braces.
pub(crate) fn scan_expression(text: &str) -> Scan {
    let mut scan = Scan::default();
    let (tokens, end) = lex(text, 0, None);
    scan.read(text, &tokens, 0..end);
    scan.whole = Some(scan.source.clone());
    scan
}

impl Scan {
    /// Takes one stretch of code, and copies it to the source.
    fn read(&mut self, text: &str, tokens: &[Token<'_>], code: Range<usize>) {
        let mut copied = code.start;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let follows = |sign: char| tokens.get(at + 1).is_some_and(|next| next.is(sign));
            let after_sign = |sign: char| before.is_some_and(|before| before.is(sign));
            let Kind::Name(name) = token.kind else {
                at += 1;
                continue;
            };
            let is_keyword_argument =
                follows('=') && !tokens.get(at + 2).is_some_and(|next| next.is('='));
            if after_sign('|') {
                self.filters.insert(name.to_owned());
            } else if name == "is" {
                let mut tested = tokens[at + 1..].iter().filter_map(Token::name);
                let tested = tested.find(|name| *name != "not");
                self.tests.extend(tested.map(ToOwned::to_owned));
            } else if after_sign('.') || is_keyword_argument {
                // A field, or the name of an argument.
            } else if name == "prompt" && follows('(') {
                let first = tokens.get(at + 2);
                self.prompts.push(match first {
                    Some(Token { kind: Kind::Text(Some(name)), place }) => PromptUse {
                        name: Some((*name).to_owned()),
                        place: place.start + 1..place.end - 1,
                    },
                    _ => PromptUse { name: None, place: token.place.clone() },
                });
            } else if let Some(root) = Root::of(name) {
                let (steps, end) = read_steps(&tokens[at + 1..]);
                let after = at + 1 + end;
                if let (Root::Tasks, Some(Step::Field(id))) = (root, steps.first())
                    && tokens[at + 1].is('.')
                    && !is_word(id)
                {
                    let place = tokens[at + 1].place.start..tokens[at + 2].place.end;
                    self.source.push_str(&text[copied..place.start]);
                    self.source.push_str(&format!("[\"{id}\"]"));
                    copied = place.end;
                }
                let alone = at == 0 && after == tokens.len();
                self.references.push(Reference { root, steps, alone });
                at = after;
                continue;
            }
            at += 1;
        }
        self.source.push_str(&text[copied..code.end]);
    }
}

/// The steps of a path, and how many tokens they take.
fn read_steps(tokens: &[Token<'_>]) -> (Vec<Step>, usize) {
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let kinds = [0, 1, 2].map(|next| tokens.get(at + next).map(|token| &token.kind));
        let (step, taken) = match kinds {
            [Some(Kind::Sign('.')), Some(Kind::Name(name)), next] => {
                if matches!(next, Some(Kind::Sign('('))) {
                    return (steps, at);
                }
                (Step::Field((*name).to_owned()), 2)
            }
            [Some(Kind::Sign('.')), Some(Kind::Number(at)), _] => (Step::Index(*at), 2),
            [Some(Kind::Sign('[')), Some(Kind::Number(at)), Some(Kind::Sign(']'))] => {
                (Step::Index(*at), 3)
            }
            [Some(Kind::Sign('[')), Some(Kind::Text(Some(name))), Some(Kind::Sign(']'))] => {
                (Step::Field((*name).to_owned()), 3)
            }
            _ => return (steps, at),
        };
        steps.push(step);
        at += taken;
    }
}

fn find_start(text: &str, from: usize) -> Option<usize> {
    let is_start = |at: &usize| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#'));
    text[from..].match_indices('{').map(|(at, _)| from + at).find(is_start)
}

#[derive(Clone, Debug, PartialEq)]
struct Token<'a> {
    kind: Kind<'a>,
    place: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind<'a> {
    Name(&'a str),
    /// What is between the quotes, unless it has escapes.
    Text(Option<&'a str>),
    /// A whole number; others are signs here.
    Number(usize),
    Sign(char),
}

impl<'a> Token<'a> {
    fn is(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    fn name(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// The tokens of a stretch of code, and where it ends: before `close`, or with the text.
fn lex<'a>(text: &'a str, from: usize, close: Option<&str>) -> (Vec<Token<'a>>, usize) {
    let mut tokens: Vec<Token<'a>> = Vec::new();
    let mut at = from;
    let mut open: i32 = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let trims =
            |sign: char| first == sign && close.is_some_and(|close| rest[1..].starts_with(close));
        if let Some(close) = close
            && open <= 0
            && (rest.starts_with(close) || trims('-') || trims('+'))
        {
            return (tokens, if rest.starts_with(close) { at } else { at + 1 });
        }
        let of_task =
            matches!(
                tokens.as_slice(),
                [.., Token { kind: Kind::Name("tasks"), .. }, Token { kind: Kind::Sign('.'), .. }]
            ) && !matches!(tokens.as_slice(), [.., Token { kind: Kind::Sign('.'), .. }, _, _]);
        let (kind, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if of_task && is_of_id(first) {
            let mut length = rest.find(|next| !is_of_id(next)).unwrap_or(rest.len());
            let ends = close.is_some_and(|close| rest[length..].starts_with(close));
            if ends && rest[..length].ends_with('-') {
                length -= 1;
            }
            (Kind::Name(&rest[..length]), length.max(1))
        } else if first.is_alphabetic() || first == '_' {
            let of_word = |next: char| next.is_alphanumeric() || next == '_';
            let length = rest.find(|next| !of_word(next)).unwrap_or(rest.len());
            (Kind::Name(&rest[..length]), length)
        } else if first.is_ascii_digit() {
            let length = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
            match rest[..length].parse() {
                Ok(number) => (Kind::Number(number), length),
                Err(_) => (Kind::Sign('0'), length),
            }
        } else if first == '"' || first == '\'' {
            let length = length_of_text(rest, first);
            let inner = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
            (Kind::Text((!inner.contains('\\')).then_some(inner)), length)
        } else {
            match first {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                _ => {}
            }
            (Kind::Sign(first), first.len_utf8())
        };
        tokens.push(Token { kind, place: at..at + length });
        at += length;
    }
    (tokens, text.len())
}

fn is_of_id(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

/// The length of a quoted text, with its quotes.
fn length_of_text(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            return at + 1;
        }
    }
    rest.len()
}
