//! Draws a placed map as SVG: no scripts, no references, readable in light and dark.

use std::fmt::Write as _;

use super::label::FONT;
use super::layout::{Layout, Placed};
use crate::graph::{Edge, NodeKind};

/// What happened to a node between two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Added,
    Removed,
    Moved,
}

impl Change {
    pub(crate) const ALL: [Self; 3] = [Self::Added, Self::Removed, Self::Moved];

    /// The symbol before the label: colour alone would not reach everyone.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Added => "+ ",
            Self::Removed => "− ",
            Self::Moved => "↔ ",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "unchanged",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Moved => "moved",
        }
    }
}

/// Colours of a kind of box: fill, border, text; for light and for dark.
struct Colours {
    class: &'static str,
    light: [&'static str; 3],
    dark: [&'static str; 3],
}

const COLOURS: [Colours; 7] = [
    Colours {
        class: "topic",
        light: ["#1f3a5f", "#1f3a5f", "#ffffff"],
        dark: ["#a9c8f0", "#a9c8f0", "#101820"],
    },
    Colours {
        class: "perspective",
        light: ["#dbe8f7", "#3a6ea5", "#12283f"],
        dark: ["#1d3550", "#6fa3dc", "#e6f0fb"],
    },
    Colours {
        class: "question",
        light: ["#ffffff", "#8a97a6", "#1b1f24"],
        dark: ["#1b2229", "#738090", "#e6e9ec"],
    },
    Colours {
        class: "concept",
        light: ["#f4efe4", "#a08a55", "#3b3016"],
        dark: ["#2e2817", "#b7a06a", "#f2e9d2"],
    },
    Colours {
        class: "added",
        light: ["#dff3e0", "#1f7a32", "#0d3a17"],
        dark: ["#12351b", "#5fce79", "#dcf7e2"],
    },
    Colours {
        class: "removed",
        light: ["#fbe3e1", "#b3261e", "#571210"],
        dark: ["#401513", "#f08a83", "#fde4e2"],
    },
    Colours {
        class: "moved",
        light: ["#fff0cf", "#8a5a00", "#402a00"],
        dark: ["#3d2c05", "#f0bb4f", "#fff0d0"],
    },
];

const PAGE: [&str; 2] = ["#fbfcfd", "#12171c"];
const LINES: [&str; 2] = ["#8a97a6", "#738090"];

/// What a drawing needs to know besides the places.
pub(super) struct Drawing<'a> {
    pub(super) layout: &'a Layout<'a>,
    pub(super) edges: &'a [Edge],
    pub(super) title: String,
    pub(super) description: String,
    pub(super) changes: Vec<Change>,
    /// Whether the meaning of colours and symbols is explained below.
    pub(super) legend: bool,
}

impl Drawing<'_> {
    pub(super) fn draw(&self) -> String {
        let width = self.layout.width.max(if self.legend { 420.0 } else { 0.0 });
        let height = self.layout.height + if self.legend { 40.0 } else { 0.0 };
        let mut svg = String::new();
        // Writing into a `String` cannot fail.
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"map-title map-desc\" \
             font-family=\"system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\" \
             font-size=\"{FONT}\">\n<title id=\"map-title\">{}</title>\n<desc id=\"map-desc\">{}</desc>\n",
            escape(&self.title),
            escape(&self.description),
        );
        style(&mut svg);
        let _ = writeln!(
            svg,
            "<rect class=\"page\" width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
            PAGE[0]
        );
        self.draw_edges(&mut svg);
        for (placed, change) in self.layout.nodes.iter().zip(&self.changes) {
            draw_node(&mut svg, placed, *change);
        }
        if self.legend {
            draw_legend(&mut svg, self.layout.height + 12.0);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The lines from parents to children, then further relations as dashed lines.
    fn draw_edges(&self, svg: &mut String) {
        let nodes = &self.layout.nodes;
        let _ = writeln!(
            svg,
            "<g class=\"line\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\">",
            LINES[0]
        );
        for placed in nodes {
            if let Some(parent) = placed.parent {
                let _ = writeln!(svg, "<path d=\"{}\"/>", curve(&nodes[parent], placed));
            }
        }
        let index = self.layout.index();
        for edge in self.edges.iter().take(4 * super::layout::MAX_NODES) {
            let ends = (index.get(edge.from.as_str()), index.get(edge.to.as_str()));
            let (Some(from), Some(to)) = ends else { continue };
            if from != to && nodes[*to].parent != Some(*from) && nodes[*from].parent != Some(*to) {
                let path = curve(&nodes[*from], &nodes[*to]);
                let _ =
                    writeln!(svg, "<path d=\"{path}\" stroke-dasharray=\"3 4\" opacity=\"0.6\"/>");
            }
        }
        svg.push_str("</g>\n");
    }
}

/// A curve between the sides of two boxes that face each other.
fn curve(from: &Placed<'_>, to: &Placed<'_>) -> String {
    let to_the_left = to.x + to.width / 2.0 < from.x + from.width / 2.0;
    let (x1, x2) =
        if to_the_left { (from.x, to.x + to.width) } else { (from.x + from.width, to.x) };
    let (y1, y2) = (from.y + from.height / 2.0, to.y + to.height / 2.0);
    let middle = f64::midpoint(x1, x2);
    format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")
}

fn class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Topic => "topic",
        NodeKind::Perspective => "perspective",
        NodeKind::Question => "question",
        NodeKind::Concept => "concept",
    }
}

