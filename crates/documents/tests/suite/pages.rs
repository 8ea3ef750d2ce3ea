//! HTML and plain text, read as a person would see them.

use documents::{Extracted, Limits, Options, extract};

fn page(html: &str) -> Extracted {
    extract(html.as_bytes().to_vec(), &Options::new("text/html; charset=utf-8"), &Limits::default())
        .unwrap()
}

fn plain(bytes: &[u8]) -> String {
    extract(bytes.to_vec(), &Options::new("text/plain"), &Limits::default()).unwrap().text
}

#[test]
fn a_page_keeps_its_shape() {
    let read = page(
        "<!doctype html><html><head><title> A  title </title><style>p{color:red}</style></head><body>
         <h1>Head&shy;line</h1><p>One <b>bold</b>\n   word,<br>new line.</p>
         <ul><li>first<ul><li>inner</li></ul></li><li>second</li></ul>
         <table><tr><th>Name</th><th>Age</th></tr><tr><td>Ann</td><td><p>7</p></td></tr></table>
         <pre>  kept\n    as is</pre><script>alert(1)</script><noscript>no</noscript>
         <div>a</div><div>b &amp; c</div></body></html>",
    );
    assert_eq!(
        read.text,
        "Head\u{ad}line\n\nOne bold word,\nnew line.\n\n- first\n  - inner\n- second\n\n\
         Name\tAge\nAnn\t7\n\n  kept\n    as is\n\na\n\nb & c"
    );
    assert_eq!((read.meta.title.as_deref(), read.hidden), (Some("A title"), 0));
}

#[test]
fn a_table_that_lays_a_page_out_is_read_as_a_page() {
    let read = page(
        "<table><tr><td><h2>Left</h2><p>one</p></td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>",
    );
    assert_eq!(read.text, "Left\n\none\n\na\tb");
}

#[test]
fn hidden_text_is_left_out_and_counted() {
    for hidden in [
        "<p hidden>SECRET</p>",
        "<p aria-hidden=\"true\">SECRET</p>",
        "<p style='display:none'>SECRET</p>",
        "<p style='DISPLAY : NONE !important'>SECRET</p>",
        "<div style='visibility:hidden'><p>SECRET</p></div>",
        "<p style='opacity:0'>SECRET</p>",
        "<p style='opacity:0.01'>SECRET</p>",
        "<p style='font-size:0'>SECRET</p>",
        "<p style='font-size:1px'>SECRET</p>",
        "<p style='position:absolute;left:-9999px'>SECRET</p>",
        "<p style='text-indent:-100em'>SECRET</p>",
        "<p style='margin-left:-5000px'>SECRET</p>",
        "<p style='width:0;height:0;overflow:hidden'>SECRET</p>",
        "<p style='height:1px;overflow:hidden'>SECRET</p>",
        "<p style='clip:rect(0,0,0,0)'>SECRET</p>",
        "<p style='clip-path:inset(50%)'>SECRET</p>",
        "<p style='transform:scale(0)'>SECRET</p>",
        "<p style='transform:translateX(-9999px)'>SECRET</p>",
        "<p style='color:transparent'>SECRET</p>",
        "<p style='color:#fff'>SECRET</p>",
        "<p style='color:white;background:#fefefe'>SECRET</p>",
        "<div style='background-color:#000'><p>SECRET</p></div>",
        "<font color='#FFFFFF'>SECRET</font>",
        "<table><td bgcolor='black'><font color=black>SECRET</font></table>",
        "<style>.x{display:none}</style><p class='y x'>SECRET</p>",
        "<style>/* a */ #z, .q { opacity: 0 }</style><p id=Z>SECRET</p>",
        "<style>p.gone{left:-2000px}</style><p class=gone>SECRET</p>",
        "<dialog>SECRET</dialog>",
        "<div popover>SECRET</div>",
        "<div><title>SECRET</title></div>",
        "<p style='display:/**/none'>SECRET</p>",
        "<p style='display:none;display:x'>SECRET</p>",
        "<p style='d\\69splay:none'>SECRET</p>",
        "<p style='opacity:1%'>SECRET</p>",
        "<p style='font:0/0 a'>SECRET</p>",
        "<p style='color:rgb(0 0 0/0)'>SECRET</p>",
        "<p style='color:rgba(0,0,0,.0)'>SECRET</p>",
        "<p style='color:#fff;background:x'>SECRET</p>",
        "<p style='color:#fff;background:#000;background-color:#fff'>SECRET</p>",
        "<font color=ffffff>SECRET</font>",
        "<style>.h{display:none!important}</style><p class=h style='display:block'>SECRET</p>",
        "<style>.h{display:none ! important} .h{display:block}</style><p class=h>SECRET</p>",
        "<style>@import url(a.css);.h{display:none}</style><p class=h>SECRET</p>",
        "<style><!-- .h{display:none} --></style><p class=h>SECRET</p>",
        "<style>.a{content:'/*'} .h{display:none}</style><p class=h>SECRET</p>",
    ] {
        let read = page(&format!("<p>before</p>{hidden}<p>after</p>"));
        assert!(!read.text.contains("SECRET"), "{hidden}: {read:?}");
        assert!(read.text.contains("before") && read.text.contains("after"), "{hidden}: {read:?}");
        assert_eq!(read.hidden, 6, "{hidden}");
    }
    assert_eq!(page("<p>a<!-- SECRET -->b</p>").text, "ab");
    assert_eq!(page("<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>").text, "ab");
    assert_eq!(page("<p>a</p><template shadowrootmode=x>SECRET</template>").text, "a");
}

