//! Text that a reader of the rendered page would not see is marked, whatever hides it.

use crate::browser::support::{Fixture, html};
use crate::http::server::{Server, reply};

const STYLE: &str = "
    .none { display: none } .filter { filter: blur(0) opacity(0) } .clear { opacity: 0 } .invisible { visibility: hidden }
    .off { position: absolute; left: -5000px } .clip { position: absolute; clip-path: inset(50%) }
    .small { font-size: 0 } .white { color: #fff } .glass { color: transparent }
    html, body { overflow-x: hidden }
    .right { position: absolute; left: 20000px; top: 0 } .pushed { height: 20px; overflow: hidden }
    .pushed i { display: block; margin-top: 60px } .low { height: 2px; overflow: hidden }
    .srgb { color: color(srgb 1 1 1 / 0) } .oklch { color: oklch(1 0 0) }
    .painted { background: #fff; background-clip: text; color: transparent }
    .flat { background: linear-gradient(#fff, #fff); color: #fff } .twice { filter: opacity(1) opacity(0) }
    .point { clip-path: polygon(0 0, 0 0, 0 0) } .side { clip-path: inset(0 100% 0 0) }
    .mask { mask-image: linear-gradient(transparent, transparent) }
    .away { transform: rotateY(180deg); backface-visibility: hidden }
    .before { position: relative; color: #fff }
    .before::before { content: ''; position: absolute; inset: 0; background: #000; z-index: -1 }
    .headline { background: linear-gradient(#f00, #00f); background-clip: text; color: transparent }
    .reader { position: absolute; width: 1px; height: 1px; overflow: hidden }
    .under { position: absolute; top: 400px; left: 0 }
    .cover { position: absolute; top: 380px; left: 0; width: 600px; height: 90px; background: #eee }
    .dark { background: #000 }
    .banner { position: fixed; top: 0; left: 0; width: 100%; height: 100%; background: #fff }";

const HIDDEN: [&str; 21] = [
    "none",
    "filter",
    "clear",
    "invisible",
    "off",
    "clip",
    "small",
    "white",
    "glass",
    "reader",
    "right",
    "low",
    "srgb",
    "oklch",
    "painted",
    "flat",
    "twice",
    "point",
    "side",
    "mask",
    "away",
];

async fn site() -> Server {
    Server::start(|seen| match seen.target.as_str() {
        "/style.css" => {
            let mut style = reply(200, STYLE);
            style.headers_mut().insert("content-type", "text/css".parse().unwrap());
            style
        }
        "/page" => {
            let hidden: String =
                HIDDEN.map(|class| format!("<p class={class}>hidden by {class}</p>")).concat();
            let words = "This sentence is plain text that every reader of the page can see. ".repeat(8);
            html(&format!(
                "<link rel=stylesheet href=/style.css><p>{words}</p>{hidden}\
                 <p class=none>outer <b>inner</b></p><div class=invisible>not <i style='visibility: visible'>but this</i></div>\
                 <p class=under>hidden by another element</p><div class=cover></div>\
                 <p class=pushed><i>hidden below its box</i></p><p class=before>white over a picture</p>\
                 <p class=headline>painted headline</p><div class=dark><p class=white>white on black</p></div>\
                 <details><summary>more</summary><p>opened by a click</p></details>\
                 <form><input name=firstChild><p class=none>hidden in a form</p></form>"
            ))
        }
        "/faded" => html(
            "<link rel=stylesheet href=/style.css><main class=clear><p>All of this page fades in.</p></main>",
        ),
        "/banner" => html(
            "<link rel=stylesheet href=/style.css><p>below the banner</p><div class=banner>Cookies?</div>",
        ),
        _ => reply(404, ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_style_sheets_hide_is_marked() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    let page = fixture.render(&site.url("/page")).await.unwrap().html;
    let marked = |text: &str| page.contains(&format!("<span hidden=\"\">{text}</span>"));
    for class in HIDDEN {
        assert!(marked(&format!("hidden by {class}")), "{class}: {page}");
    }
    for text in [
        "outer ",
        "inner",
        "not ",
        "hidden by another element",
        "hidden in a form",
        "hidden below its box",
    ] {
        assert!(marked(text), "{text}: {page}");
    }
    for text in [
        "but this",
        "white on black",
        "opened by a click",
        "more",
        "white over a picture",
        "painted headline",
    ] {
        assert!(page.contains(text) && !marked(text), "{text}: {page}");
    }
    for path in ["/faded", "/banner"] {
        let page = fixture.render(&site.url(path)).await.unwrap().html;
        assert!(!page.contains("<span hidden"), "{path}: {page}");
    }
}
