//! Where the tables of a page are.

use documents::layout::{Area, PageLayout};

use super::Table;
use super::rules::Rules;

/// The lines of a page, with the edges of its boxes.
pub(super) fn rules(page: &PageLayout) -> Rules {
    let mut areas = page.rules.clone();
    for area in &page.boxes {
        let Area { left, top, right, bottom } = *area;
        areas.extend([
            Area::new(left, top, right, top),
            Area::new(left, bottom, right, bottom),
            Area::new(left, top, left, bottom),
            Area::new(right, top, right, bottom),
        ]);
    }
    Rules::new(&areas)
}

pub(super) fn find(_page: &PageLayout) -> Vec<Table> {
    Vec::new()
}
