use documents::layout::{Area, PageLayout, PlacedWord};
use proptest::prelude::{Strategy, prop, prop_assert, proptest};

use super::{Method, Table, find, in_region};

const SIZE: f64 = 10.0;

/// A word whose characters are half as wide as high.
fn word(x: f64, baseline: f64, text: &str) -> PlacedWord {
    let right = x + text.chars().count() as f64 * SIZE * 0.5;
    PlacedWord {
        text: text.to_owned(),
        area: Area::new(x, baseline - 7.0, right, baseline + 1.0),
        baseline,
        size: SIZE,
        row: baseline as usize,
        artifact: false,
    }
}

/// A line of words with usual spaces.
fn sentence(x: f64, baseline: f64, text: &str) -> Vec<PlacedWord> {
    let mut words = Vec::new();
    let mut at = x;
    for part in text.split(' ') {
        words.push(word(at, baseline, part));
        at += (part.chars().count() as f64 + 0.5) * SIZE * 0.5;
    }
    words
}

fn page(words: Vec<Vec<PlacedWord>>, rules: Vec<Area>) -> PageLayout {
    PageLayout {
        number: 1,
        width: 600.0,
        height: 800.0,
        words: words.concat(),
        rules,
        ..PageLayout::default()
    }
}

fn horizontal(y: f64, left: f64, right: f64) -> Area {
    Area::new(left, y, right, y)
}

fn vertical(x: f64, top: f64, bottom: f64) -> Area {
    Area::new(x, top, x, bottom)
}

/// Row, column, last row, last column and text of each cell.
fn cells(table: &Table) -> Vec<(usize, usize, usize, usize, &str)> {
    let cells = table.cells.iter();
    cells.map(|cell| (cell.row, cell.col, cell.row_end, cell.col_end, cell.text.as_str())).collect()
}

/// Names and values at 100, 300 and 400, one row for each text.
fn rows(top: f64, rows: &[[&str; 3]]) -> Vec<Vec<PlacedWord>> {
    let lines = rows.iter().enumerate().map(|(at, [name, one, other])| {
        let baseline = top + at as f64 * 14.0;
        let mut line = sentence(100.0, baseline, name);
        line.extend([word(300.0, baseline, one), word(400.0, baseline, other)]);
        line.retain(|word| !word.text.is_empty());
        line
    });
    lines.collect()
}

#[test]
fn cells_between_lines_may_span_columns_and_rows() {
    let rules = vec![
        horizontal(100.0, 100.0, 400.0),
        horizontal(120.0, 200.0, 400.0),
        horizontal(140.0, 100.0, 400.0),
        horizontal(160.0, 100.0, 400.0),
        vertical(100.0, 100.0, 160.0),
        vertical(200.0, 100.0, 160.0),
        vertical(300.0, 120.0, 160.0),
        vertical(400.0, 100.0, 160.0),
    ];
    let words = vec![
        sentence(110.0, 125.0, "Species"),
        sentence(270.0, 114.0, "Both values"),
        sentence(210.0, 134.0, "one"),
        sentence(310.0, 134.0, "other"),
        sentence(110.0, 154.0, "Mink"),
        sentence(210.0, 154.0, "28"),
        sentence(310.0, 154.0, "10"),
    ];
    let found = find(&page(words, rules));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].method, found[0].header_rows), (Method::Lines, 2));
    assert_eq!(
        cells(&found[0]),
        [
            (0, 0, 1, 0, "Species"),
            (0, 1, 0, 2, "Both values"),
            (1, 1, 1, 1, "one"),
            (1, 2, 1, 2, "other"),
            (2, 0, 2, 0, "Mink"),
            (2, 1, 2, 1, "28"),
            (2, 2, 2, 2, "10"),
        ]
    );
}

#[test]
fn aligned_text_between_paragraphs_is_a_table() {
    let mut words = vec![
        sentence(100.0, 100.0, "This is a paragraph of text that is as wide as the page is"),
        sentence(100.0, 114.0, "and it goes on over several lines so that it is prose and"),
        sentence(100.0, 128.0, "no table at all."),
    ];
    words.extend(rows(
        180.0,
        &[
            ["Name", "Number", "Share"],
            ["Oak tree", "12", "30"],
            ["Pine", "7", "18"],
            ["Elm", "21", "52"],
        ],
    ));
    words.push(sentence(100.0, 290.0, "Another paragraph follows the table and is as wide as the"));
    words.push(sentence(100.0, 304.0, "first one was, which makes it prose as well as the first."));
    let found = find(&page(words, Vec::new()));
    assert_eq!(found.len(), 1, "{found:#?}");
    let texts: Vec<_> = found[0].cells.iter().map(|cell| cell.text.as_str()).collect();
    assert_eq!(
        texts,
        ["Name", "Number", "Share", "Oak tree", "12", "30", "Pine", "7", "18", "Elm", "21", "52"]
    );
    assert_eq!((found[0].method, found[0].header_rows), (Method::Text, 1));
}

#[test]
fn prose_in_two_columns_is_no_table() {
    let lines = (0..12).flat_map(|at| {
        let baseline = 100.0 + f64::from(at) * 14.0;
        [
            sentence(50.0, baseline, "the left column has words such as these in"),
            sentence(320.0, baseline, "and the right one has 12 of 30 other words"),
        ]
    });
    assert_eq!(find(&page(lines.collect(), Vec::new())), []);
}

