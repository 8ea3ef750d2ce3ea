use proptest::prelude::proptest;

use super::{PieceKind, fold, take_apart};

fn of_kind(text: &str, kind: PieceKind) -> Vec<&str> {
    take_apart(text)
        .into_iter()
        .filter(|piece| piece.kind == kind)
        .map(|piece| piece.text)
        .collect()
}

#[test]
fn hashtags_of_any_script_are_found() {
    let text = "#sale #Grüße_2026 #日本 #1 a#b x&#39; #2go ＃fullwidth #مرحبا.";
    assert_eq!(
        of_kind(text, PieceKind::Hashtag),
        ["#sale", "#Grüße_2026", "#日本", "#2go", "＃fullwidth", "#مرحبا"]
    );
}

#[test]
fn links_mentions_and_emoji_are_found() {
    let text = "See https://shop.example/a?b=1, www.shop.de or shop.com/x. Great.Then mail me@shop.com or @ana.b! 👩‍👩‍👧 🇩🇪 1️⃣ ©";
    assert_eq!(
        of_kind(text, PieceKind::Link),
        ["https://shop.example/a?b=1", "www.shop.de", "shop.com/x"]
    );
    assert_eq!(of_kind(text, PieceKind::Mention), ["@ana.b"]);
    assert_eq!(of_kind(text, PieceKind::Email), ["me@shop.com"]);
    assert_eq!(of_kind(text, PieceKind::Emoji), ["👩‍👩‍👧", "🇩🇪", "1️⃣"]);
}

#[test]
fn words_are_split_at_elisions_and_keep_numbers() {
    let text = "N’attendez plus: don't pay 1,299.50 €";
    assert_eq!(
        of_kind(text, PieceKind::Word),
        ["N", "attendez", "plus", "don't", "pay", "1,299.50", "€"]
    );
    assert_eq!(fold("𝗕𝗢𝗟𝗗\u{200b}"), "bold");
}

proptest! {
    #[test]
    fn pieces_are_in_order_and_part_of_the_text(text in "(?s).{0,120}", near in "[#@a.:/ €%1'’é🔥\u{200d}\u{fe0f}\n-]{0,120}") {
        for text in [&text, &near] {
            let mut at = 0;
            for piece in take_apart(text) {
                assert!(piece.start >= at && !piece.text.is_empty());
                assert_eq!(&text[piece.start..piece.end()], piece.text);
                at = piece.end();
            }
        }
    }
}
