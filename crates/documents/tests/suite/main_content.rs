//! Main content, Markdown and metadata of pages of different kinds.

use documents::{Extracted, Form, Limits, Options, extract};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

const URL: &str = "https://example.org/a/page.html";

fn read(html: &str, form: Form) -> Extracted {
    let options = Options { url: Some(URL), ..Options::new("text/html") }.with_form(form);
    extract(html.as_bytes().to_vec(), &options, &Limits::default()).unwrap()
}

/// A page with what surrounds content on most sites.
fn around(head: &str, content: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>A page - Example</title>{head}</head><body>
         <header class=site-header><a href=/>Example</a>
         <nav class=main-nav><ul><li><a href=/news>News</a></li><li><a href=/shop>Shop</a></li>
         <li><a href=/about>About us</a></li><li><a href=/contact>Contact</a></li></ul></nav></header>
         {content}
         <aside class=sidebar><h3>Most read</h3><ul><li><a href=/1>Ten ways to cook rice</a></li>
         <li><a href=/2>Why cats sleep all day</a></li><li><a href=/3>The best tents of the year</a></li></ul></aside>
         <footer class=site-footer><p>© 2026 Example Ltd. All rights reserved.</p>
         <ul><li><a href=/privacy>Privacy policy</a></li><li><a href=/terms>Terms of use</a></li></ul></footer>
         <div class=cookie-banner><p>We use cookies to improve your experience.</p><button>Accept all</button></div>
         </body></html>"
    )
}

const PROSE: [&str; 4] = [
    "The river rose by two metres in a single night, and by the morning most of the lower town was under water. \
     No one was hurt, the mayor said, but the bridge will stay closed until engineers have looked at its pillars.",
    "Volunteers filled thousands of sandbags in the school yard. Some of them had come from villages upstream, where \
     the flood had passed a day earlier and left mud in every cellar along the main street.",
    "According to the weather service, rain of this strength falls about once in fifty years. Its models show that \
     such events will become more frequent, since warm air carries more water than cold air does.",
    "The town now wants to move the dam two hundred metres back from the bank, which would give the river room. The \
     plan is old, but it never had a majority in the council; this time, the vote is expected to be close.",
];

fn assert_is_clean(text: &str, form: Form) {
    for outside in [
        "About us",
        "Ten ways",
        "cats sleep",
        "Privacy policy",
        "rights reserved",
        "cookies",
        "Accept all",
    ] {
        assert!(!text.contains(outside), "{form:?}: `{outside}` in {text}");
    }
}

#[test]
fn an_article_is_read_without_its_surroundings() {
    let paragraphs: String = PROSE.map(|text| format!("<p>{text}</p>")).concat();
    let page = around(
        "",
        &format!(
            "<main><article class=post><h1>The river came at night</h1>
             <div class=byline>By <a rel=author href=/ann>Ann Lee</a></div>
             <div class=mobile-only>{}</div><div class=entry-content><h2>What comes next</h2>{paragraphs}</div>
             <div class=share-buttons><a href=#>Share</a> <a href=#>Tweet</a></div></article>
             <section class=related-posts><h2>Related articles</h2><ul><li><a href=/x>Dams and where to find them</a></li>
             <li><a href=/y>A history of floods</a></li></ul></section></main>",
            PROSE[..2].iter().map(|text| format!("<p>{text}</p>")).collect::<String>()
        ),
    );
    for form in [Form::MainText, Form::MainMarkdown] {
        let text = read(&page, form).text;
        assert_is_clean(&text, form);
        assert!(!text.contains("Dams and where") && !text.contains("Tweet"), "{text}");
        assert!(text.contains("What comes next"), "{text}");
        for paragraph in PROSE {
            // The page has two of the paragraphs twice.
            assert_eq!(text.matches(paragraph).count(), 1, "{text}");
        }
    }
}

#[test]
fn the_heading_of_the_page_and_short_items_are_kept() {
    let page = around(
        "",
        &format!(
            "<div class=hero><h1>A page</h1></div><div class=crumbs><a href=/>Home</a> <a href=/town>Town</a></div>
             <main><article><p>{}</p><p>Bring these:</p><ul><li>gloves, and boots that reach above the knee</li>
             <li>a spade</li><li>tea</li><li>time</li></ul><p>{}</p></article></main>",
            PROSE[0], PROSE[1]
        ),
    );
    let text = read(&page, Form::MainMarkdown).text;
    assert_is_clean(&text, Form::MainMarkdown);
    assert!(text.starts_with("# A page\n"), "{text}");
    assert!(text.contains("\n- a spade\n- tea\n- time\n"), "{text}");
}

