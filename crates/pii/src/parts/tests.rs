use crate::{Kind, Options, find, find_for_redaction};

/// 138 words.
fn german() -> String {
    "Die Mieter haben am Montag über die Heizung gesprochen. Der Verwalter hat versprochen, dass die Arbeiten noch in diesem \
     Monat beginnen. Die Kosten trägt der Eigentümer, weil die Anlage schon sehr alt ist und nicht mehr repariert werden \
     kann. Für die Zeit der Arbeiten wird die Miete ein wenig gesenkt. "
        .repeat(3)
}

/// 64 words, with names that no list has.
const LETTER: &str = "Dear all, thank you for the offer that you sent to us last week. We would like to talk about the price \
     with Dorvik Zamblex before we sign it. Please ask Mirelka Vosstrup for the keys, because she will be at the house on \
     Friday and can show you the rooms. We hope that this is all right for you. Kind regards,\nOvrin Tazzek";

const NAMES: [&str; 3] = ["Dorvik Zamblex", "Mirelka Vosstrup", "Ovrin Tazzek"];

fn redacted(text: &str) -> Vec<&str> {
    find_for_redaction(text, &Options::default())
        .iter()
        .filter(|finding| finding.kind == Kind::Person)
        .map(|finding| &text[finding.start..finding.end])
        .collect()
}

#[test]
fn an_english_rest_is_read_as_english_for_redaction() {
    let lines = german().replace(". ", ".\n");
    for text in [
        format!("{lines}\n{LETTER}"),
        format!("{}{LETTER}", german()),
        format!("{LETTER}\n{lines}"),
        // No part is long enough.
        format!("Die Miete ist schon bezahlt, und der Schlüssel ist bei der Nachbarin. {LETTER}"),
    ] {
        let found = redacted(&text);
        for name in NAMES {
            assert!(found.contains(&name), "{name}: {found:?} in {text}");
        }
    }
}

#[test]
fn nouns_of_another_language_stay_next_to_english() {
    let text = format!("{}\n{LETTER}", german());
    let end = text.len() - LETTER.len();
    let settled = find(&text, &Options::default());
    let german: Vec<&str> = find_for_redaction(&text, &Options::default())
        .iter()
        .filter(|finding| finding.start < end && !settled.contains(finding))
        .map(|finding| &text[finding.start..finding.end])
        .collect();
    assert_eq!(german, [] as [&str; 0]);
    // The precise reading takes no capital for a name there.
    assert!(settled.iter().all(|finding| finding.kind != Kind::Person || finding.start >= end));
}

#[test]
fn texts_in_one_language_are_read_once() {
    let german = german();
    for text in [
        german.as_str(),
        LETTER,
        "Das Gehäuse wird mit vier Schrauben an der Wand befestigt. Im Menü Einstellungen wählen Sie die Sprache.",
        "El Arrendador entrega la Vivienda. Las Partes aceptan el Código Civil y la Ley de Arrendamientos.",
        "Hyvä asiakas, he tulevat kotiin ja me olemme siellä. Laskun voi maksaa on Keskiviikko tai Torstai.",
        "Die Terms of Service gelten ab Mai für alle Kunden der Bank.",
        "",
    ] {
        let options = Options::default();
        assert_eq!(find_for_redaction(text, &options), find(text, &options), "{text}");
    }
}
