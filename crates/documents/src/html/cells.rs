//! The tables of data of a page, cell by cell.

use extraction::table::{Table, TableBuilder};
use extraction::text::on_one_line;
use extraction::{Limits, Options, Unreadable};
use html5ever::local_name;

use super::look::{Look, Looks};
use super::page::Page;
use super::style::Sheet;
use super::table::{Layouts, spans};
use super::tree::{Id, Tree};

/// The tables of a page that have data.
pub(crate) fn tables(
    bytes: &[u8],
    options: &Options<'_>,
    limits: &Limits,
) -> Result<Vec<Table>, Unreadable> {
    let page = Page::read(bytes, options, limits)?;
    let tree = &page.tree;
    let mut sheet = Sheet::default();
    for element in tree.elements().filter(|node| *tree.name(*node) == local_name!("style")) {
        sheet.add(&tree.text_of(element));
    }
    let looks = Looks::new(tree, &sheet);
    let layouts = Layouts::find(tree);
    let found = tree
        .elements()
        .filter(|node| *tree.name(*node) == local_name!("table") && !layouts.contains(*node));
    let tables = found.map(|node| table(tree, &looks, node));
    Ok(tables.filter(|table| !table.cells.is_empty()).collect())
}

fn table(tree: &Tree, looks: &Looks<'_>, node: Id) -> Table {
    let mut above: Vec<Id> = std::iter::successors(Some(node), |node| tree.parent(*node)).collect();
    above.reverse();
    let look = above.into_iter().fold(Look::new(), |look, node| looks.within(look, node));
    let mut builder = TableBuilder::default();
    for (row, look, in_head) in rows(tree, looks, node, look) {
        let cells: Vec<Id> = tree
            .children(row)
            .filter(|cell| matches!(*tree.name(*cell), local_name!("td") | local_name!("th")))
            .collect();
        let heads = cells.iter().all(|cell| *tree.name(*cell) == local_name!("th"));
        builder.begin_row(in_head || (heads && !cells.is_empty()));
        for cell in cells {
            let (columns, rows) = spans(tree, cell);
            builder.cell(text(tree, looks, cell, look), columns, rows);
        }
    }
    builder.finish(1)
}

/// The rows of a table, each with the look around it and whether it is in the table's head.
fn rows(tree: &Tree, looks: &Looks<'_>, table: Id, look: Look) -> Vec<(Id, Look, bool)> {
    let mut rows = Vec::new();
    for child in tree.children(table) {
        let within = looks.within(look, child);
        match *tree.name(child) {
            local_name!("tr") => rows.push((child, within, false)),
            local_name!("thead") | local_name!("tbody") | local_name!("tfoot") => {
                let in_head = *tree.name(child) == local_name!("thead");
                let inner = tree.children(child);
                for row in inner.filter(|row| *tree.name(*row) == local_name!("tr")) {
                    rows.push((row, looks.within(within, row), in_head));
                }
            }
            _ => {}
        }
    }
    rows
}

/// The text of a cell that a reader sees, on one line.
fn text(tree: &Tree, looks: &Looks<'_>, cell: Id, look: Look) -> String {
    let mut text = String::new();
    let mut open = vec![(cell, look)];
    while let Some((node, look)) = open.pop() {
        if let Some(own) = tree.text(node) {
            if !look.hidden {
                text.push_str(own);
            }
            continue;
        }
        if matches!(
            *tree.name(node),
            local_name!("script") | local_name!("style") | local_name!("template")
        ) {
            continue;
        }
        if !matches!(
            *tree.name(node),
            local_name!("b")
                | local_name!("i")
                | local_name!("a")
                | local_name!("span")
                | local_name!("em")
                | local_name!("strong")
                | local_name!("sup")
                | local_name!("sub")
                | local_name!("small")
                | local_name!("font")
        ) {
            text.push(' ');
        }
        let within = looks.within(look, node);
        open.extend(tree.children_from_last(node).map(|child| (child, within)));
    }
    on_one_line(&text)
}
