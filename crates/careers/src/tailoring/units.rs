//! What a number counts: a part of hundred, money or time. "20 %" are not "20 years".

const SIGNS: [(char, &str); 5] = [('%', "%"), ('€', "€"), ('$', "$"), ('£', "£"), ('¥', "¥")];

/// Words for units, in six languages.
const WORDS: [(&str, &str); 7] = [
    ("%", "percent|prozent|pct"),
    ("€", "eur|euro|euros"),
    ("$", "usd|dollar|dollars"),
    (
        " years",
        "year|years|yr|yrs|jahr|jahre|jahren|an|ans|année|années|año|años|ano|anos|anni|anno",
    ),
    (" months", "month|months|monat|monate|monaten|mois|mes|meses|mese|mesi"),
    (" weeks", "week|weeks|woche|wochen|semaine|semaines|semana|semanas|settimana|settimane"),
    (" days", "day|days|tag|tage|tagen|jour|jours|día|días|dia|dias|giorno|giorni"),
];

/// The unit that a text begins with.
pub(super) fn after(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches(['+', ' ', '-', '\u{a0}', '\u{202f}']);
    if let Some(unit) = text.chars().next().and_then(of_sign) {
        return Some(unit);
    }
    let word = text.split(|sign: char| !sign.is_alphabetic()).next()?.to_lowercase();
    let named = |(unit, words): &(&'static str, &str)| {
        words.split('|').any(|listed| listed == word).then_some(*unit)
    };
    WORDS.iter().find_map(named)
}

/// The currency that a text ends with.
pub(super) fn before(text: &str) -> Option<&'static str> {
    text.chars().next_back().and_then(of_sign).filter(|unit| *unit != "%")
}

fn of_sign(sign: char) -> Option<&'static str> {
    SIGNS.iter().find(|(listed, _)| *listed == sign).map(|(_, unit)| *unit)
}
