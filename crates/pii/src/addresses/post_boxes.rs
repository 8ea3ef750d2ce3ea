//! Post boxes and military addresses.

use super::{Address, tail};
use crate::tokens::Token;

/// `P.O. Box 104`, `PSC 79, Box 12 APO AA 69974`, `USNS Name FPO AE 12345`.
pub(super) fn post_box(tokens: &[Token], at: usize) -> Option<Address> {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.lower.as_str());
    let number = |index: usize| tokens.get(index).is_some_and(Token::is_number);
    let done = |end, confidence| Some(Address { end, town: None, confidence, reason: "post box" });
    let mut next = at;
    match word(at) {
        "p" if word(at + 1) == "." && word(at + 2) == "o" => {
            next = at + 3 + usize::from(word(at + 3) == ".")
        }
        "po" | "postfach" | "apartado" | "postbus" => next = at + 1,
        "psc" | "unit" | "cmr" if number(at + 1) => {
            next = at + 2 + usize::from(word(at + 2) == ",")
        }
        "uss" | "usns" | "usnv" | "uscgc" | "usnumber" => {
            let end = (at + 1..(at + 6).min(tokens.len())).find(|index| word(*index) == "fpo")?;
            return done(military(tokens, end)?, 0.85);
        }
        "box" if number(at + 1) => {}
        _ => return None,
    }
    if word(next) == "box" && number(next + 1) {
        let mut end = next + 2;
        let skip = end
            + tokens[end..]
                .iter()
                .take_while(|token| token.is_break() || token.is_mark(','))
                .count()
                .min(2);
        if let Some(military) = military(tokens, skip) {
            end = military;
        } else if next == at {
            return done(end, 0.45);
        } else if let Some(tail) = tail(tokens, end).0 {
            end = tail;
        }
        return done(end, 0.85);
    }
    (matches!(word(at), "postfach" | "apartado" | "postbus") && number(next)).then_some(Address {
        end: next + 1,
        town: None,
        confidence: 0.8,
        reason: "post box",
    })
}

/// `APO AE 12345`.
fn military(tokens: &[Token], at: usize) -> Option<usize> {
    let office = ["apo", "fpo", "dpo"].contains(&tokens.get(at)?.lower.as_str());
    let area = ["aa", "ae", "ap"].contains(&tokens.get(at + 1)?.lower.as_str());
    (office && area && tokens.get(at + 2)?.is_number()).then_some(at + 3)
}