#[test]
fn documentation_keeps_code_and_tables() {
    let page = around(
        "",
        &format!(
            "<main role=main><div class=markdown-body><h1>Install the tool</h1><p>{}</p>
             <pre><code class=language-sh>curl -O https://example.org/tool\nchmod +x tool\n</code></pre>
             <p>{}</p><table><tr><th>Option</th><th>Meaning</th></tr>
             <tr><td><code>--all</code></td><td>Show everything, also what is <b>hidden</b></td></tr>
             <tr><td><code>--json</code></td><td>Print one line of JSON for programs</td></tr></table>
             <ol><li>Download the <a href=../files/tool>file</a> of your system.</li><li>Run it once as administrator.</li></ol>
             <p>{}</p></div></main>",
            PROSE[0], PROSE[1], PROSE[2]
        ),
    );
    let text = read(&page, Form::MainMarkdown).text;
    assert_is_clean(&text, Form::MainMarkdown);
    assert!(text.contains("```sh\ncurl -O https://example.org/tool\nchmod +x tool\n```"), "{text}");
    assert!(text.contains("| Option | Meaning |\n| --- | --- |\n| `--all` |"), "{text}");
    assert!(text.contains("what is **hidden** |"), "{text}");
    assert!(
        text.contains(
            "1. Download the [file](https://example.org/files/tool) of your system.\n2. Run"
        ),
        "{text}"
    );
}

#[test]
fn a_thread_is_read_with_its_answers() {
    let posts: String = PROSE
        .iter()
        .enumerate()
        .map(|(at, text)| {
            format!(
                "<div class='post topic-reply' id=post{at}><div class=author-info><span class=username>user{at}</span></div>
                 <div class=post-body><p>{text}</p></div><div class=post-actions><a href=#>Quote</a></div></div>"
            )
        })
        .collect();
    let page = around(
        "",
        &format!("<div id=content class=thread><h1>Flood in the lower town</h1>{posts}</div>"),
    );
    let text = read(&page, Form::MainText).text;
    assert_is_clean(&text, Form::MainText);
    for answer in PROSE {
        assert!(text.contains(answer), "{text}");
    }
}

#[test]
fn a_list_of_products_is_content_on_its_own_page() {
    let cards: String = (1..25)
        .map(|number| {
            format!(
                "<li class=product-card><a href=/p/{number}><h3>Enamel mug number {number}</h3></a>
                 <p>A steel mug with enamel in colour {number}, for coffee and tea by the fire.</p><span class=price>${number}9.95</span></li>"
            )
        })
        .collect();
    let page =
        around("", &format!("<main><h1>Mugs</h1><ul class=product-grid>{cards}</ul></main>"));
    let text = read(&page, Form::MainMarkdown).text;
    assert_is_clean(&text, Form::MainMarkdown);
    assert!(text.contains("[Enamel mug number 7](https://example.org/p/7)"), "{text}");
    assert!(text.contains("colour 24, for coffee"), "{text}");
}

#[test]
fn content_for_browsers_without_scripts_is_read_if_there_is_no_other() {
    let paragraphs: String = PROSE.map(|text| format!("<p>{text}</p>")).concat();
    let page = format!(
        "<body><div id=app></div><noscript><main><h1>Topic</h1>{paragraphs}</main></noscript></body>"
    );
    assert!(read(&page, Form::MainText).text.contains(PROSE[3]));
    let page = format!(
        "<body><main>{paragraphs}</main><noscript>Switch <b>scripts</b> on.</noscript></body>"
    );
    assert!(!read(&page, Form::MainText).text.contains("Switch"));
}

#[test]
fn streamed_content_is_in_its_place() {
    let page = format!(
        "<main><h1>Title</h1><!--$?--><template id=\"B:0\"></template><p>Loading</p><!--/$--></main>
         <div hidden id=\"S:0\"><p>{}</p><p>{}</p></div><script>$RC(\"B:0\",\"S:0\")</script>
         <div hidden id=\"S:1\"><p>SECRET</p></div>",
        PROSE[0], PROSE[1]
    );
    let whole = read(&page, Form::Text);
    assert!(
        whole.text.starts_with(&format!("Title\n\n{}\n\n{}", PROSE[0], PROSE[1])),
        "{}",
        whole.text
    );
    assert_eq!(whole.hidden, "SECRET".len());
    // A place within its own content is read once.
    let circle = "<div><template id=B:0></template></div><div hidden id=S:0><p>x</p><template id=B:0></template></div>\
        <script>$RC(\"B:0\",\"S:0\")</script>";
    read(circle, Form::Text);
    // Without a script that moves it, it stays hidden.
    for script in [
        "",
        "<script>$RC(\"B:1\",\"S:1\")</script>",
        "<script>$RC(\"B:0\",\"S:01\")</script>",
        "<script type=text/plain>$RC(\"B:0\",\"S:0\")</script>",
    ] {
        let page =
            format!("<p>a<template id=B:0></template></p><div hidden id=S:0>SECRET</div>{script}");
        let whole = read(&page, Form::Text);
        assert_eq!((whole.text.as_str(), whole.hidden), ("a", "SECRET".len()), "{script}");
    }
    // Saved copies have no scripts: what is nearly all of the page is its content.
    let copy = page.replace("<script>$RC(\"B:0\",\"S:0\")</script>", "");
    let copy = copy.replace(PROSE[1], &PROSE[1].repeat(3));
    assert!(read(&copy, Form::Text).text.contains(PROSE[1]));
}

