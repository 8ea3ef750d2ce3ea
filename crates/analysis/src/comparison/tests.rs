use proptest::prelude::{prop, proptest};

use super::{Change, compare};

#[test]
fn changes_are_paired() {
    let old = "Title\n\nThe fee is 100 euros per month.\n\nGone entirely now.\n\nEnd";
    let new = "Title\n\nThe fee is 120 euros per month.\n\nEnd\n\nBrand new words";
    let found = compare(old, new);
    let shown: Vec<(&str, &str)> = found
        .changes
        .iter()
        .map(|change| match change {
            Change::Added { new: place } => ("", &new[place.clone()]),
            Change::Removed { old: place } => (&old[place.clone()], ""),
            Change::Changed { old: before, new: after } => {
                (&old[before.clone()], &new[after.clone()])
            }
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("The fee is 100 euros per month.", "The fee is 120 euros per month."),
            ("Gone entirely now.", ""),
            ("", "Brand new words"),
        ]
    );
    assert!((0.6..0.9).contains(&found.similarity), "{}", found.similarity);
}

#[test]
fn equal_texts_have_no_changes() {
    assert_eq!(compare("a b\n\nc", "a  b\n\n\n\nc").changes, []);
    assert!((compare("", "").similarity - 1.0).abs() < f64::EPSILON);
    assert!(compare("one two", "three four").similarity.abs() < f64::EPSILON);
}

#[test]
fn many_short_paragraphs_do_not_read_a_long_one_again() {
    let long = |word: &str| format!("{word} ").repeat(5_000);
    let old = (0..20_000).map(|at| format!("old {at}\n\n")).collect::<String>();
    let new = [long("a"), long("b"), long("c"), long("d")].join("\n\n");
    let start = std::time::Instant::now();
    assert_eq!(compare(&old, &new).count, 20_004);
    // Four times 5,000 words for each of 20,000 paragraphs take minutes.
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn the_first_changes_of_very_many_are_listed() {
    let lines = |word: &str| (0..30_000).map(|at| format!("{word}{at}\n\n")).collect::<String>();
    let found = compare(&lines("a"), &lines("b"));
    assert_eq!((found.changes.len(), found.count), (super::MOST_CHANGES, 60_000));
    assert!(matches!(&found.changes[0], Change::Removed { old } if old.start == 0));
    assert!(found.similarity.abs() < f64::EPSILON);
}

proptest! {
    #[test]
    fn every_new_paragraph_is_there_once(old in prop::collection::vec("[abc ]{1,8}", 0..12), new in prop::collection::vec("[abc ]{1,8}", 0..12)) {
        let (old, new) = (old.join("\n\n"), new.join("\n\n"));
        let found = compare(&old, &new);
        assert!((0.0..=1.0).contains(&found.similarity));
        for change in &found.changes {
            match change {
                Change::Added { new: place } => assert!(new.get(place.clone()).is_some()),
                Change::Removed { old: place } => assert!(old.get(place.clone()).is_some()),
                Change::Changed { old: before, new: after } => assert!(old.get(before.clone()).is_some() && new.get(after.clone()).is_some()),
            }
        }
    }
}
