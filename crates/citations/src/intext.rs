//! Citations in the body of a text.

mod author_year;
mod citation;
mod index;
mod mask;
mod names;
mod numeric;
mod pages;

use std::collections::BTreeSet;

pub(super) use citation::{InTextCitation, Kind};
pub(super) use index::{Entry, Index};

use super::layout::Part;
use super::model::Style;
use super::parse::Form;

/// More citations are not listed.
const MAX_CITATIONS: usize = 50_000;

/// All citations of a body.
#[derive(Debug, Default)]
pub(super) struct Citations {
    pub(super) style: Style,
    /// By place, then by reference.
    pub(super) found: Vec<InTextCitation>,
    /// References that are named without a marker, as MLA allows.
    pub(super) named: BTreeSet<usize>,
    /// Whether some were left out.
    pub(super) truncated: bool,
}

/// Finds the citations of a text and the references that they name.
pub(super) fn find(text: &str, body: &[Part], index: &Index<'_>, style: Style) -> Citations {
    let mut found = Vec::new();
    let masked = mask::mask(text, body);
    for part in body {
        if found.len() > MAX_CITATIONS {
            break;
        }
        let (raw, plain) = (&text[part.range.clone()], &masked[part.range.clone()]);
        numeric::find(raw, plain, part.range.start, index, &mut found);
        author_year::find(plain, part.range.start, index, &mut found);
    }
    let style = choose(style, &found, index);
    let mut named = BTreeSet::new();
    let dated =
        found.iter().any(|found| found.kind == Kind::AuthorYear && found.reference.is_some());
    let undated = index.undated();
    for part in body {
        let plain = &masked[part.range.clone()];
        if style == Style::Mla {
            pages::find(plain, part.range.start, index, &mut found);
        }
        if style == Style::Mla && !dated || style != Style::Numeric && !undated.is_empty() {
            pages::named(plain, index, &mut named);
        }
    }
    if style != Style::Mla || dated {
        // A work without a year can only be cited by its author.
        named.retain(|at| undated.contains(at));
    }
    found.retain(|citation| keep(citation, style, index));
    settle_certainty(&mut found);
    found.sort_by(|a, b| {
        (a.range.start, a.range.end, a.reference).cmp(&(b.range.start, b.range.end, b.reference))
    });
    found.dedup_by(|b, a| {
        a.range.start == b.range.start
            && a.range.end == b.range.end
            && a.reference == b.reference
            && a.shown == b.shown
    });
    let truncated = found.len() > MAX_CITATIONS;
    found.truncate(MAX_CITATIONS);
    Citations { style, found, named, truncated }
}

/// The style of the text, if it was not given.
fn choose(style: Style, found: &[InTextCitation], index: &Index<'_>) -> Style {
    if style != Style::Auto {
        return style;
    }
    let count = |kind: &[Kind], linked: bool| {
        found
            .iter()
            .filter(|citation| {
                kind.contains(&citation.kind) && (citation.reference.is_some() || !linked)
            })
            .count()
    };
    let numbers = count(&[Kind::Number, Kind::Footnote], true);
    let years = count(&[Kind::AuthorYear], true);
    if numbers > 0 && numbers >= years {
        return Style::Numeric;
    }
    if years > 0 {
        return if index.count(Form::Mla) > index.count(Form::Apa) && years * 4 < index.len() {
            Style::Mla
        } else {
            Style::Apa
        };
    }
    if index.len() == 0 {
        return if count(&[Kind::Number, Kind::Footnote], false) > 0 {
            Style::Numeric
        } else {
            Style::Apa
        };
    }
    if index.count(Form::Mla) > index.count(Form::Apa)
        && !(index.has_labels() && index.count(Form::Mla) <= index.count(Form::Other))
    {
        return Style::Mla;
    }
    if index.count(Form::Apa) > 0 && !index.has_labels() {
        return Style::Apa;
    }
    if index.has_labels() && (index.count(Form::Apa) == 0 || count(&[Kind::Number], false) > 0) {
        Style::Numeric
    } else {
        Style::Apa
    }
}

/// A marker of another style counts only if it names a reference.
fn keep(citation: &InTextCitation, style: Style, index: &Index<'_>) -> bool {
    if citation.reference.is_some() {
        return true;
    }
    match citation.kind {
        Kind::Footnote => true,
        Kind::Number => {
            style == Style::Numeric || index.has_labels() && index.len() > 0 && style != Style::Mla
        }
        Kind::AuthorYear => style == Style::Apa,
        Kind::Page => style == Style::Mla,
    }
}

/// `(Doe 2020)` without a comma is a citation in texts that cite so, and may be a place and a year in others.
fn settle_certainty(found: &mut [InTextCitation]) {
    let plain = found.iter().any(|citation| citation.reference.is_some() && !citation.certain);
    for citation in found.iter_mut() {
        citation.certain |= plain;
    }
}