#[test]
fn lists_are_no_tables() {
    let lines = (0..6).map(|at| {
        let baseline = 100.0 + f64::from(at) * 30.0;
        let mut line = vec![word(80.0, baseline, &format!("{}.", at + 1))];
        line.extend(sentence(110.0, baseline, "an item of the list"));
        line
    });
    assert_eq!(find(&page(lines.collect(), Vec::new())), []);
}

#[test]
fn a_table_of_contents_is_no_table() {
    let lines = (1..7).map(|at| {
        let baseline = 100.0 + f64::from(at) * 14.0;
        let mut line = sentence(100.0, baseline, "A chapter ..............................");
        line.push(word(450.0, baseline, &(at * 7).to_string()));
        line
    });
    assert_eq!(find(&page(lines.collect(), Vec::new())), []);
}

#[test]
fn a_line_below_a_head_says_which_columns_it_spans() {
    let mut words = vec![sentence(330.0, 100.0, "Trees")];
    words.extend(rows(114.0, &[["Kind", "All", "New"], ["Oak", "12", "3"], ["Elm", "7", "1"]]));
    let rules = vec![
        horizontal(90.0, 100.0, 420.0),
        horizontal(103.0, 295.0, 420.0),
        horizontal(118.0, 100.0, 420.0),
    ];
    let region = Area::new(95.0, 85.0, 430.0, 150.0);
    let table = in_region(&page(words, rules), &region).expect("a table");
    assert_eq!(
        cells(&table)[..4],
        [(0, 0, 1, 0, "Kind"), (0, 1, 0, 2, "Trees"), (1, 1, 1, 1, "All"), (1, 2, 1, 2, "New")]
    );
    assert_eq!(table.header_rows, 2);
}

#[test]
fn a_wrapped_name_is_one_cell() {
    let words = rows(
        100.0,
        &[
            ["Name", "All", "New"],
            ["Oak", "12", "3"],
            ["Trees that lose their", "", ""],
            ["leaves in autumn", "7", "1"],
            ["Elm", "4", "9"],
        ],
    );
    let region = Area::new(95.0, 85.0, 430.0, 170.0);
    let table = in_region(&page(words, Vec::new()), &region).expect("a table");
    assert!(
        cells(&table).contains(&(2, 0, 2, 0, "Trees that lose their leaves in autumn")),
        "{table:#?}"
    );
}

#[test]
fn dots_between_a_name_and_its_value_are_dropped() {
    let words = rows(
        100.0,
        &[["Name", "All", "New"], ["Oak ...........", "12", "3"], ["Elm ......", "4", "9"]],
    );
    let region = Area::new(95.0, 85.0, 430.0, 150.0);
    let table = in_region(&page(words, Vec::new()), &region).expect("a table");
    assert!(cells(&table).contains(&(1, 0, 1, 0, "Oak")), "{table:#?}");
}

#[test]
fn a_region_without_words_has_no_table() {
    let page = page(vec![sentence(100.0, 100.0, "text")], Vec::new());
    assert_eq!(in_region(&page, &Area::new(300.0, 300.0, 400.0, 400.0)), None);
}

fn any_words() -> impl Strategy<Value = Vec<PlacedWord>> {
    let one = (0.0..500.0_f64, 0.0..300.0_f64, "[a-z]{1,8}|[0-9]{1,5}|\\.{1,6}|-{1,8}");
    prop::collection::vec(one.prop_map(|(x, y, text)| word(x, y, &text)), 0..60)
}

fn any_rules() -> impl Strategy<Value = Vec<Area>> {
    let line = (0.0..500.0_f64, 0.0..300.0_f64, 5.0..400.0_f64, prop::bool::ANY).prop_map(
        |(x, y, length, upright)| {
            if upright { vertical(x, y, y + length) } else { horizontal(y, x, x + length) }
        },
    );
    prop::collection::vec(line, 0..30)
}

/// Whether two cells of a table cover the same place.
fn overlaps(table: &Table) -> bool {
    table.cells.iter().enumerate().any(|(at, one)| {
        table.cells[at + 1..].iter().any(|other| {
            one.row <= other.row_end
                && other.row <= one.row_end
                && one.col <= other.col_end
                && other.col <= one.col_end
        })
    })
}

proptest! {
    #[test]
    fn every_word_of_a_region_is_in_one_cell(words in any_words(), rules in any_rules()) {
        let page = page(vec![words], rules);
        let table = in_region(&page, &Area::new(-10.0, -10.0, 700.0, 400.0));
        let mut expected: Vec<char> = page.words.iter()
            .flat_map(|word| word.text.chars()).filter(|it| it.is_alphanumeric()).collect();
        let mut found: Vec<char> = table.iter().flat_map(|table| &table.cells)
            .flat_map(|cell| cell.text.chars()).filter(|it| it.is_alphanumeric()).collect();
        expected.sort_unstable();
        found.sort_unstable();
        prop_assert!(expected == found, "{expected:?} {found:?}");
        for table in table.iter().chain(&find(&page)) {
            for cell in &table.cells {
                prop_assert!(cell.row <= cell.row_end && cell.col <= cell.col_end);
                prop_assert!(!cell.text.is_empty());
            }
            prop_assert!(!overlaps(table), "{table:#?}");
        }
    }
}
