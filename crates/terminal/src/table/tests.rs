use unicode_width::UnicodeWidthStr as _;

use super::{Cell, Record, Table, truncate, wrap};
use crate::{Style, Tone};

fn terminal(width: usize) -> Style {
    Style { coloured: false, width: Some(width) }
}

fn servers() -> Table {
    let mut table = Table::new(["NAME", "STATE", "TOOLS", "LAST ERROR"]).right(["TOOLS"]);
    let error = "the server closed its output before it answered the first request";
    table.row([
        Cell::new("files").tone(Tone::Strong),
        Cell::state("ready"),
        Cell::new(12),
        Cell::maybe(None::<&str>),
    ]);
    table.row([Cell::new("crm"), Cell::state("down"), Cell::new(0), Cell::new(error)]);
    table.detail(Cell::new("stderr: one two three four five six seven eight nine"));
    table
}

#[test]
fn a_pipe_gets_everything() {
    let lines = servers().lines(Style::default());
    assert_eq!(
        lines,
        [
            "NAME   STATE  TOOLS  LAST ERROR",
            "files  ready     12  -",
            "crm    down       0  the server closed its output before it answered the first request",
            "  stderr: one two three four five six seven eight nine",
        ]
    );
}

#[test]
fn a_terminal_gets_lines_that_fit() {
    let lines = servers().lines(terminal(40));
    assert_eq!(
        lines,
        [
            "NAME   STATE  TOOLS  LAST ERROR",
            "files  ready     12  -",
            "crm    down       0  the server closed…",
            "  stderr: one two three four five six",
            "  seven eight nine",
        ]
    );
    for width in [1, 20, 33, 60, 500] {
        let lines = servers().lines(terminal(width));
        // Only the last column gives way, and not below its least width.
        assert!(lines.iter().all(|line| line.width() <= width.max(33)), "{width}: {lines:#?}");
    }
}

#[test]
fn colours_do_not_move_columns() {
    let lines = servers().lines(Style { coloured: true, width: None });
    assert_eq!(lines[1], "\x1b[1mfiles\x1b[0m  \x1b[32mready\x1b[0m     12  \x1b[2m-\x1b[0m");
    assert!(lines[2].starts_with("crm    \x1b[31mdown\x1b[0m       0  the"), "{}", lines[2]);
}

#[test]
fn untrusted_text_cannot_act_on_the_terminal() {
    let mut table = Table::new(["NAME"]);
    table.row([Cell::new("a\x1b[2Jb\nc\u{202e}d")]);
    assert_eq!(table.lines(Style::default())[1], "a\\u{1b}[2Jb c\\u{202e}d");
}

#[test]
fn wide_characters_count_twice() {
    assert_eq!(truncate("日本語のツール", 7), "日本語…");
    assert_eq!(truncate("short", 5), "short");
    assert_eq!(truncate("longer", 5), "long…");
}

#[test]
fn words_longer_than_a_line_are_split() {
    assert_eq!(wrap("ab abcdefghijklmnop", Some(12)), ["ab", "abcdefghijkl", "mnop"]);
    assert_eq!(wrap("one two", None), ["one two"]);
    assert_eq!(wrap("", Some(12)), [""]);
}

#[test]
fn a_record_aligns_and_wraps_its_values() {
    let mut record = Record::new();
    record.field("name", Cell::new("crm"));
    record.maybe("missing", None::<&str>);
    record.field("last error", Cell::new("the server closed its output"));
    assert_eq!(
        record.lines(terminal(28)),
        [
            "name        crm",
            "last error  the server",
            "            closed its",
            "            output"
        ]
    );
}
