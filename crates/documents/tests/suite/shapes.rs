//! Small pages, and their main content as exact Markdown.

use documents::{Form, Limits, Options, extract};

/// Cases, each `=== name`, HTML, `---`, Markdown. The HTML is a part of an article: between two paragraphs, behind them if
/// the name ends with `(last)`, or the whole body of the page if it ends with `(page)`.
const CASES: &str = include_str!("../fixtures/shapes.txt");

const FIRST: &str = "The river rose by two metres in a single night, and by the morning most of the lower town was under water. \
    No one was hurt, the mayor said, but the bridge will stay closed until engineers have looked at its pillars.";
const SECOND: &str = "Volunteers filled thousands of sandbags in the school yard. Some of them had come from villages upstream, \
    where the flood had passed a day earlier and left mud in every cellar along the main street.";

fn read(body: &str) -> String {
    let page = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>The flood - Example</title></head><body>\
         <header><nav><a href=/>Home</a> <a href=/news>News</a> <a href=/about>About us</a></nav></header>{body}\
         <footer><p>Imprint and privacy</p><a href=/terms>Terms of use</a></footer></body></html>"
    );
    let options = Options { url: Some("https://example.org/a/flood"), ..Options::new("text/html") };
    let options = options.with_form(Form::MainMarkdown);
    extract(page.into_bytes(), &options, &Limits::default()).unwrap().text
}

fn article(inner: &str) -> String {
    format!("<main><article><h1>The flood</h1>{inner}</article></main>")
}

#[test]
fn each_shape_has_its_markdown() {
    let (mut count, mut wrong) = (0, Vec::new());
    for case in CASES.split("\n=== ").skip(1) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (html, markdown) = rest.split_once("\n---\n").unwrap();
        let (first, second) = (format!("<p>{FIRST}</p>"), format!("<p>{SECOND}</p>"));
        let markdown = markdown.trim_end();
        let (body, expected) = if name.ends_with("(page)") {
            let fill = |text: &str| text.replace("FIRST", FIRST).replace("SECOND", SECOND);
            (fill(html), fill(markdown))
        } else if name.ends_with("(last)") {
            let expected = format!("# The flood\n\n{FIRST}\n\n{SECOND}\n\n{markdown}");
            (article(&format!("{first}{second}{html}")), expected)
        } else {
            let expected = format!("# The flood\n\n{FIRST}\n\n{markdown}\n\n{SECOND}");
            (article(&format!("{first}{html}{second}")), expected)
        };
        let found = read(&body);
        count += 1;
        if found != expected {
            wrong.push(format!("=== {name}: found\n{found}\n--- expected\n{expected}\n"));
        }
    }
    assert!(count >= 40, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count} cases differ\n{}", wrong.len(), wrong.join("\n"));
}