#[test]
fn data_of_the_page_is_read_if_the_page_shows_little() {
    let data = format!(
        "<script type=application/ld+json>{{\"@type\": \"Product\", \"name\": \"Sandbag\", \"description\": \"<p>{} {}</p>\"}}</script>",
        PROSE[0], PROSE[1]
    );
    let text =
        read(&format!("{data}<main><h1>Sandbag</h1><p>$2.50</p></main>"), Form::MainText).text;
    assert!(text.contains(PROSE[1]) && !text.contains("<p>"), "{text}");
    let shown = format!("{data}<main><h1>Sandbag</h1><p>{} {}</p></main>", PROSE[0], PROSE[1]);
    let text = read(&shown, Form::MainText).text;
    assert_eq!(text.matches(PROSE[1]).count(), 1, "{text}");
    let other =
        format!("{data}<main><h1>Sandbag</h1><p>{}</p><p>{}</p></main>", PROSE[2], PROSE[3]);
    let text = read(&other, Form::MainText).text;
    assert!(text.contains(PROSE[3]) && !text.contains(PROSE[1]), "{text}");
}

#[test]
fn markdown_keeps_the_structure_and_safe_links() {
    let text = read(
        "<base href=/docs/><h2>One <em>two</em></h2><p>A <a href='b.html?x=(1)'>link <b>bold</b></a>, \
         <a href='javascript:x()'>script</a>, <a href=' DATA:text/html,x'>data</a>, <a href=#top>top</a>, \
         <code>a_b*c</code> and 2*3*4.<br>Next <i>line</i></p><blockquote><p>Said</p></blockquote>\
         <ul><li>one<ul><li>inner</li></ul></li><li><p>two</p><p>more</p></li></ul>\
         <a href=/card><h3>Card</h3><p>Its text</p></a><pre>  x\n y</pre>",
        Form::Markdown,
    )
    .text;
    assert_eq!(
        text,
        "## One *two*\n\nA [link **bold**](https://example.org/docs/b.html?x=%281%29), script, data, top, `a_b*c` and \
         2\\*3\\*4.  \nNext *line*\n\n> Said\n\n- one\n  - inner\n- two\n\n  more\n\n### [Card](https://example.org/card)\n\n\
         Its text\n\n```\n  x\n y\n```"
    );
}

#[test]
fn a_link_after_an_exclamation_mark_is_no_picture() {
    let text = read(
        "<p>Read now!<a href=/a>More</a> <b>Wow!<b><a href=/b>b</a></b></b>!</p>",
        Form::Markdown,
    );
    assert_eq!(
        text.text,
        "Read now\\![More](https://example.org/a) **Wow\\![b](https://example.org/b)**!"
    );
}

#[test]
fn metadata_comes_from_the_best_source() {
    let meta = read(
        "<html lang=de-AT><head><title>T | Site</title><meta property=og:title content='The title'>
         <meta property=og:site_name content=Site><meta name=description content='About it'>
         <meta property=article:published_time content=2026-03-15T08:00:00Z><link rel=canonical href=/canonical>
         <meta name=citation_author content='Lee, Ann'><meta name=citation_author content='Roe, Ben'>
         <meta name=citation_doi content='https://doi.org/10.1000/182'>
         <meta property=article:modified_time content=2026-03-16></head><body><p>x</p>",
        Form::MainText,
    )
    .meta;
    let found = [meta.title, meta.author, meta.site, meta.published, meta.modified];
    assert_eq!(
        found.map(Option::unwrap),
        ["The title", "Lee, Ann, Roe, Ben", "Site", "2026-03-15", "2026-03-16"].map(str::to_owned)
    );
    let found = [meta.language, meta.description, meta.canonical, meta.doi];
    assert_eq!(
        found.map(Option::unwrap),
        ["de-AT", "About it", "https://example.org/canonical", "10.1000/182"].map(str::to_owned)
    );
    let meta = read(
        "<head><script type=application/ld+json>{\"@graph\": [{\"@type\": \"WebSite\", \"name\": \"S\"}, {\"@type\": \
         [\"NewsArticle\"], \"headline\": \"H\", \"author\": [{\"name\": \"Ann\"}, {\"name\": \"Ben\"}], \"datePublished\": \
         \"2025-01-02\", \"publisher\": {\"name\": \"Paper\"}, \"inLanguage\": \"en_US\"}]}</script></head><h1>Other</h1>",
        Form::Text,
    )
    .meta;
    let found = [meta.title, meta.author, meta.site, meta.published, meta.language];
    assert_eq!(
        found.map(Option::unwrap),
        ["H", "Ann, Ben", "Paper", "2025-01-02", "en-US"].map(str::to_owned)
    );
    let meta = read("<h1>Only a heading</h1><span class=byline>By Ann Lee</span>", Form::Text).meta;
    assert_eq!(
        (meta.title.unwrap(), meta.author.unwrap()),
        ("Only a heading".into(), "Ann Lee".into())
    );
}

