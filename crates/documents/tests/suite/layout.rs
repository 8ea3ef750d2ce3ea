//! PDFs made by hand: the order in which they are read, and what is left out.

use std::fmt::Write as _;

use documents::{Extracted, Form, Limits, Options, extract};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

/// A document with one page for each content stream, in Helvetica (`F`) and Courier (`C`), with one picture (`I`).
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 10 + at * 2)).collect();
    let mut objects = vec![
        (1, "<</Type/Catalog/Pages 2 0 R>>".to_owned()),
        (2, format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len())),
        (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned()),
        (4, "<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_owned()),
        (
            5,
            "<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8\
             /Length 1>>\nstream\n\u{7f}\nendstream"
                .to_owned(),
        ),
    ];
    for (at, content) in pages.iter().enumerate() {
        let (page, stream) = (10 + at * 2, 11 + at * 2);
        objects.push((
            page,
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {stream} 0 R\
                 /Resources<</Font<</F 3 0 R/C 4 0 R>>/XObject<</I 5 0 R>>>>>>"
            ),
        ));
        objects
            .push((stream, format!("<</Length {}>>\nstream\n{content}\nendstream", content.len())));
    }
    let mut out = String::from("%PDF-1.4\n");
    for (number, object) in objects {
        write!(out, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    out.push_str("trailer\n<</Root 1 0 R>>\n%%EOF\n");
    out.into_bytes()
}

pub(crate) fn at(x: f64, y: f64, size: f64, text: &str) -> String {
    format!("BT /F {size} Tf {x} {y} Td ({text}) Tj ET\n")
}

pub(crate) fn read_as(pages: &[&str], form: Form) -> Extracted {
    let options = Options::new("application/pdf").with_form(form);
    extract(pdf(pages), &options, &Limits::default()).unwrap()
}

pub(crate) fn read(page: &str) -> Extracted {
    read_as(&[page], Form::Text)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a column of prose.
const LEFT: [&str; 6] = [
    "The ferry carries seven crates",
    "of winter apples before the",
    "market opens, and a quiet",
    "committee measures the height",
    "of the river in spite of fog",
    "at the end of each month.",
];
const RIGHT: [&str; 6] = [
    "Every second lantern records",
    "an argument about daylight",
    "because no one else would;",
    "the youngest apprentice then",
    "borrows the map of the lower",
    "town for the third time.",
];

#[test]
fn columns_that_are_drawn_row_by_row_are_read_one_after_the_other() {
    let mut page = at(60.0, 750.0, 20.0, "A title across both columns");
    for row in 0..6 {
        let y = 700.0 - 14.0 * row as f64;
        page += &at(60.0, y, 11.0, LEFT[row]);
        page += &at(320.0, y, 11.0, RIGHT[row]);
    }
    let expected = format!("A title across both columns {} {}", LEFT.join(" "), RIGHT.join(" "));
    assert_eq!(words(&read(&page).text), expected);
}

#[test]
fn a_table_is_read_row_by_row() {
    let rows = [["Name", "Room", "Phone"], ["Ann", "12", "555"], ["Bo", "7", "556"]];
    let mut page = at(60.0, 750.0, 11.0, "Before the table.");
    for (at_row, row) in rows.iter().enumerate() {
        for (column, cell) in row.iter().enumerate() {
            let (x, y) = (60.0 + 120.0 * column as f64, 700.0 - 16.0 * at_row as f64);
            page += &at(x, y, 11.0, cell);
        }
    }
    let text = read(&page).text;
    assert_eq!(text, "Before the table.\n\nName\tRoom\tPhone\nAnn\t12\t555\nBo\t7\t556");
    let markdown = read_as(&[&page], Form::Markdown).text;
    assert!(
        markdown.contains("| Name | Room | Phone |\n| --- | --- | --- |\n| Ann |"),
        "{markdown}"
    );
}

#[test]
fn cells_of_a_ruled_table_may_have_several_lines() {
    let mut page = String::new();
    for y in [720.0, 680.0, 640.0] {
        page += &format!("60 {y} m 460 {y} l S\n");
    }
    for x in [60.0, 160.0, 460.0] {
        page += &format!("{x} 720 m {x} 640 l S\n");
    }
    page += &at(170.0, 705.0, 10.0, "a long text that goes");
    page += &at(170.0, 690.0, 10.0, "on in its cell");
    page += &at(65.0, 700.0, 10.0, "First");
    page += &at(65.0, 660.0, 10.0, "Second");
    page += &at(170.0, 660.0, 10.0, "short");
    assert_eq!(read(&page).text, "First\ta long text that goes on in its cell\nSecond\tshort");
}

#[test]
fn running_heads_are_no_main_content() {
    let page = |number: usize| {
        let mut page = at(60.0, 780.0, 8.0, &format!("Annual report {number}"));
        for (row, line) in LEFT.iter().enumerate() {
            page += &at(60.0, 700.0 - 14.0 * row as f64, 11.0, line);
        }
        page + &at(290.0, 20.0, 8.0, &format!("{number}"))
    };
    let (one, two) = (page(1), page(2));
    let whole = read_as(&[&one, &two], Form::Text).text;
    assert!(
        whole.starts_with("Annual report 1\n\nThe ferry") && whole.ends_with("\n\n2"),
        "{whole}"
    );
    let main = read_as(&[&one, &two], Form::MainText).text;
    assert_eq!(words(&main), format!("{0} {0}", LEFT.join(" ")));
}

#[test]
fn notes_in_the_margin_and_watermarks_come_last() {
    let mut page = "BT /F 10 Tf 0 1 -1 0 30 300 Tm (Received in March) Tj ET\n\
        .8 g BT /F 60 Tf .7 .7 -.7 .7 100 200 Tm (DRAFT) Tj ET 0 g\n"
        .to_owned();
    for (row, line) in LEFT.iter().enumerate() {
        page += &at(60.0, 700.0 - 14.0 * row as f64, 11.0, line);
    }
    assert_eq!(words(&read(&page).text), format!("{} Received in March DRAFT", LEFT.join(" ")));
    let main = read_as(&[&page], Form::MainText).text;
    assert!(main.ends_with("Received in March"), "{main}");
}

#[test]
fn a_drop_cap_belongs_to_its_word() {
    let mut page = "BT /F 40 Tf 60 676 Td (O) Tj ET\n".to_owned();
    page += &at(95.0, 698.0, 12.0, "nce the ferry had left the harbour,");
    page += &at(95.0, 684.0, 12.0, "it fell silent for the night and");
    page += &at(60.0, 662.0, 12.0, "for the day that followed it.");
    assert!(read(&page).text.starts_with("Once the ferry had left the harbour,\nit fell"));
}

#[test]
fn text_that_no_reader_sees_is_left_out_and_counted() {
    let seen = at(60.0, 700.0, 11.0, "Seen");
    for hidden in [
        // Painted over.
        "BT /F 11 Tf 60 600 Td (SECRET) Tj ET 0 g 50 590 100 30 re f",
        // In the colour of its background.
        "1 0 0 rg 50 590 100 30 re f BT /F 11 Tf 60 600 Td (SECRET) Tj ET",
        // White on a white box on a black one.
        "0 g 40 580 200 60 re f 1 g 50 590 100 30 re f BT /F 11 Tf 60 600 Td (SECRET) Tj ET",
        // Outside of the clipping area.
        "q 300 300 50 50 re W n BT /F 11 Tf 60 600 Td (SECRET) Tj ET Q",
        // Without ink, next to the visible text.
        "BT 3 Tr /F 11 Tf 60 600 Td (SECRET) Tj ET",
        // Without ink, on a coloured page that has other text.
        "BT 3 Tr /F 11 Tf 60 600 Td (SECRET) Tj ET",
    ] {
        let page = format!("{hidden}\n0 g 0 Tr\n{seen}");
        let read = read(&page);
        assert_eq!((read.text.as_str(), read.hidden), ("Seen", 6), "{hidden}");
    }
    let page =
        format!(".9 g 0 0 600 800 re f 0 g {seen} BT 3 Tr /F 11 Tf 60 600 Td (SECRET) Tj ET");
    assert_eq!(read(&page).text, "Seen");
}

#[test]
fn the_recognised_text_of_a_scan_is_read() {
    for scan in [
        "q 600 0 0 800 0 0 cm /I Do Q BT 3 Tr /F 11 Tf 60 600 Td (Recognised words) Tj ET",
        // Below the picture.
        "BT /F 11 Tf 60 600 Td (Recognised words) Tj ET q 600 0 0 800 0 0 cm /I Do Q",
        ".9 g 50 500 300 200 re f BT 3 Tr /F 11 Tf 60 600 Td (Recognised words) Tj ET",
    ] {
        let read = read(scan);
        assert_eq!((read.text.as_str(), read.hidden), ("Recognised words", 0), "{scan}");
    }
}

#[test]
fn dots_that_lead_to_a_page_number_do_not_join_the_words_before_them() {
    // One instruction draws title, dots and number, with kerns in place of spaces, as TeX does.
    let dots = "(.)-330 ".repeat(20);
    let line = format!("BT /F 10 Tf 60 700 Td [(Jewel)-330(cases)-500 {dots}(12)]TJ ET");
    let read = read(&line).text;
    assert!(read.starts_with("Jewel cases ..."), "{read}");
    assert!(read.contains("12") && !read.contains("cases."), "{read}");
}

#[test]
fn short_words_with_kerns_in_place_of_spaces_stay_apart() {
    let line = "BT /F 10 Tf 60 700 Td [(This)]TJ [-333(is)-333(a)-333(T)]TJ ( package) Tj ET";
    assert_eq!(read(line).text, "This is a T package");
}

#[test]
fn doubled_and_spaced_characters_are_words() {
    let double = at(60.0, 700.0, 12.0, "Bold words") + &at(60.4, 700.0, 12.0, "Bold words");
    assert_eq!(read(&double).text, "Bold words");
    let spaced = "BT /F 14 Tf 4 Tc 60 700 Td (NOTICE TO ALL) Tj ET";
    assert_eq!(read(spaced).text, "NOTICE TO ALL");
    let apart = at(60.0, 700.0, 12.0, "N O T I C E");
    assert_eq!(read(&apart).text, "NOTICE");
    let kerned = "BT /F 12 Tf 60 700 Td [(no)-20(space)-300(glyphs)] TJ ET";
    assert_eq!(read(kerned).text, "nospace glyphs");
}

#[test]
fn code_and_lists_become_markdown() {
    let page = "BT /C 10 Tf 12 TL 60 700 Td (if x {) Tj T* (    call\\(\\)) Tj T* (}) Tj ET\n"
        .to_owned()
        + &at(60.0, 640.0, 11.0, "A list:")
        + &at(70.0, 626.0, 11.0, "1. one")
        + &at(85.0, 612.0, 11.0, "- inner")
        + &at(70.0, 598.0, 11.0, "2. two");
    let markdown = read_as(&[&page], Form::Markdown).text;
    assert_eq!(markdown, "```\nif x {\n    call()\n}\n```\n\nA list:\n\n1. one\n  - inner\n2. two");
}

#[test]
fn a_numbered_heading_is_no_list_item() {
    let mut page = at(60.0, 750.0, 16.0, "1. Introduction");
    for (row, line) in LEFT.iter().enumerate() {
        page += &at(60.0, 720.0 - 14.0 * row as f64, 11.0, line);
    }
    page += &at(60.0, 610.0, 16.0, "2. Method");
    for (row, line) in RIGHT.iter().enumerate() {
        page += &at(60.0, 580.0 - 14.0 * row as f64, 11.0, line);
    }
    let markdown = read_as(&[&page], Form::Markdown).text;
    assert!(markdown.starts_with("# 1\\. Introduction\n\nThe ferry"), "{markdown}");
    assert!(markdown.contains("\n\n# 2\\. Method\n\nEvery second"), "{markdown}");
}

/// Paragraphs at the top of a page.
fn paragraphs(paragraphs: &[&str]) -> String {
    let place = |(number, text): (usize, &&str)| at(60.0, 700.0 - 40.0 * number as f64, 11.0, text);
    paragraphs.iter().enumerate().map(place).collect()
}

/// What is written from the start of each page on, up to the start of the next one.
fn by_page(read: &Extracted) -> Vec<&str> {
    let ends = read.pages.iter().skip(1).copied().chain([read.text.len()]);
    read.pages.iter().zip(ends).map(|(start, end)| &read.text[*start..end]).collect()
}

#[test]
fn pages_begin_at_their_first_words() {
    let pages =
        ["Apples are red.", "Pears are green.", "Plums are blue."].map(|it| paragraphs(&[it]));
    let pages = pages.each_ref().map(String::as_str);
    for form in [Form::Text, Form::Markdown, Form::MainText, Form::MainMarkdown] {
        let read = read_as(&pages, form);
        assert_eq!(
            by_page(&read),
            ["Apples are red.\n\n", "Pears are green.\n\n", "Plums are blue."],
            "{form:?}"
        );
    }
    assert_eq!(read_as(&["", ""], Form::Text).pages, [0, 0]);
}

#[test]
fn a_page_without_text_begins_where_the_next_one_does() {
    let (first, third) = (paragraphs(&["Apples are red."]), paragraphs(&["Plums are blue."]));
    let read = read_as(&["", &first, "", &third, ""], Form::Markdown);
    let expected = ["", "Apples are red.\n\n", "", "Plums are blue.", ""];
    assert_eq!((read.parts, by_page(&read).as_slice()), (5, expected.as_slice()));
}

#[test]
fn a_paragraph_over_the_end_of_a_page_belongs_to_the_page_where_it_begins() {
    let first = paragraphs(&["Apples are red.", "Pears that no one has picked"]);
    let second = paragraphs(&["are green and will", "Plums are blue."]);
    let read = read_as(&[&first, &second], Form::Text);
    let pear = "Pears that no one has picked\nare green and will\n\n";
    let first_page = format!("Apples are red.\n\n{pear}");
    assert_eq!(by_page(&read), [first_page.as_str(), "Plums are blue."]);

    // The second page has nothing but the middle of the paragraph.
    let second = paragraphs(&["are green and will"]);
    let third = paragraphs(&["fall soon.", "Plums are blue."]);
    let read = read_as(&[&first, &second, &third], Form::Text);
    let pear = "Pears that no one has picked\nare green and will\nfall soon.\n\n";
    let first_page = format!("Apples are red.\n\n{pear}");
    assert_eq!(by_page(&read), [first_page.as_str(), "", "Plums are blue."]);
}

#[test]
fn pages_beyond_the_limit_begin_at_the_end_of_the_text() {
    let pages =
        ["Apples are red.", "Pears are green.", "Plums are blue."].map(|it| paragraphs(&[it]));
    let pages = pages.each_ref().map(String::as_str);
    let limits = Limits { text: 20, ..Limits::default() };
    let read = extract(pdf(&pages), &Options::new("application/pdf"), &limits).unwrap();
    assert!(read.truncated);
    assert_eq!(by_page(&read), ["Apples are red.\n\n", "Pea", ""]);
}

#[test]
fn a_page_with_very_many_words_ends() {
    let mut page = String::from("BT /F 2 Tf\n");
    for number in 0_u32..30_000 {
        let (x, y) = (number.wrapping_mul(7919) % 600, number.wrapping_mul(104_729) % 8000);
        writeln!(page, "1 0 0 1 {x} {} Tm (w) Tj", f64::from(y) / 10.0).unwrap();
    }
    page.push_str("ET");
    assert!(read(&page).text.len() > 10_000);
}

/// Words anywhere on the page in any size, which do not overlap.
fn placed() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    prop::collection::vec((0_u8..5, 0_u8..30, 6_u8..14), 1..60).prop_map(|mut words| {
        words.sort_unstable_by_key(|word| (word.0, word.1));
        words.dedup_by_key(|word| (word.0, word.1));
        words
    })
}

proptest! {
    #[test]
    fn every_word_is_read_once(placed in placed(), shuffle in any::<u64>()) {
        let mut pieces: Vec<(u64, String, String)> = placed
            .iter()
            .enumerate()
            .map(|(number, (column, row, size))| {
                let word = format!("w{number}q");
                let (x, y) = (30.0 + f64::from(*column) * 110.0, 40.0 + f64::from(*row) * 24.0);
                let order = shuffle.wrapping_mul(number as u64 * 2 + 1).rotate_left(17);
                (order, at(x, y, f64::from(*size), &word), word)
            })
            .collect();
        pieces.sort();
        let page: String = pieces.iter().map(|(_, piece, _)| piece.as_str()).collect();
        for form in [Form::Text, Form::Markdown] {
            let text = read_as(&[&page], form).text;
            let mut found: Vec<&str> =
                text.split(|it: char| !it.is_alphanumeric()).filter(|it| it.starts_with('w')).collect();
            let mut expected: Vec<&str> = pieces.iter().map(|(_, _, word)| word.as_str()).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn any_drawing_is_read(
        operations in prop::collection::vec(("[a-zA-Z*']{1,2}", prop::collection::vec(-1.0e9_f64..1.0e9, 0..6)), 0..40),
        matrix in prop::array::uniform6(-1.0e6_f64..1.0e6),
    ) {
        let mut page = format!(
            "BT /F 10 Tf {} {} {} {} {} {} Tm (some text) Tj ET\n",
            matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]
        );
        for (operator, operands) in operations {
            for operand in operands {
                write!(page, "{operand} ").unwrap();
            }
            writeln!(page, "{operator} BT /F 8 Tf (x y) Tj ET").unwrap();
        }
        let read = read(&page);
        prop_assert!(read.parts == 1);
    }
}
