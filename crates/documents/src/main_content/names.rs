//! The names of the features, for training.

use super::category;
use super::features::LEVELS;

/// The names of the features, in their order.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = "words alphanumerics links_share sentences ends_sentence starts_capital commas digits capitals \
        symbols kind heading level quotes links strong price year copyright at_sign phrases other title copies \
        at at_words words_before words_after depth since_heading heading_level heading_other heading_first \
        words_since_heading in_core core_distance core_depth prose_before prose_after"
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    for offset in ["b3", "b2", "b1", "a1", "a2", "a3"] {
        names.extend([format!("{offset}_words"), format!("{offset}_links")]);
        if offset.ends_with('1') {
            names.extend(["same", "ends", "heading"].map(|name| format!("{offset}_{name}")));
        }
    }
    for reach in ["near", "far"] {
        names.extend(["mean", "links", "prose"].map(|name| format!("{reach}_{name}")));
    }
    for level in 0..LEVELS {
        let each = ["blocks", "words", "links", "mean", "share", "prose", "headings", "place"];
        names.extend(each.map(|name| format!("c{level}_{name}")));
    }
    for group in ["first", "largest"] {
        let each = ["level", "count", "mean", "links", "share"];
        names.extend(each.map(|name| format!("group_{group}_{name}")));
    }
    names.extend(category::NAMES.map(|name| format!("in_{name}")));
    let landmarks = "title_blocks title_words title_level since_end_blocks since_end_words ends_before end_level replies ages \
        since_prose prose_run in_data heading_links of_article";
    names.extend(landmarks.split_whitespace().map(str::to_owned));
    let page = "blocks words links mean prose headings prices article product list forum website";
    names.extend(page.split(' ').map(|name| format!("page_{name}")));
    names
}
