use proptest::prelude::proptest;

use super::{fragments, languages};

const TABLE: &str = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
    1\t1\t0\t0\t0\t0\t0\t0\t640\t480\t-1\t\n\
    5\t1\t1\t1\t1\t1\t36\t92\t60\t24\t96.5\tThis\n\
    5\t1\t1\t1\t1\t2\t109\t92\t20\t24\t91\tis\n\
    5\t1\t1\t1\t2\t1\t36\t126\t70\t24\t-1\tlost\n\
    5\t1\t1\t1\t2\t2\t36\t126\t70\t24\t50\ta\tb\n\
    5\t1\t2\t1\t1\t1\t36\t300\t70\t24\t95\t \n";

#[test]
fn words_are_grouped_by_line() {
    let lines = fragments(TABLE);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].words[0].text, "This");
    assert_eq!(lines[0].words[0].bbox, [36.0, 92.0, 96.0, 116.0]);
    assert!((lines[0].words[0].confidence - 0.965).abs() < 1e-9);
    assert_eq!(lines[0].words.len(), 2);
    assert_eq!(lines[1].words[0].text, "a\tb", "the last field may have anything");
}

#[test]
fn languages_are_listed_without_helpers() {
    let listed = "List of available languages in \"/x/\" (3):\ndeu\neng\nosd\n";
    assert_eq!(languages(listed), ["deu", "eng"]);
    assert!(languages("").is_empty());
}

proptest! {
    #[test]
    fn any_table_is_read(table in "([0-9a-z\t.-]{0,40}\n){0,20}") {
        for line in fragments(&table) {
            assert!(line.words.iter().all(|word| (0.0..=1.0).contains(&word.confidence)));
        }
    }
}
