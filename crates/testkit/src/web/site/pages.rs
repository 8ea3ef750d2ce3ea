//! The list of pages, and the articles.

/// A page of the site.
#[derive(Clone, Debug)]
pub struct SitePage {
    pub path: String,
    pub title: String,
    /// What it is good for, such as `article` or `slow`.
    pub kind: &'static str,
}

/// The pages that are no articles: path, title and kind.
const SPECIAL: [(&str, &str, &str); 34] = [
    ("/copies/1", "How ocean tides work, part 1", "duplicate"),
    ("/copies/2", "How ocean tides work, part 2", "duplicate"),
    ("/near/1", "Ocean tides, retold", "near duplicate"),
    ("/near/2", "Ocean tides, retold again", "near duplicate"),
    ("/cakes", "How to bake a cake", "off topic"),
    ("/slow/headers", "Never answers", "slow"),
    ("/slow/body", "Stops in the middle", "slow"),
    ("/slow/200ms", "Takes its time", "slow"),
    ("/broken/cut", "Breaks off", "broken"),
    ("/broken/empty", "Empty", "broken"),
    ("/status/404", "Not found", "broken"),
    ("/status/408", "Timeout", "broken"),
    ("/status/410", "Gone", "broken"),
    ("/status/429", "Too many", "broken"),
    ("/status/500", "Failure", "broken"),
    ("/spa", "Made by a script", "spa"),
    ("/challenge/403", "Just a moment...", "challenge"),
    ("/challenge/429", "Just a moment...", "challenge"),
    ("/challenge/503", "Just a moment...", "challenge"),
    ("/challenge/200", "Verify you are human", "challenge"),
    ("/charset/wrong", "Wrong charset", "charset"),
    ("/charset/meta", "Charset in the page", "charset"),
    ("/bomb/gzip", "Gzip bomb", "bomb"),
    ("/bomb/depth", "Depth bomb", "bomb"),
    ("/endless", "Never ends", "bomb"),
    ("/large", "50 MB", "bomb"),
    ("/redirect/article", "Redirect to an article", "redirect"),
    ("/redirect/loop", "Redirect to itself", "redirect"),
    ("/hidden", "Hidden text", "hidden"),
    ("/markdown", "Markdown by negotiation", "markdown"),
    ("/files/article.pdf", "A PDF", "document"),
    ("/files/report.docx", "A DOCX", "document"),
    ("/files/notes.txt", "A text", "text"),
    ("/files/data.json", "JSON", "json"),
];

/// Topics of the articles; each has paragraphs of its own.
const TOPICS: [&str; 16] = [
    "the moon",
    "the sun",
    "harbours",
    "fishing",
    "floods",
    "salt marshes",
    "tidal power",
    "sailing",
    "tide tables",
    "the Bay of Fundy",
    "spring tides",
    "neap tides",
    "amphidromic points",
    "beaches",
    "estuaries",
    "tide gauges",
];

pub(super) fn all() -> Vec<SitePage> {
    let articles = (1..=TOPICS.len()).map(|number| SitePage {
        path: format!("/articles/{number}"),
        title: title(number),
        kind: "article",
    });
    let special = SPECIAL.iter().map(|(path, title, kind)| SitePage {
        path: (*path).to_owned(),
        title: (*title).to_owned(),
        kind,
    });
    articles.chain(special).collect()
}

fn title(number: usize) -> String {
    format!("How ocean tides work, part {number}")
}

/// The paragraphs of an article, none of which another article has.
pub(super) fn paragraphs(number: usize) -> Vec<String> {
    let topic = TOPICS.get(number - 1).copied().unwrap_or("the ocean");
    let facts = ["first", "second", "third", "fourth"];
    facts
        .iter()
        .enumerate()
        .map(|(at, nth)| {
            let (a, b) = (number * 7 + at, number * 13 + at * 5);
            format!(
                "The {nth} thing to know about ocean tides and {topic} is observation number {a}: on day {b} of the survey, \
                 station {number}{at} measured a change of {a} centimetres within {b} minutes, which surprised everyone who \
                 had followed the earlier reports about {topic} and their influence on coast number {number}."
            )
        })
        .collect()
}

/// A whole article page with navigation, a footer and metadata.
pub(super) fn article(number: usize) -> String {
    let year = 2010 + number % 16;
    let head = format!(
        "<meta name=\"author\" content=\"Jane Doe\"><meta property=\"article:published_time\" content=\"{year}-05-03T10:00:00Z\">\
         <meta property=\"og:site_name\" content=\"Tide Weekly\">"
    );
    page(&title(number), &head, &paragraphs(number))
}

/// A copy of an article with a few words changed and a paragraph of its own.
pub(super) fn near_copy(number: usize) -> String {
    let mut paragraphs: Vec<String> = paragraphs(number)
        .into_iter()
        .map(|text| text.replace("surprised", "astonished"))
        .collect();
    paragraphs.push(format!(
        "This retelling, unlike the original, adds a remark of its own about ocean tides: edition {number} was printed twice."
    ));
    page(&format!("Ocean tides, retold {number}"), "", &paragraphs)
}

/// An HTML page around paragraphs.
pub(super) fn page(title: &str, head: &str, paragraphs: &[String]) -> String {
    let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>{head}</head>\n<body>\
         <nav><a href=\"/\">Home</a> <a href=\"/articles/1\">Articles</a> <a href=\"/about\">About</a></nav>\
         <main><article><h1>{title}</h1>\n{body}</article></main>\
         <footer>Copyright, imprint and privacy</footer></body></html>"
    )
}
