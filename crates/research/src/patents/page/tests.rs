use super::*;

fn hit(url: &str, title: &str, snippet: &str) -> Hit {
    Hit {
        url: url.to_owned(),
        title: title.to_owned(),
        snippet: snippet.to_owned(),
        ..Hit::default()
    }
}

#[test]
fn results_become_patents() {
    let snippet = "Assignee: Acme Corp; Inventors: Jane Doe, John Roe; Filed 2017-03-02 · Granted: 2018-06-19.";
    let found = read(
        hit(
            "https://patents.google.com/patent/US10000000B2/de?q=x",
            "US10000000B2 - Coherent LADAR - Google Patents",
            snippet,
        ),
        0,
    );
    let patent = found.unwrap().patent;
    assert_eq!(patent.number, "US10000000B2");
    assert_eq!(patent.title, "Coherent LADAR");
    assert_eq!(patent.url, "https://patents.google.com/patent/US10000000B2/en");
    assert_eq!(patent.assignee.as_deref(), Some("Acme Corp"));
    assert_eq!(patent.inventor.as_deref(), Some("Jane Doe, John Roe"));
    assert_eq!(
        (patent.filed.as_deref(), patent.granted.as_deref()),
        (Some("2017-03-02"), Some("2018-06-19"))
    );
}

#[test]
fn other_pages_are_no_patents() {
    for url in [
        "https://patents.google.com/?q=x",
        "https://patents.google.com/patent/",
        "https://patents.google.com/patent/X/en",
        "https://patents.google.com/patent/10000000/en",
    ] {
        assert!(read(hit(url, "x", ""), 0).is_none(), "{url}");
    }
}

#[test]
fn families_and_years_are_recognized() {
    let read = |number: &str, title: &str| {
        read(hit(&format!("https://patents.google.com/patent/{number}/en"), title, ""), 0).unwrap()
    };
    let title = "Solar cell with a textured surface";
    let application = read("US20200012345A1", &format!("{title} - Google Patents"));
    let grant = read("US11000000B2", &title.to_uppercase());
    assert_eq!(application.family, grant.family);
    let device = |number: &str| read(number, "Display device").family;
    assert_ne!(device("US11000001B2"), device("US11000002B2"));
    assert_eq!((application.year(), grant.year()), (Some(2020), None));
    assert_eq!(read("EP1234567A1", "…").family, read("EP1234567B1", "…").family);
    assert_eq!(read("USRE45678E1", "x").family, "USRE45678");
    assert_eq!(read("WO2019123456A1", "x").year(), Some(2019));
}