#[test]
fn a_deep_page_is_read_as_far_as_it_goes() {
    let deep = format!("<h1>Start</h1><p>{}</p>{}end", PROSE[0], "<div><b>".repeat(20_000));
    let read = read(&deep, Form::MainText);
    assert!(read.text.contains(PROSE[0]) && read.truncated, "{read:?}");
}

#[test]
fn a_large_page_ends_within_the_limits() {
    let row = format!("<li class=a><a href=/x>{}</a> <b>5 < 6</b></li>", "word ".repeat(20));
    let large = format!("<ul>{}</ul>", row.repeat(60_000));
    let limits = Limits { text: 1 << 20, ..Limits::default() };
    for form in [Form::Markdown, Form::MainMarkdown] {
        let options = Options { url: Some(URL), ..Options::new("text/html") }.with_form(form);
        let read = extract(large.clone().into_bytes(), &options, &limits).unwrap();
        assert!(read.text.len() <= 1 << 20 && read.truncated, "{}", read.text.len());
    }
}

/// Pieces of HTML in any order: tags that do not fit, attributes that hide, links that run code.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<div class='nav post content' id=x>".to_owned()),
        Just("</div><p>".to_owned()),
        Just("<table><tr><td>a<td>b<tr><th>c".to_owned()),
        Just("</table></table>".to_owned()),
        Just("<ul><li>x<ol start=4294967295><li>y<li>".to_owned()),
        Just("<a href='javascript:a()'>t".to_owned()),
        Just("<a href='//e.org/%'><h2>".to_owned()),
        Just("<b><i><code>".to_owned()),
        Just("</a></b></code>".to_owned()),
        Just("<pre>\n x\n<code class=language-rs>".to_owned()),
        Just("<template id=B:1></template><div hidden id=S:1>".to_owned()),
        Just("<script>$RC(\"B:1\",\"S:1\")</script>".to_owned()),
        Just("<noscript><p>no".to_owned()),
        Just("<style>.a{display:none} b{".to_owned()),
        Just(
            "<script type=application/ld+json>{\"@type\":\"Article\",\"text\":\"x\"}</script>"
                .to_owned()
        ),
        Just("<svg><title>t</title><foreignObject><p>".to_owned()),
        Just("<math><mi>x<annotation>y".to_owned()),
        Just("<br><br> &nbsp;|\t`*_ [x](y) # > 1. \u{200b}é日本".to_owned()),
        any::<String>(),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_page_is_read(html in pieces(), text in 0_usize..400) {
        let limits = Limits { text, ..Limits::default() };
        for form in [Form::Text, Form::Markdown, Form::MainText, Form::MainMarkdown] {
            let options = Options { url: Some(URL), ..Options::new("text/html") }.with_form(form);
            let read = extract(html.clone().into_bytes(), &options, &limits).unwrap();
            assert!(read.text.len() <= text, "{} > {text}", read.text.len());
            assert!(!read.text.contains("](javascript:"), "{}", read.text);
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..2000), charset in "[a-z0-9-]{0,12}") {
        let options = Options { charset: Some(&charset), ..Options::new("text/html") };
        let _ = extract(bytes, &options.with_form(Form::MainMarkdown), &Limits::default());
    }

    /// Words that occur once on a page occur at most once in its text.
    #[test]
    fn nothing_is_written_twice(
        tags in vec(proptest::sample::select(vec!["div", "p", "h2", "li", "td", "span", "a href=/x", "b", "section", "pre"]), 1..30),
    ) {
        let mut html = String::new();
        for (at, tag) in tags.iter().enumerate() {
            html.push_str(&format!("<{tag}>unique{at}word "));
            if at % 3 == 0 {
                html.push_str(&format!("</{}>", tag.split(' ').next().unwrap()));
            }
        }
        for form in [Form::Text, Form::Markdown, Form::MainText, Form::MainMarkdown] {
            let text = read(&html, form).text;
            for at in 0..tags.len() {
                let count = text.matches(&format!("unique{at}word")).count();
                assert!(count <= 1, "{at} in {text}");
                assert!(form.is_main() || count == 1, "{at} in {text}");
            }
        }
    }
}
