use super::{Style, Tone, inert, wants_colour};

fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
}

#[test]
fn colour_follows_the_variables_and_then_the_terminal() {
    for (set, on_terminal, in_pipe) in [
        (&[][..], true, false),
        (&[("NO_COLOR", "1")], false, false),
        (&[("CLICOLOR_FORCE", "1")], true, true),
        (&[("CLICOLOR_FORCE", "0")], true, false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false, false),
        (&[("CLICOLOR", "0")], false, false),
        (&[("TERM", "dumb")], false, false),
        (&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true, true),
    ] {
        assert_eq!(wants_colour(true, variables(set)), on_terminal, "terminal, {set:?}");
        assert_eq!(wants_colour(false, variables(set)), in_pipe, "pipe, {set:?}");
    }
}

#[test]
fn colours_are_written_only_where_they_are_on() {
    let coloured = Style { coloured: true, width: None };
    assert_eq!(coloured.good("ready"), "\x1b[32mready\x1b[0m");
    assert_eq!(coloured.paint(Tone::Plain, "x"), "x");
    assert_eq!(Style::default().bad("down"), "down");
}

#[test]
fn text_of_others_cannot_act_on_the_terminal() {
    for (text, printed) in [
        ("plain \u{e4}\u{4e2d} \u{2764}\u{fe0f}\n", "plain \u{e4}\u{4e2d} \u{2764}\u{fe0f}\n"),
        ("\x1b[32mready\x1b[0m", "\x1b[32mready\x1b[0m"),
        ("a\u{202e}b", "a\\u{202e}b"),
        ("\x1b[2J\x1b]0;title\x07", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
        ("ok\rno", "ok\\u{d}no"),
        ("line\r\n", "line\r\n"),
        ("\x1b[31", "\\u{1b}[31"),
    ] {
        assert_eq!(inert(text), printed);
    }
}
