//! Which sources are supported by others: independent means another registrable domain.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use language::prose::Language;
use language::similarity::support;
use research::domains::registrable;
use url::Url;

use super::claims::{Claim, MAX_NOTES};
use super::report::SourceUse;
use crate::source::Source;
use notes::Note;
use notes::stems::Vocabulary;

/// The support that a note of another source must give a claim.
const LEAST_SUPPORT: f64 = 0.6;

/// How each source was used, in order.
pub(super) fn uses(
    sources: &[Source],
    claims: &[Claim],
    placed: &[usize],
    notes: &[Note],
    language: Language,
) -> Vec<SourceUse> {
    let domains: Vec<String> = sources.iter().map(domain).collect();
    let supporters = supporters(sources, claims, placed, notes, Vocabulary::new(language));
    let mut others: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for named in &supporters {
        for source in named {
            let held = others.entry(*source).or_default();
            held.extend(named.iter().map(|other| domains[*other].as_str()));
        }
    }
    sources
        .iter()
        .enumerate()
        .map(|(index, source)| {
            let held = others.get(&index);
            let own = domains[index].as_str();
            SourceUse {
                id: source.id.clone(),
                used: placed.iter().any(|claim| claims[*claim].sources.contains(&index)),
                corroborated: held.map_or(0, |held| held.iter().filter(|d| **d != own).count()),
            }
        })
        .collect()
}

/// The sources of each claim that is in the report, and those whose notes support it.
fn supporters(
    sources: &[Source],
    claims: &[Claim],
    placed: &[usize],
    notes: &[Note],
    mut vocabulary: Vocabulary,
) -> Vec<BTreeSet<usize>> {
    let by_id: HashMap<&str, usize> = sources
        .iter()
        .enumerate()
        .flat_map(|(index, source)| {
            let ids = [Some(&source.id), source.url.as_ref(), source.file_id.as_ref()];
            ids.into_iter().flatten().map(move |id| (id.as_str(), index))
        })
        .collect();
    let quotes: Vec<_> = notes
        .iter()
        .take(MAX_NOTES)
        .filter_map(|note| Some((note, *by_id.get(note.source.as_deref()?)?)))
        .map(|(note, source)| (note, source, vocabulary.read(&note.quote)))
        .collect();
    placed
        .iter()
        .map(|index| {
            let claim = &claims[*index];
            let stems = vocabulary.read(&claim.text);
            let mut named: BTreeSet<usize> = claim.sources.iter().copied().collect();
            for (note, source, quote) in &quotes {
                // Counting stems is cheap, and decides most pairs.
                let likely = 2 * stems.shared(quote) >= stems.len();
                let disputed =
                    claim.disputes.iter().any(|other| claims[*other].sources.contains(source));
                if likely
                    && !disputed
                    && !named.contains(source)
                    && support(&claim.text, &note.quote) >= LEAST_SUPPORT
                {
                    named.insert(*source);
                }
            }
            named
        })
        .collect()
}

/// The registrable domain of a source; a file is a domain of its own.
fn domain(source: &Source) -> String {
    let url = source.url.as_deref().and_then(|url| Url::parse(url).ok());
    url.and_then(|url| registrable(&url)).unwrap_or_else(|| format!("file {}", source.id))
}
