use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span, StructureStyle};

use super::{MAX_DEPTH, YamlError};

/// Where the values of a document are in its text, for edits that leave the rest of the text alone. Aliases and merge
/// keys are not expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The bytes of the value. A block scalar or block list may begin after its first marker. A value that is not
    /// written has the empty range after its colon.
    pub range: Range<usize>,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A scalar, unquoted and unescaped.
    Scalar(String),
    Alias,
    List,
    /// `flow` is true for `{a: b}`.
    Map {
        flow: bool,
        fields: Vec<Field>,
    },
}

/// One key of a mapping and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key, if it is a scalar.
    pub name: Option<String>,
    /// The bytes of the key.
    pub key: Range<usize>,
    /// Where the value may begin: after the colon.
    pub colon: usize,
    pub value: Outline,
}

impl Outline {
    /// Reads where the values of one document are; none if the text has nothing but comments.
    pub fn parse(text: &str) -> Result<Option<Self>, YamlError> {
        let mut options = Options::default();
        options.set_emit_comments(false);
        let parser = Parser::new_from_str_with_options(text, options);
        let mut reader = Reader { text, parser };
        loop {
            match reader.next()? {
                (Event::DocumentStart(..), _) => {
                    let (event, span) = reader.next()?;
                    let root = reader.value(&event, &span, 0)?;
                    let empty = root.range.is_empty() && matches!(root.shape, Shape::Scalar(_));
                    return Ok(Some(root).filter(|_| !empty));
                }
                (Event::StreamEnd, _) => return Ok(None),
                _ => {}
            }
        }
    }

    /// The fields of a mapping.
    pub fn fields(&self) -> &[Field] {
        match &self.shape {
            Shape::Map { fields, .. } => fields,
            _ => &[],
        }
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields().iter().find(|field| field.name.as_deref() == Some(name))
    }
}

struct Reader<'a> {
    text: &'a str,
    parser: Parser<'a, granit_parser::StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        let failed = |error: &ScanError| YamlError {
            line: Some(error.marker().line()),
            message: error.to_string(),
        };
        match self.parser.next() {
            Some(next) => next.map_err(|error| failed(&error)),
            None => Err(unexpected("the document ends too early")),
        }
    }

    /// The value that begins with an event.
    fn value(
        &mut self,
        event: &Event<'a>,
        span: &Span,
        depth: usize,
    ) -> Result<Outline, YamlError> {
        if depth > MAX_DEPTH {
            return Err(unexpected("the document is nested too deeply"));
        }
        let range = span.byte_range().ok_or_else(|| unexpected("a value has no position"))?;
        Ok(match event {
            Event::Scalar(text, style, ..) => {
                let mut end = range.end;
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    // The parser has read the indentation of the next line.
                    end = self.text[..end].trim_end_matches(' ').len();
                }
                Outline { range: range.start..end, shape: Shape::Scalar(text.to_string()) }
            }
            Event::Alias(_) => Outline { range, shape: Shape::Alias },
            Event::SequenceStart(style, ..) => {
                let mut last = range.end;
                let end = loop {
                    match self.next()? {
                        (Event::SequenceEnd, span) => break end_of(*style, &span, last),
                        (event, span) => last = self.value(&event, &span, depth + 1)?.range.end,
                    }
                };
                Outline { range: range.start..end, shape: Shape::List }
            }
            Event::MappingStart(style, ..) => {
                let mut fields: Vec<Field> = Vec::new();
                let end = loop {
                    match self.next()? {
                        (Event::MappingEnd, span) => {
                            let last =
                                fields.last().map_or(range.end, |field| field.value.range.end);
                            break end_of(*style, &span, last);
                        }
                        (event, span) => fields.push(self.field(&event, &span, depth + 1)?),
                    }
                };
                // The event of a block mapping may begin at the colon of its first key.
                let first = fields.first().map_or(range.start, |field| field.key.start);
                let flow = *style == StructureStyle::Flow;
                let start = if flow { range.start } else { first };
                Outline { range: start..end, shape: Shape::Map { flow, fields } }
            }
            _ => return Err(unexpected("the document has an unexpected form")),
        })
    }

    fn field(&mut self, event: &Event<'a>, span: &Span, depth: usize) -> Result<Field, YamlError> {
        let key = self.value(event, span, depth)?;
        let name = match key.shape {
            Shape::Scalar(name) => Some(name),
            _ => None,
        };
        let key = key.range;
        let rest = &self.text[key.end..];
        let spaces = rest.len() - rest.trim_start().len();
        let written = rest[spaces..].starts_with(':');
        let colon = key.end + if written { spaces + 1 } else { 0 };
        let (event, span) = self.next()?;
        let mut value = self.value(&event, &span, depth)?;
        if value.range.is_empty() {
            value.range = colon..colon;
        }
        Ok(Field { name, key, colon, value })
    }
}

/// A block ends with its last value, a flow collection with its bracket.
fn end_of(style: StructureStyle, end: &Span, last: usize) -> usize {
    match style {
        StructureStyle::Block => last,
        StructureStyle::Flow => end.byte_range().map_or(last, |range| range.end),
    }
}

fn unexpected(message: &str) -> YamlError {
    YamlError { line: None, message: message.to_owned() }
}
