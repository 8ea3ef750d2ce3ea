//! Lists: a sequence of items with levels becomes lists within items.

use markup::Item;
use serde::Serialize;

use crate::inline::{Inline, Run};

/// Deeper levels are set at this one: a line has no room for more.
const MAX_LEVEL: u8 = 7;

/// Items of one kind.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct List {
    /// The number of the first item of an ordered list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    pub items: Vec<ListItem>,
}

/// An item and the lists below it.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ListItem {
    pub runs: Vec<Run>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<List>,
}

/// The lists of a sequence of items: a change between ordered and unordered begins a new one.
pub(crate) fn nest(items: &[Item], inline: &mut Inline) -> Vec<List> {
    let mut lists: Vec<List> = Vec::new();
    for item in items {
        let runs = inline.runs(&item.text);
        let (level, number) = (item.level.min(MAX_LEVEL), item.number);
        add(&mut lists, ListItem { runs, lists: Vec::new() }, level, number);
    }
    lists
}

/// Adds an item `level` lists below; a level that has no item above it is taken as the deepest that has.
fn add(lists: &mut Vec<List>, item: ListItem, level: u8, number: Option<u32>) {
    if level > 0
        && let Some(above) = lists.last_mut().and_then(|list| list.items.last_mut())
    {
        return add(&mut above.lists, item, level - 1, number);
    }
    match lists.last_mut() {
        Some(list) if list.start.is_some() == number.is_some() => list.items.push(item),
        _ => lists.push(List { start: number, items: vec![item] }),
    }
}