#[test]
fn visible_text_stays() {
    for shown in [
        "<p style='display:block'>SHOWN</p>",
        "<p style='opacity:.5;font-size:0.9em'>SHOWN</p>",
        "<p style='color:#fff;background:#036'>SHOWN</p>",
        "<div style='background:url(dark.png)'><p style='color:#fff'>SHOWN</p></div>",
        "<table><tr bgcolor='#003366'><td><font color=white>SHOWN</font></td></tr></table>",
        "<p style='margin-left:-5px;left:-20px'>SHOWN</p>",
        "<p style='font-size:80%;width:0.5em'>SHOWN</p>",
        "<style>@media print { p { display: none } }</style><p>SHOWN</p>",
        "<style>.x{display:none} .x{display:block}</style><p class=x>SHOWN</p>",
        "<p style='overflow:hidden;height:200px'>SHOWN</p>",
        "<dialog open>SHOWN</dialog>",
        "<div><template shadowrootmode=OPEN><p>SHOWN</p></template></div>",
        "<p style='color:#fff;color:var(--text)'>SHOWN</p>",
        "<p style='color:#fff;background:url(a.png) no-repeat 50% 0/cover'>SHOWN</p>",
        "<table><tr bgcolor=003366><td><font color=white>SHOWN</font></td></tr></table>",
        "<style>.x{display:none}</style><p class=x style='display:block'>SHOWN</p>",
        "<style>.x{display:none!important} #y{display:block!important}</style><p class=x id=y>SHOWN</p>",
        // Many pages hide their body until a script shows it.
        "<style>html,body{display:none}</style><p>SHOWN</p>",
    ] {
        let read = page(shown);
        assert_eq!((read.text.as_str(), read.hidden), ("SHOWN", 0), "{shown}");
    }
}

#[test]
fn text_is_decoded_by_what_it_is() {
    assert_eq!(plain("größer – 日本".as_bytes()), "größer – 日本");
    assert_eq!(plain(b"\xef\xbb\xbfmarked"), "marked");
    assert_eq!(plain(b"\xff\xfeg\0r\0\xfc\0n\0"), "grün");
    assert_eq!(plain(b"\xfe\xff\0g\0r\0\xfc\0n"), "grün");
    let wide: Vec<u8> =
        "no mark at all, but wide".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(plain(&wide), "no mark at all, but wide");
    assert_eq!(
        plain(b"Gr\xfc\xdfe aus K\xf6ln, sch\xf6ne Gr\xfc\xdfe"),
        "Grüße aus Köln, schöne Grüße"
    );
    let russian = encoding_rs::WINDOWS_1251.encode("Привет, мир! Это обычный русский текст.").0;
    assert_eq!(plain(&russian), "Привет, мир! Это обычный русский текст.");
    let declared = Options { charset: Some("koi8-r"), ..Options::new("text/plain") };
    let read =
        extract(encoding_rs::KOI8_R.encode("мир").0.into_owned(), &declared, &Limits::default());
    assert_eq!(read.unwrap().text, "мир");
    let named = [b"<html><meta charset=\"windows-1252\"><p>".as_slice(), b"caf\xe9</p>"].concat();
    assert_eq!(
        extract(named, &Options::new("text/html"), &Limits::default()).unwrap().text,
        "café"
    );
    // ISO-2022-JP, which is valid UTF-8 as well: 日本.
    let bytes = b"<p>\x1b$BF|K\\\x1b(B</p>".to_vec();
    for media_type in ["text/html", "text/plain"] {
        let options = Options { charset: Some("iso-2022-jp"), ..Options::new(media_type) };
        let read = extract(bytes.clone(), &options, &Limits::default()).unwrap();
        assert!(read.text.contains("日本"), "{media_type}: {}", read.text);
    }
    let named = [b"<meta charset=iso-2022-jp>".as_slice(), &bytes].concat();
    let read = extract(named, &Options::new("text/html"), &Limits::default()).unwrap();
    assert_eq!(read.text, "日本");
}

#[test]
fn a_cell_with_a_colour_of_its_own_is_seen_in_a_table_with_that_of_the_text() {
    let read = page(
        "<body text='#000000'><table bgcolor='#000000'><tr><td bgcolor='#fffacd'><p>Borders were once drawn by black tables.</p>\
         </td><td>This text is not seen.</td></tr></table></body>",
    );
    assert!(read.text.contains("Borders were once drawn"), "{read:?}");
    assert!(!read.text.contains("is not seen"), "{read:?}");
}
