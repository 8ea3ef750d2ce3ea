//! The calls of a run as a layered graph. A call follows those whose references it uses, or otherwise the last call that
//! had ended when it started.

use std::collections::HashMap;

use maud::{Markup, html};
use runs::RunCall;

use crate::words::{inert, short};

/// With more calls than this, no graph is drawn.
pub(crate) const MAX_DRAWN: usize = 120;

const WIDE: usize = 210;
const TALL: usize = 34;
const GAP_X: usize = 60;
const GAP_Y: usize = 16;

/// The position of a call, and the calls that it follows.
struct Node {
    layer: usize,
    line: usize,
    follows: Vec<usize>,
}

fn lay_out(calls: &[RunCall]) -> Vec<Node> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|index| (calls[*index].started_unix_ms, calls[*index].ended_unix_ms));
    let mut maker: HashMap<&str, usize> = HashMap::new();
    let mut layers: HashMap<usize, usize> = HashMap::new();
    let mut filled: HashMap<usize, usize> = HashMap::new();
    let mut nodes: HashMap<usize, Node> = HashMap::new();
    for (rank, index) in order.iter().enumerate() {
        let call = &calls[*index];
        let mut follows: Vec<usize> =
            call.used.iter().filter_map(|used| maker.get(used.as_str()).copied()).collect();
        follows.sort_unstable();
        follows.dedup();
        if follows.is_empty() {
            // Without references, it follows the last call that had ended.
            let before =
                order[..rank].iter().filter(|at| calls[**at].ended_unix_ms <= call.started_unix_ms);
            follows.extend(
                before.max_by_key(|at| (calls[**at].ended_unix_ms, layers.get(*at).copied())),
            );
        }
        let layer =
            follows.iter().filter_map(|at| layers.get(at)).max().map_or(0, |layer| layer + 1);
        let line = filled.entry(layer).or_default();
        nodes.insert(*index, Node { layer, line: *line, follows });
        *line += 1;
        layers.insert(*index, layer);
        for made in &call.made {
            maker.insert(made, *index);
        }
    }
    (0..calls.len()).filter_map(|index| nodes.remove(&index)).collect()
}

/// Draws the graph, which scrolls if it is wider than the page.
pub(super) fn draw(calls: &[RunCall]) -> Markup {
    if calls.len() > MAX_DRAWN {
        return html! {};
    }
    let boxes = lay_out(calls).into_iter().zip(calls).map(|(node, call)| DrawnBox {
        layer: node.layer,
        line: node.line,
        edge: if call.used.is_empty() { "edge order" } else { "edge" },
        follows: node.follows,
        class: if ["OK", "ASKED"].contains(&&*call.outcome) { "node" } else { "node failed" },
        title: format!("{} · {}", call.tool, call.outcome),
        text: call.tool.clone(),
        href: format!("/dashboard/calls/{}", call.trace_id),
    });
    draw_boxes(&boxes.collect::<Vec<_>>(), "calls")
}

/// A box of a graph, and where it leads.
pub(crate) struct DrawnBox {
    pub(crate) layer: usize,
    pub(crate) line: usize,
    /// The boxes that it follows, and the class of the edges from them.
    pub(crate) follows: Vec<usize>,
    pub(crate) edge: &'static str,
    pub(crate) class: &'static str,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) href: String,
}

pub(crate) fn draw_boxes(boxes: &[DrawnBox], what: &str) -> Markup {
    let deepest = boxes.iter().map(|one| one.layer).max().unwrap_or(0);
    let lowest = boxes.iter().map(|one| one.line).max().unwrap_or(0);
    let (width, height) = (deepest * (WIDE + GAP_X) + WIDE + 4, lowest * (TALL + GAP_Y) + TALL + 4);
    let x = |one: &DrawnBox| one.layer * (WIDE + GAP_X) + 2;
    let y = |one: &DrawnBox| one.line * (TALL + GAP_Y) + 2;
    html! {
        div.graph tabindex="0" {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="group"
                aria-label=(format!("{} {what} in {} layers", boxes.len(), deepest + 1)) {
                @for one in boxes {
                    @for from in one.follows.iter().filter_map(|at| boxes.get(*at)) {
                        @let (x1, y1, x2, y2) = (x(from) + WIDE, y(from) + TALL / 2, x(one), y(one) + TALL / 2);
                        path class=(one.edge)
                            d=(format!("M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}", x1 + GAP_X / 2, x2.saturating_sub(GAP_X / 2))) fill="none" {}
                    }
                }
                @for one in boxes {
                    a href=(one.href) {
                        g class=(one.class) {
                            title { (inert(&one.title)) }
                            rect x=(x(one)) y=(y(one)) width=(WIDE) height=(TALL) rx="8" {}
                            circle cx=(x(one) + 15) cy=(y(one) + TALL / 2) r="4" {}
                            text x=(x(one) + 28) y=(y(one) + TALL / 2 + 5) { (short(&one.text, 24)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::TraceId;

    use super::*;

    fn call(tool: &str, (from, to): (u64, u64), made: &[&str], used: &[&str]) -> RunCall {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        RunCall {
            trace_id: TraceId::random(),
            tool: tool.to_owned(),
            started_unix_ms: from,
            ended_unix_ms: to,
            outcome: "OK".to_owned(),
            made: owned(made),
            used: owned(used),
        }
    }

    #[test]
    fn references_and_time_make_layers() {
        let calls = [
            call("fetch", (0, 10), &["a"], &[]),
            call("other", (0, 5), &[], &[]),
            call("parse", (20, 30), &["b"], &["a"]),
            call("store", (40, 50), &[], &["b", "a"]),
            call("after", (60, 70), &[], &[]),
        ];
        let nodes = lay_out(&calls);
        let layers: Vec<_> = nodes.iter().map(|node| node.layer).collect();
        assert_eq!(layers, [0, 0, 1, 2, 3]);
        assert_eq!(nodes[3].follows, [0, 2]);
        assert_eq!(nodes[4].follows, [3], "the last call that had ended when it started");
        assert_ne!(nodes[0].line, nodes[1].line);
        let drawn = draw(&calls).into_string();
        assert_eq!(drawn.matches("<rect").count(), 5);
        assert_eq!(drawn.matches("class=\"edge").count(), 4, "{drawn}");
    }
}
