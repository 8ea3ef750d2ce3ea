use super::*;

fn cited(author: &str, title: &str, site: &str, date: &str) -> CitationFormats {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let metadata = CitationMetadata {
        title: some(title),
        author: some(author),
        site: some(site),
        date: some(date),
    };
    cite("https://example.com/a", "2026-11-16", metadata).formatted
}

#[test]
fn a_page_with_all_parts_is_cited_in_both_styles() {
    let formats = cited("Jane Q. Doe", "How tides work", "Ocean Weekly", "2024-05-03T10:00:00Z");
    assert_eq!(
        formats.apa,
        "Doe, J. Q. (2024, May 3). How tides work. Ocean Weekly. https://example.com/a"
    );
    assert_eq!(
        formats.mla,
        "Doe, Jane Q. \"How tides work.\" Ocean Weekly, 3 May 2024, https://example.com/a. Accessed 16 Nov. 2026."
    );
}

#[test]
fn missing_parts_are_left_out() {
    let formats = cited("", "Is it true?", "", "");
    assert_eq!(formats.apa, "Is it true? (n.d.). https://example.com/a");
    assert_eq!(formats.mla, "\"Is it true?\" https://example.com/a. Accessed 16 Nov. 2026.");
    let formats = cited("", "", "example.com", "2023");
    assert_eq!(formats.apa, "example.com. (2023). https://example.com/a");
    assert_eq!(formats.mla, "example.com, 2023, https://example.com/a. Accessed 16 Nov. 2026.");
    let formats = cited("", "", "", "2023-09");
    assert_eq!(formats.apa, "https://example.com/a. (2023, September). https://example.com/a");
    assert!(formats.mla.starts_with("Sept. 2023, "), "{}", formats.mla);
}

#[test]
fn an_organisation_that_publishes_its_own_page_is_named_once() {
    let formats = cited("World Health Organization", "Tides", "World Health Organization", "2024");
    assert!(
        formats.apa.starts_with("World Health Organization. (2024). Tides. https:"),
        "{}",
        formats.apa
    );
    assert!(
        formats.mla.starts_with("\"Tides.\" World Health Organization, 2024"),
        "{}",
        formats.mla
    );
}

#[test]
fn names_are_read_as_pages_write_them() {
    for (author, apa, mla) in [
        ("By Jane Doe", "Doe, J.", "Doe, Jane."),
        ("Doe, Jane", "Doe, J.", "Doe, Jane."),
        ("Jane Doe and John Smith", "Doe, J., & Smith, J.", "Doe, Jane, and John Smith."),
        ("Jane Doe, John Smith, Ann Lee", "Doe, J., Smith, J., & Lee, A.", "Doe, Jane, et al."),
        ("Doe, Jane; Smith, John", "Doe, J., & Smith, J.", "Doe, Jane, and John Smith."),
        ("Ludwig van Beethoven", "van Beethoven, L.", "van Beethoven, Ludwig."),
        ("Jean-Paul Sartre", "Sartre, J.-P.", "Sartre, Jean-Paul."),
        ("Martin Luther King Jr.", "King, M. L., Jr.", "King, Martin Luther, Jr."),
        ("Jane Doe, PhD", "Doe, J.", "Doe, Jane."),
        ("Reuters Staff", "Reuters Staff.", "Reuters Staff."),
        ("Met Service of Fiji", "Met Service of Fiji.", "Met Service of Fiji."),
        ("Acme, Inc.", "Acme, Inc.", "Acme, Inc."),
        ("Plato", "Plato.", "Plato."),
        ("山田 太郎", "山田 太郎.", "山田 太郎."),
    ] {
        let formats = cited(author, "T", "", "");
        assert!(formats.apa.starts_with(&format!("{apa} (n.d.)")), "{author}: {}", formats.apa);
        assert!(formats.mla.starts_with(&format!("{mla} \"T.\"")), "{author}: {}", formats.mla);
    }
}

#[test]
fn very_many_authors_are_shortened() {
    let authors: Vec<String> = (b'A'..=b'Y').map(|c| format!("Ann {}x", char::from(c))).collect();
    let formats = cited(&authors.join(", "), "T", "", "");
    assert!(formats.apa.contains("Sx, A., … Yx, A. (n.d.)"), "{}", formats.apa);
}

#[test]
fn the_numeric_style_names_what_is_known() {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let numeric = |author, title, site, date, url| {
        let metadata = CitationMetadata {
            title: some(title),
            author: some(author),
            site: some(site),
            date: some(date),
        };
        format(Style::Numeric, url, "2026-11-16", &metadata)
    };
    assert_eq!(
        numeric(
            "Jane Q. Doe; John Smith",
            "How tides work",
            "Ocean Weekly",
            "2024-05-03",
            "https://a.test/"
        ),
        "J. Q. Doe and J. Smith, \"How tides work,\" Ocean Weekly, May 3, 2024. [Online]. Available: https://a.test/. \
         Accessed: Nov. 16, 2026."
    );
    assert_eq!(
        numeric("Tide Coatings", "Tides", "Tide Coatings (Bremen)", "2024", ""),
        "Tide Coatings, \"Tides,\" Tide Coatings (Bremen), 2024."
    );
    for (author, shown) in [
        ("By Tom Hatch, 3 May 2021", "T. Hatch"),
        ("R. K. Sharma et al.", "R. K. Sharma"),
        ("Gajendran R., Ponnapalli A.", "R. Gajendran and A. Ponnapalli"),
    ] {
        assert_eq!(numeric(author, "Tides", "", "2024", ""), format!("{shown}, \"Tides,\" 2024."));
    }
    assert_eq!(numeric("", "Why tides?", "", "2024", ""), "\"Why tides?\" 2024.");
    assert_eq!(numeric("", "Tides", "", "", ""), "\"Tides,\" n.d.");
    assert_eq!(numeric("", "", "", "", ""), "");
    let apa = format(
        Style::Apa,
        "",
        "",
        &CitationMetadata { title: some("Tides"), ..Default::default() },
    );
    assert_eq!(apa, "Tides. (n.d.).");
}
