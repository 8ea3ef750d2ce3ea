use super::*;

const LONG: &str = "The quick brown fox jumps over the lazy dog while seven other animals of the forest look on \
    and wonder why it never simply walks around the dog like everyone else does on a normal day of the long and \
    quiet summer";

fn remove(first: &str, second: &str) -> Unique {
    let mut paragraphs = Paragraphs::default();
    assert_eq!(paragraphs.remove_known(first).removed, 0);
    paragraphs.remove_known(second)
}

#[test]
fn equal_and_similar_paragraphs_are_removed_from_the_later_source() {
    let near = LONG.replace("seven", "eight");
    let second = format!("{}\n\nOwn text.\n\n{near}!\n\nShort equal one.", LONG.to_uppercase());
    let unique = remove(&format!("{LONG}\n\nShort equal one."), &second);
    assert_eq!(unique, Unique { text: "Own text.".into(), removed: 3, has_content: true });
}

#[test]
fn different_paragraphs_stay() {
    let half: String = LONG.split_inclusive(' ').take(18).collect();
    let other = format!("{half} but this one goes on in quite another way and has its own ending");
    assert_eq!(remove(LONG, &other).removed, 0);
    // A longer paragraph that contains a known one says more.
    let longer = format!("{LONG}. {}", "This part was not there before at all. ".repeat(9));
    assert_eq!(remove(LONG, &longer).removed, 0);
    // A paragraph that occurs twice in one source is that source's own affair.
    assert_eq!(remove("x", &format!("{LONG}\n\n{LONG}")).removed, 0);
}

#[test]
fn headings_stay_as_long_as_they_have_content() {
    let second = format!("# Title\n\n## Same\n\n{LONG}\n\n## Other\n\nNew.\n\n## Last\n\n{LONG}");
    let unique = remove(&format!("# Title\n\n{LONG}"), &second);
    assert_eq!(unique.text, "# Title\n\n## Other\n\nNew.");
    let copy = remove(LONG, &format!("# Copy\n\n{LONG}"));
    assert!(!copy.has_content && copy.text.is_empty(), "{copy:?}");
}

#[test]
fn scripts_without_spaces_are_compared_by_character() {
    let text = "敏捷的棕色狐狸跳过了懒惰的狗而森林里的其他动物都在旁边看着它";
    let near = format!("{text}呢");
    assert_eq!(remove(text, &near).removed, 1);
}
