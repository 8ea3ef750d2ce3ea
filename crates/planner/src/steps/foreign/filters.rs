//! Negations that describe a thing instead of forbidding something: `les fichiers qui ne sont pas lus`.

use super::Sentence;
use super::lists::{
    ADJECTIVE_ENDINGS, ARTICLES, CONJUNCTIONS, FILLERS, FINITE, LINKS, MODALS, PARTICIPLE_ENDINGS,
    RELATIVES, TO, WANTS, WHICH, WHICH_BEGINNINGS,
};

impl Sentence<'_> {
    /// Whether a negation is part of the description of a thing. It goes from `first`, the `ne` of French, to `last`.
    pub(super) fn is_filter(&self, first: usize, last: usize) -> bool {
        let start = self.conjunction(first, last).unwrap_or(self.clause(last).start);
        let relative = (start..first).rev().find(|&at| self.is_relative(at));
        if let Some(relative) = relative {
            return !self.is_requested(relative) && !self.is_main_verb(relative, first, last);
        }
        self.is_article_relative(first, last) || self.is_adjective(last)
    }

    /// The conjunction where the clause of a negation starts although it starts none elsewhere: `os arquivos que estão
    /// aqui e não os apague`.
    pub(super) fn own_start(&self, first: usize, last: usize) -> Option<usize> {
        let conjunction = self.conjunction(first, last)?;
        let follows_relative =
            || (self.clause(last).start..conjunction).any(|at| self.is_relative(at));
        // `Os arquivos que estão aqui e ali não devem ser apagados`: the noun before is the subject.
        let has_modal = || (first - 1..=last + 1).any(|at| MODALS.contains(&self.word(at)));
        (conjunction + 1 == first || follows_relative() && !has_modal()).then_some(conjunction)
    }

    /// The last conjunction before a negation, unless what follows goes on with the description of a thing.
    fn conjunction(&self, first: usize, last: usize) -> Option<usize> {
        let is_conjunction = |at: &usize| {
            let word = self.word(*at);
            // Elsewhere, `i` is an article or a preposition.
            CONJUNCTIONS.contains(&word) || word == "i" && self.word(last) == "nie"
        };
        let conjunction = (self.clause(last).start..first).rev().find(is_conjunction)?;
        let links = |at: usize| {
            LINKS.contains(&self.verb(at)) && !TO.contains(&self.word(last.max(at) + 1))
        };
        (!(conjunction + 1..=last + 1).any(links)).then_some(conjunction)
    }

    /// Whether a clause that starts at a word describes the noun before it.
    pub(super) fn opens_relative(&self, place: usize) -> bool {
        let clause = self.clause(place);
        self.tokens[place].after_comma
            && !self.tokens[place].after_stop
            && (self.is_relative(place)
                || ARTICLES.contains(&self.word(place)) && self.ends_finite(clause.end))
    }

    fn is_relative(&self, place: usize) -> bool {
        let word = self.word(place);
        let is_which = WHICH.contains(&word)
            || WHICH_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
        // `Que no se borre` is a request: nothing before it could be described.
        let token = &self.tokens[place];
        is_which || RELATIVES.contains(&word) && place > 0 && !token.after_stop
    }

    /// Whether a relative word starts a request: `je veux que tu n'envoies pas le message`.
    fn is_requested(&self, relative: usize) -> bool {
        let can_be = matches!(self.word(relative), "que" | "qu" | "che")
            || self.word(relative).starts_with("qu'");
        let near = (0..relative).rev().take(3);
        let mut near = near.skip_while(|&at| {
            let word = self.word(at);
            !WANTS.contains(&word) && word.chars().count() <= 3
        });
        can_be && near.next().is_some_and(|at| WANTS.contains(&self.word(at)))
    }

    /// Whether the negation is that of the main clause: `les fichiers qui sont lus ne doivent pas être supprimés`.
    fn is_main_verb(&self, relative: usize, first: usize, last: usize) -> bool {
        let is_modal = |at: usize| MODALS.contains(&self.word(at));
        let is_negated = (first..=last + 1).any(is_modal) || is_modal(first - 1);
        is_negated && relative + 1 < first
    }

    /// Whether a German or Dutch article before a negation is a relative word: `die Dateien, die nicht gelesen wurden`, but
    /// not `lösche die Dateien nicht`.
    fn is_article_relative(&self, first: usize, last: usize) -> bool {
        let clause = self.clause(last);
        let is_article = |at: usize| ARTICLES.contains(&self.word(at));
        let is_finite = |at: usize| FINITE.contains(&self.word(at));
        let is_filler = |at: usize| FILLERS.contains(&self.word(at));
        let start = clause.start;
        let opens = start > 0 && self.tokens[start].after_comma && !self.tokens[start].after_stop;
        if opens && is_article(start) {
            let mut between = start + 1..first;
            // German writes nouns with capitals: one after the article is the noun of the article.
            let has_noun = |at: usize| self.tokens[at].text.starts_with(char::is_uppercase);
            let follows_noun = !self.tokens[start].after_value && has_noun(start - 1);
            return !between.clone().any(is_finite)
                && (between.clone().all(is_filler)
                    || self.ends_finite(clause.end)
                    || follows_noun && !between.any(has_noun));
        }
        // Dutch has no comma there.
        let before = (start..first).rev().find(|&at| !is_filler(at));
        before.is_some_and(|at| is_article(at) && at > start + 1)
            && (last + 1..clause.end).any(is_finite)
    }

    fn ends_finite(&self, end: usize) -> bool {
        FINITE.contains(&self.word(end - 1))
    }

    /// Whether the word after a negation is an adjective that belongs to a noun: `nicht gelesene Dateien`.
    fn is_adjective(&self, place: usize) -> bool {
        let (word, next) = (self.word(place), self.word(place + 1));
        let clause = self.clause(place);
        let noun = self.tokens.get(place + 2).filter(|_| place + 2 < clause.end);
        let before = (place > clause.start).then(|| self.word(place - 1));
        match word {
            "не" | "nie" => {
                next.chars().count() > 5 && ADJECTIVE_ENDINGS.iter().any(|end| next.ends_with(end))
            }
            "não" => {
                before.is_some_and(|before| before != "favor")
                    && PARTICIPLE_ENDINGS.iter().any(|end| next.ends_with(end))
            }
            "niet" => {
                next.starts_with("ge")
                    && ["en", "d", "de", "t", "te"].iter().any(|end| next.ends_with(end))
                    && !matches!(next, "geven" | "gebruiken")
                    && noun.is_some()
            }
            "nicht" => {
                let has_noun = noun.is_some_and(|noun| noun.text.starts_with(char::is_uppercase));
                has_noun && is_german_participle(next)
            }
            _ => false,
        }
    }
}

/// Whether a word is a German participle before a noun: `gelesene`, `verschlüsselte`, `markierten`.
fn is_german_participle(word: &str) -> bool {
    let ends = ["te", "ten", "ter", "tes", "tem", "ne", "nen", "ner", "nes", "nem"];
    let begins = ["be", "ver", "ent", "zer", "unter", "über"];
    ends.iter().any(|end| word.ends_with(end))
        && (word.chars().take(6).collect::<String>().contains("ge")
            || word.contains("iert")
            || word.len() >= 8 && begins.iter().any(|begin| word.starts_with(begin)))
}
