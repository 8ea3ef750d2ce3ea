use proptest::prelude::{any, prop_assert_eq, proptest};

use super::{in_reading_order, is_mostly_rtl, push_plain, with_accent};

fn plain(text: &str) -> String {
    let mut out = String::new();
    text.chars().for_each(|character| push_plain(&mut out, character));
    out
}

fn visual(text: &str) -> String {
    text.chars().rev().collect()
}

#[test]
fn ligatures_and_forms_become_their_characters() {
    assert_eq!(plain("o\u{fb03}ce \u{fb02}at \u{fb05}"), "office flat st");
    assert_eq!(plain("\u{fefb}"), "لا");
    assert_eq!(plain("\u{2f08}"), "人");
    assert_eq!(plain("a\0b\u{f0b7}"), "ab•");
}

#[test]
fn accents_of_their_own_join_their_letter() {
    assert_eq!(with_accent('e', '´'), Some('é'));
    assert_eq!(with_accent('ı', '¨'), Some('ï'));
    assert_eq!(with_accent('7', '´'), None);
    assert_eq!(with_accent('e', 'x'), None);
}

#[test]
fn text_from_right_to_left_is_put_in_logical_order() {
    let hebrew = "משרד הנמל רושם";
    assert_eq!(in_reading_order(visual(hebrew)), hebrew);
    // Numbers and Latin words keep their direction.
    assert_eq!(in_reading_order("12.5 לש ריחמ".to_owned()), "מחיר של 12.5");
    assert_eq!(in_reading_order("רחא םוי New York ריעה לא".to_owned()), "אל העיר New York יום אחר");
    assert_eq!(in_reading_order("(אב)".to_owned()), "(בא)");
    // A Hebrew word in an English sentence.
    assert_eq!(
        in_reading_order("The word םולש means peace".to_owned()),
        "The word שלום means peace"
    );
    assert_eq!(in_reading_order("20 10 םירפסמ".to_owned()), "מספרים 10 20");
}

#[test]
fn the_direction_is_that_of_most_characters() {
    assert!(is_mostly_rtl(["שלום abc", "עולם"].into_iter()));
    assert!(!is_mostly_rtl(["abcd שלו"].into_iter()));
    assert!(!is_mostly_rtl([""].into_iter()));
}

proptest! {
    #[test]
    fn no_character_is_lost(text in any::<String>()) {
        let mut before: Vec<char> = text.chars().filter(|c| !"()[]{}<>«»".contains(*c)).collect();
        let read = in_reading_order(text);
        let mut after: Vec<char> = read.chars().filter(|c| !"()[]{}<>«»".contains(*c)).collect();
        before.sort_unstable();
        after.sort_unstable();
        prop_assert_eq!(before, after);
    }
}