fn colours(class: &str) -> &'static Colours {
    COLOURS.iter().find(|colours| colours.class == class).unwrap_or(&COLOURS[2])
}

fn draw_node(svg: &mut String, placed: &Placed<'_>, change: Change) {
    let class = if change == Change::None { class(placed.node.kind) } else { change.name() };
    let [fill, border, text] = colours(class).light;
    let Placed { x, y, width, height, .. } = placed;
    let radius = if placed.node.kind == NodeKind::Concept { height / 2.0 } else { 8.0 };
    let weight = match placed.node.kind {
        NodeKind::Topic | NodeKind::Perspective => " font-weight=\"600\"",
        _ => "",
    };
    let dashes = if change == Change::Removed { " stroke-dasharray=\"6 4\"" } else { "" };
    let status =
        if change == Change::None { String::new() } else { format!(" ({})", change.name()) };
    let _ = writeln!(
        svg,
        "<g class=\"{class}\" id=\"map-{}\"><title>{}{status}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" \
         height=\"{height}\" rx=\"{radius}\" fill=\"{fill}\" stroke=\"{border}\" stroke-width=\"1.5\"{dashes}/>\
         <text fill=\"{text}\"{weight}>",
        identifier(&placed.node.id),
        escape(&placed.label),
    );
    let line = FONT * 1.3;
    let lines = placed.lines.len() as f64;
    let first = y + (height - lines * line) / 2.0 + FONT;
    for (at, text) in placed.lines.iter().enumerate() {
        let at = (10.0 * (first + at as f64 * line)).round() / 10.0;
        let _ = writeln!(svg, "<tspan x=\"{}\" y=\"{at}\">{}</tspan>", x + 8.0, escape(text));
    }
    svg.push_str("</text></g>\n");
}

fn draw_legend(svg: &mut String, y: f64) {
    for (at, change) in Change::ALL.into_iter().enumerate() {
        let [fill, border, text] = colours(change.name()).light;
        let x = 24.0 + 130.0 * at as f64;
        let (left, base) = (x + 8.0, y + 16.0);
        let _ = writeln!(
            svg,
            "<g class=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"118\" height=\"24\" rx=\"6\" fill=\"{fill}\" \
             stroke=\"{border}\"/><text x=\"{left}\" y=\"{base}\" fill=\"{text}\">{}{}</text></g>",
            change.name(),
            change.prefix(),
            change.name(),
        );
    }
}

/// Dark colours; the light ones are attributes, so that the map can be read where styles are not allowed.
fn style(svg: &mut String) {
    svg.push_str("<style>@media (prefers-color-scheme: dark){");
    let _ = write!(svg, ".page{{fill:{}}}.line{{stroke:{}}}", PAGE[1], LINES[1]);
    for Colours { class, dark: [fill, border, text], .. } in &COLOURS {
        let _ =
            write!(svg, ".{class} rect{{fill:{fill};stroke:{border}}}.{class} text{{fill:{text}}}");
    }
    svg.push_str("}</style>\n");
}

/// Text in XML. Characters that XML does not allow were removed from labels before.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// An id as XML allows it.
fn identifier(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars().take(200) {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            out.push(c);
        } else {
            let _ = write!(out, "_{:x}_", u32::from(c));
        }
    }
    out
}
