use proptest::prelude::{prop, proptest};

use super::{HookKind, TextReport, has_content, read};
use crate::platform::Platform;

fn generic(text: &str) -> TextReport {
    read(text, Platform::Generic)
}

fn action(text: &str) -> Option<&str> {
    generic(text).call_to_action.map(|place| &text[place])
}

#[test]
fn hooks_have_their_kind() {
    use HookKind::{Claim, HowTo, None, Number, Offer, Question, Story};
    for (text, kind) in [
        ("Tired of slow mornings?", Question),
        ("Wer kennt das nicht?", Question),
        ("¿Buscas un café mejor? Prueba el nuestro.", Question),
        ("How to grow herbs on a balcony", HowTo),
        ("So gelingt dein Sauerteig garantiert", HowTo),
        ("Comment choisir un bon vélo en ville", HowTo),
        ("Cómo ahorrar agua en casa", HowTo),
        ("When I was 22, I lost my job.", Story),
        ("Vor drei Jahren habe ich alles verkauft.", Story),
        ("Il y a deux ans, j'ai quitté Paris.", Story),
        ("Hace tres años perdí mi trabajo.", Story),
        ("30% off all boots this weekend", Offer),
        ("20 % Rabatt auf alle Schuhe", Offer),
        ("Livraison gratuite ce week-end", Offer),
        ("Envío gratis en todos los pedidos", Offer),
        ("87% of teams miss this", Number),
        ("Three lessons from ten years of teaching", Number),
        ("Most people water their plants too often.", Claim),
        ("Niemand braucht noch eine App.", Claim),
        ("Our bakery on Main Street is open.", None),
    ] {
        assert_eq!(generic(text).hook.unwrap().kind, kind, "{text}");
    }
}

#[test]
fn the_hook_is_the_first_sentence_or_line_with_words() {
    for (text, hook) in [
        ("🔥🔥🔥\n\nBig news today\nand more", "Big news today"),
        ("Is this it? Yes.", "Is this it?"),
        ("One line\nTwo lines", "One line"),
    ] {
        assert_eq!(&text[generic(text).hook.unwrap().place], hook);
    }
    assert_eq!(generic("🔥🔥").hook, None);
}

#[test]
fn calls_to_action_are_found_in_four_languages() {
    for (text, expected) in [
        ("New boots are in. Shop now!", "Shop now"),
        ("Spring is here 🌸 Get yours today 👉 https://a.example", "Get yours today"),
        ("Questions? Please call us.", "call us"),
        ("It is all on the blog (link in bio).", "link in bio"),
        ("Neue Kurse ab Mai. Jetzt kostenlos anmelden!", "Jetzt kostenlos anmelden"),
        ("Sichere dir deinen Platz.", "Sichere dir deinen Platz"),
        ("Besuchen Sie uns in Köln.", "Besuchen Sie uns in Köln"),
        ("Nouvelle collection. Découvrez-la en boutique !", "Découvrez-la en boutique"),
        ("Places limitées : n’attendez plus !", "n’attendez plus"),
        ("Ya está aquí. ¡Descubre la nueva colección!", "Descubre la nueva colección"),
        ("¡Reserva ya tu mesa!", "Reserva ya tu mesa"),
    ] {
        assert_eq!(action(text), Some(expected), "{text}");
    }
    for text in [
        "Share prices fell again this week.",
        "We are proud of our new bakery.",
        "Der Sommer war lang und warm.",
        "Nous sommes fiers de notre équipe.",
        "Estamos muy contentos con el equipo.",
    ] {
        assert_eq!(action(text), None, "{text}");
    }
}

#[test]
fn x_counts_weighted_characters() {
    for (text, count) in [
        ("hello", 5),
        ("naïve", 5),
        ("日本語", 6),
        ("👩‍👩‍👧", 2),
        ("see https://a-very-long-host.example/with/a/path?and=more", 27),
        ("e\u{301}", 1),
    ] {
        assert_eq!(read(text, Platform::X).length.characters, count, "{text}");
    }
    assert_eq!(generic("👩‍👩‍👧").length.characters, 5);
}

#[test]
fn shown_is_what_comes_before_see_more() {
    let long = read(&"word ".repeat(100), Platform::Instagram).length;
    assert_eq!((long.characters, long.limit, long.shown), (500, Some(2200), Some(125)));
    assert_eq!(read("short", Platform::Instagram).length.shown, Some(5));
    assert_eq!(generic("short").length.shown, None);
}

#[test]
fn short_texts_have_a_language() {
    for (text, language) in [
        ("Shop now!", "en"),
        ("Amazing coffee", "en"),
        ("Jetzt kaufen!", "de"),
        ("Este truco te va a cambiar la vida", "es"),
        ("Ci vediamo domani al mercato di Torino! Scopri le nuove offerte.", "it"),
        ("Découvrez la collection", "fr"),
        ("¡Compra ya!", "es"),
    ] {
        assert_eq!(generic(text).language, Some(language), "{text}");
    }
    assert_eq!(generic("Купите сейчас").language.filter(|code| *code == "en"), None);
}

#[test]
fn styled_and_hidden_characters_are_read_as_plain_ones() {
    let found = generic("𝗦𝗵𝗼𝗽 𝗻𝗼𝘄 and get free sh\u{200b}ipping");
    assert!(found.call_to_action.is_some() && found.traits.offer);
}

#[test]
fn hostile_texts_are_bounded() {
    for text in [
        "🔥".repeat(300_000),
        "#tag ".repeat(60_000),
        "a".repeat(1_000_000),
        "مرحبا ".repeat(50_000),
        "!\n?".repeat(100_000),
    ] {
        let found = read(&text, Platform::X);
        assert!(found.cut && found.length.characters >= 100_000);
    }
    assert!(!has_content(" \u{200b}\n!?") && has_content("🔥") && has_content("a"));
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(?s).{0,150}", words in prop::collection::vec("Shop|now|jetzt|kaufen|#a|🔥|\\?|\n|https://a.example|n'|[.!,]|50|%", 0..30)) {
        let words = words.join(" ");
        for text in [&text, &words] {
            for platform in Platform::ALL {
                let found = read(text, platform);
                for place in [found.hook.map(|hook| hook.place), found.call_to_action].into_iter().flatten() {
                    assert!(!text[place].trim().is_empty());
                }
                assert!(found.length.shown.is_none_or(|shown| shown <= found.length.characters));
            }
        }
    }
}
