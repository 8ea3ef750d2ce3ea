//! Whether two texts with the same words say the reverse: `A causes B` and `B causes A`.

use std::collections::HashMap;

use super::reading::{Kind, Reading, Token};

/// More shared words than this are not compared.
const MAX_SHARED: usize = 48;

/// Function words around which the order matters.
const PIVOTS: [&str; 9] = ["after", "against", "before", "by", "from", "into", "on", "than", "to"];

/// Words around which the order does not matter, by their shorter stems.
const SYMMETRIC: [&str; 12] = [
    "associat", "associ", "compar", "compare", "connect", "correl", "differ", "interact", "link",
    "relat", "similar", "versus",
];

/// Whether a word that both texts have once divides the same words the other way round.
pub(super) fn is_swapped(a: &Reading, b: &Reading) -> bool {
    let (in_a, in_b) = (places(a), places(b));
    let mut shared: Vec<Shared> = in_a
        .iter()
        .filter_map(|(key, a)| {
            let b = in_b.get(key)?;
            Some(Shared { a: a.first, b: b.first, once: a.once && b.once })
        })
        .collect();
    shared.sort_unstable_by_key(|place| place.a);
    shared.truncate(MAX_SHARED);
    let says = |place: &&Shared| matches!(a.tokens[place.a].kind, Kind::Name | Kind::Word);
    let crosses = |pivot: &Shared| {
        let (mut to_right, mut to_left) = (false, false);
        for word in shared.iter().filter(says) {
            to_right |= word.a < pivot.a && word.b > pivot.b;
            to_left |= word.a > pivot.a && word.b < pivot.b;
        }
        to_right && to_left
    };
    shared.iter().any(|pivot| {
        pivot.once
            && is_pivot(&a.tokens, pivot.a)
            && is_pivot(&b.tokens, pivot.b)
            && is_passive(&a.tokens, pivot.a) == is_passive(&b.tokens, pivot.b)
            && crosses(pivot)
    })
}

/// The first places of a word that both texts have.
struct Shared {
    a: usize,
    b: usize,
    once: bool,
}

struct FirstOccurrence {
    first: usize,
    once: bool,
}

fn places(reading: &Reading) -> HashMap<&str, FirstOccurrence> {
    let mut places: HashMap<&str, FirstOccurrence> = HashMap::new();
    for (at, token) in reading.tokens.iter().enumerate() {
        let pivot = token.kind == Kind::Function && PIVOTS.contains(&token.key.as_str());
        if pivot || token.is_content() {
            places
                .entry(token.wide.as_str())
                .and_modify(|place| place.once = false)
                .or_insert(FirstOccurrence { first: at, once: true });
        }
    }
    places
}

fn is_pivot(tokens: &[Token], at: usize) -> bool {
    match tokens[at].kind {
        Kind::Function => true,
        Kind::Word | Kind::Light => {
            // The members of a list have any order.
            let listed = |token: Option<&Token>| {
                token.is_some_and(|token| {
                    token.kind == Kind::Break || matches!(token.key.as_str(), "and" | "or")
                })
            };
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            !SYMMETRIC.contains(&tokens[at].wide.as_str())
                && !listed(before)
                && !listed(tokens.get(at + 1))
        }
        _ => false,
    }
}

/// Whether a verb seems to be in the passive: a form of `be` before it, or `by` after it.
fn is_passive(tokens: &[Token], at: usize) -> bool {
    let is = |token: &Token, words: &[&str]| {
        token.kind == Kind::Function && words.contains(&token.key.as_str())
    };
    let be = ["are", "be", "been", "being", "is", "was", "were"];
    let clause = tokens[..at].iter().rev().take_while(|token| token.kind != Kind::Break);
    tokens[at].kind != Kind::Function
        && (clause.take(12).any(|token| is(token, &be))
            || tokens.get(at + 1).is_some_and(|next| is(next, &["by"])))
}
