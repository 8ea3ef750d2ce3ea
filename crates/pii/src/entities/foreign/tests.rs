use std::time::{Duration, Instant};

use proptest::prelude::proptest;

use crate::{Kind, Options, find};

fn found(text: &str) -> Vec<(Kind, &str)> {
    find(text, &Options::default())
        .iter()
        .map(|finding| (finding.kind, &text[finding.start..finding.end]))
        .collect()
}

fn people(text: &str) -> Vec<&str> {
    found(text)
        .into_iter()
        .filter(|(kind, _)| *kind == Kind::Person)
        .map(|(_, value)| value)
        .collect()
}

#[test]
fn nouns_of_german_are_no_names() {
    let texts = [
        "Die Lieferung erfolgt ab Lager. Der Käufer hat die Ware nach Erhalt zu prüfen und Mängel anzuzeigen.",
        "Das Gehäuse wird mit vier Schrauben an der Wand befestigt. Im Menü Einstellungen wählen Sie die Sprache. \
         Die Taste Stern speichert den Wert.",
        "Ein guter Koch braucht Kraft und Glück. Am Ende ist der König auf seinem Feld, und der Bauer geht nach Haus.",
        "Datenschutz, Widerruf und Kündigung sind in den Anlagen geregelt. Am Montag beginnt die Probezeit.",
    ];
    for text in texts {
        assert_eq!(people(text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn terms_of_romance_languages_are_no_names() {
    let texts = [
        "El Arrendador entrega la Vivienda. Las Partes aceptan el Código Civil y la Ley de Arrendamientos. \
         Para el Domingo de Ramos se cierra.",
        "Le Client fournit les documents utiles à la Mission. Un Acompte est versé. Voir la section Erreurs, Avenue \
         Victor Hugo.",
        "Il Locatore concede l'Immobile. Per quanto non previsto si rinvia al Codice Civile. La Spia rossa indica un guasto.",
        "O Utilizador deve ler os presentes Termos. A Conta é pessoal. Os Dados são tratados de acordo com a Lei.",
        "De Aannemer levert Materiaal en Personeel. Het Werk begint in mei en de Prijs staat vast.",
    ];
    for text in texts {
        assert_eq!(people(text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn names_are_found_by_what_is_next_to_them() {
    let texts = [
        // Forms of address and greetings.
        ("Sehr geehrte Frau Dr. Zwirbel, ich habe Ihren Brief nicht erhalten.", vec!["Zwirbel"]),
        (
            "Estimado señor Zubirreta: le escribo por el recibo que no me han devuelto.",
            vec!["Zubirreta"],
        ),
        ("Je vous ai dit que M. Quenouille et Mme Petit sont là.", vec!["Quenouille", "Petit"]),
        (
            "Ho parlato con la Sig.ra Zamparetti e con il dott. Monti per la bolletta.",
            vec!["Zamparetti", "Monti"],
        ),
        (
            "Geachte heer Van der Zwieten, wij hebben uw brief van de week ontvangen.",
            vec!["Van der Zwieten"],
        ),
        // What a person is.
        (
            "Das sagte Einsatzleiter Zwirbel, und die Zeugin Sternbach hat es nicht gesehen.",
            vec!["Zwirbel", "Sternbach"],
        ),
        (
            "La alcaldesa, Xuxa Zubirreta, no estaba con el agente Rey en el bar.",
            vec!["Xuxa Zubirreta", "Rey"],
        ),
        // Labels, signatures and verbs.
        (
            "Anwesend: Sabine Thoma, Zeno Quandtke\nDas ist nicht der Rede wert und so.",
            vec!["Sabine Thoma", "Zeno Quandtke"],
        ),
        (
            "Das war es für heute, und es hat mich sehr gefreut.\n\nMit freundlichen Grüßen\nZwirbel",
            vec!["Zwirbel"],
        ),
        ("In der Sitzung war es laut. Doch dann schlug Zwirbel eine Pause vor.", vec!["Zwirbel"]),
    ];
    for (text, names) in texts {
        assert_eq!(people(text), names, "{text}");
    }
}

#[test]
fn nouns_after_verbs_are_no_names() {
    let texts = [
        "Die Versicherung übernimmt Schäden durch Sturm, und sie bestätigt Termine nur am Vormittag.",
        "Después de la escuela estudió Medicina, y en la casa no lo saben.",
        "Gestern hat sie den Zwickel beim Hausmeister abgegeben, und der hat es nicht gemerkt.",
    ];
    for text in texts {
        assert_eq!(people(text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn short_texts_are_read_in_their_language() {
    let texts = [
        "Naciśnij przycisk Start, wybierz program Bawełna.",
        "Do Wniosku należy dołączyć Zdjęcie.",
        "Partijen tekenen deze Overeenkomst.",
    ];
    for text in texts {
        assert_eq!(people(text), [] as [&str; 0], "{text}");
    }
    assert_eq!(people("Torben called Quentin Zwirbler."), ["Torben", "Quentin Zwirbler"]);
}

#[test]
fn unknown_names_before_a_name_are_names() {
    let text =
        "Per la gara di lettura sono Zwuti Ndwaye e Matteo Ruggieri i vincitori della scuola.";
    assert_eq!(people(text), ["Zwuti Ndwaye", "Matteo Ruggieri"]);
}

#[test]
fn long_texts_take_time_by_their_length() {
    let german = "Das ist nicht der Rede wert, und so ist es auch für mich. ".repeat(3);
    let time = |text: String| {
        let start = Instant::now();
        found(&format!("{german}{text}"));
        start.elapsed()
    };
    time(String::new());
    let hard = [
        "Wolf Anna Lager ",
        "A. ",
        "a. ",
        "Xaver & ",
        "AG ",
        "Universität der ",
        "von der ",
        "Dr. med. ",
        "Anwesend: ",
        "Anna, ",
        "Anna-",
    ];
    for part in hard {
        let short = time(part.repeat(10_000 / part.len()));
        let long = time(part.repeat(100_000 / part.len()));
        // Ten times the text; quadratic work would take a hundred times as long.
        assert!(long < short * 40 + Duration::from_millis(500), "{part:?}: {short:?}, {long:?}");
    }
}

proptest! {
    #[test]
    fn findings_of_other_languages_are_within_the_text(
        text in "(Herr |Dr\\. |med\\. |l'Anna |d’Été |von |der |A\\. |Sp\\. z o\\.o\\.|, |: |\n|Wolf |AG|& |Universität |Notar |İ|12){0,40}",
    ) {
        let text = format!("Das ist nicht der Rede wert, und so ist es auch für mich. {text}");
        for finding in find(&text, &Options { min_confidence: 0.0, ..Options::default() }) {
            assert!(text.get(finding.start..finding.end).is_some_and(|value| !value.is_empty()));
        }
    }
}

#[test]
fn parts_of_sure_names_are_names_in_the_same_text() {
    let text = "Frau Anna Wolf hat das Haus gekauft, und der Wolf ist nicht im Wald. Später hat Wolf es nicht \
                bereut. Wolfs Garten ist schön.";
    assert_eq!(people(text), ["Anna Wolf", "Wolf", "Wolfs"]);
}

#[test]
fn family_names_may_come_first() {
    let text =
        "Die Liste der Teilnehmer für den Tag ist hier:\nHartmann, Uwe\nvon der Heide, Philipp\n";
    assert_eq!(people(text), ["Hartmann, Uwe", "von der Heide, Philipp"]);
}

#[test]
fn companies_and_places_are_no_people() {
    let text = "Die Krüger & Söhne AG hat mit der Feuerwehr Minden und der Thomas Quandt GmbH einen Vertrag.";
    assert_eq!(people(text), [] as [&str; 0]);
    assert!(found(text).contains(&(Kind::Organization, "Krüger & Söhne AG")), "{:?}", found(text));
    assert!(found(text).contains(&(Kind::Organization, "Thomas Quandt GmbH")), "{:?}", found(text));
    let text = "Nie wiem, kiedy to jest, ale Okna Zawadzki Sp. z o.o. dostarczy je dla nas.";
    assert_eq!(found(text), [(Kind::Organization, "Okna Zawadzki Sp. z o.o.")]);
    let text =
        "Nous habitons rue Victor Hugo, mais la fête est à Paris et dans la salle Jean Moulin.";
    assert_eq!(people(text), [] as [&str; 0]);
    assert!(found(text).contains(&(Kind::Gpe, "Paris")), "{:?}", found(text));
}

#[test]
fn each_part_of_a_text_is_read_in_its_language() {
    let english =
        "The committee met on Monday and agreed that the report should be published. ".repeat(12);
    let german =
        "Die Lieferung erfolgt ab Lager, und der Käufer hat die Ware nach Erhalt zu prüfen. "
            .repeat(12);
    let text = format!(
        "{english}Then Quentin Zwirbler left.\n\n{german}Das sagte Frau Zwirbel.\n\n{english}\n"
    );
    assert_eq!(people(&text), ["Quentin Zwirbler", "Zwirbel"]);
}

#[test]
fn forms_of_address_of_other_languages_are_titles() {
    for (text, title) in [
        ("Das hat Herrn Zwirbel nicht gefallen, und so ist es auch für mich.", "Herrn"),
        ("No es lo que dijo doña Pilar en la reunión de los vecinos.", "doña"),
        ("Ce n'est pas ce que Mme Petit nous a dit dans la salle.", "Mme"),
        ("Non è quello che ha detto la Dott.ssa Monti alla riunione.", "Dott.ssa"),
    ] {
        assert!(found(text).contains(&(Kind::Title, title)), "{text}: {:?}", found(text));
    }
}
