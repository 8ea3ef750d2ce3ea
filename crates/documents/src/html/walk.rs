//! From a page's tree to its blocks.

use extraction::markdown::Marker;
use extraction::text::keep_hidden;
use html5ever::local_name;

use super::block::{Block, Blocks, Container, Format, Kind, Span};
use super::element::{Role, role};
use super::look::{Look, Looks};
use super::streamed::Streamed;
use super::style::Sheet;
use super::table::{self, Layouts, Spanning};
use super::tree::{DOCUMENT, Id, Tree};

/// The signs of links from headings to themselves; some sites use a space without width.
const SIGNS: [char; 5] = ['§', '#', '🔗', '⚓', '\u{200b}'];

/// The state at the current element.
#[derive(Clone, Copy)]
struct State {
    look: Look,
    container: usize,
    verbatim: bool,
    linked: bool,
    heading: u8,
    quotes: usize,
    /// The table around, if it is one of data, whose rows become lines.
    table: Option<Id>,
    /// Whether this is within a cell of such a table, where everything is one line.
    in_cell: bool,
}

enum Step {
    Enter(Id, State),
    Leave(Id, Role, State),
}

/// An inline element that has begun and not ended.
struct Open {
    format: Format,
    start: usize,
    /// Links are written once, with their first block.
    used: bool,
}

/// The line that is being collected.
#[derive(Default)]
struct Line {
    text: String,
    spans: Vec<Span>,
    linked: usize,
}

/// A list that has begun and not ended.
struct List {
    next: Option<u32>,
}

pub(super) struct Walk<'a> {
    tree: &'a Tree,
    looks: Looks<'a>,
    streamed: Streamed,
    layouts: Layouts,
    cap: usize,
    written: usize,
    out: Blocks,
    line: Line,
    open: Vec<Open>,
    lists: Vec<List>,
    /// The marker of a list item of which nothing is written yet.
    item: Option<Marker>,
    row: Line,
    cells: usize,
    /// Whether the row has text besides what it repeats from earlier ones.
    row_has_text: bool,
    /// Cells of earlier rows that go on in the next ones of each table that is open.
    spanning: Vec<Spanning>,
}

impl<'a> Walk<'a> {
    /// Prepares a walk that ends after `cap` bytes of text.
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet, cap: usize) -> Self {
        let looks = Looks::new(tree, sheet);
        Self {
            tree,
            streamed: Streamed::find(tree, &looks),
            looks,
            layouts: Layouts::find(tree),
            cap,
            written: 0,
            out: Blocks::default(),
            line: Line::default(),
            open: Vec::new(),
            lists: Vec::new(),
            item: None,
            row: Line::default(),
            cells: 0,
            row_has_text: false,
            spanning: Vec::new(),
        }
    }

    /// Collects the blocks of the page.
    pub(super) fn run(mut self) -> Blocks {
        let state = State {
            look: Look::new(),
            container: 0,
            verbatim: false,
            linked: false,
            heading: 0,
            quotes: 0,
            table: None,
            in_cell: false,
        };
        self.out.containers.push(Container {
            node: DOCUMENT,
            parent: 0,
            depth: 0,
            first: 0,
            end: 0,
        });
        let mut steps = vec![Step::Enter(DOCUMENT, state)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(node, state) => self.enter(node, state, &mut steps),
                Step::Leave(node, role, state) => self.leave(node, role, state),
            }
            if self.out.truncated {
                break;
            }
        }
        self.end_block(state);
        // Containers that were open at the limit end there.
        let end = self.out.blocks.len();
        for container in self.out.containers.iter_mut().filter(|it| it.end == 0) {
            container.end = end.max(container.first);
        }
        self.out
    }

    fn enter(&mut self, node: Id, outer: State, steps: &mut Vec<Step>) {
        if let Some(text) = self.tree.text(node) {
            return self.text(text, outer);
        }
        let role = role(self.tree, node);
        if let Some(content) = self.streamed.take_content_of(node) {
            let children = self.tree.children_from_last(content);
            steps.extend(children.map(|child| Step::Enter(child, outer)));
            return;
        }
        if role == Role::Nothing || self.streamed.is_moved(node) {
            return;
        }
        let mut state = outer;
        if node != DOCUMENT {
            state.look = self.looks.within(outer.look, node);
        }
        match role {
            Role::Break if state.in_cell => self.space(),
            Role::Break => self.line_break(state),
            Role::Cell if state.table.is_some() => self.begin_cell(),
            Role::Link => state.linked |= self.tree.attribute(node, &local_name!("href")).is_some(),
            Role::Strong
            | Role::Emphasis
            | Role::Code
            | Role::Superscript
            | Role::Plain
            | Role::Nothing => {}
            _ if state.in_cell => self.space(),
            _ => self.end_block(outer),
        }
        self.open_inline(node, role);
        match role {
            Role::List => self.lists.push(List { next: self.first_number(node) }),
            Role::Item => self.item = Some(self.marker()),
            Role::Heading(level) => state.heading = level,
            Role::Quote => state.quotes += 1,
            Role::Verbatim => state.verbatim = true,
            Role::Table => {
                state.table = (!self.layouts.contains(node)).then_some(node);
                self.spanning.push(Spanning::default());
            }
            Role::Row => {
                (self.row, self.cells, self.row_has_text) = (Line::default(), 0, false);
            }
            Role::Cell => state.in_cell |= state.table.is_some(),
            _ => {}
        }
        if is_container(role) {
            self.out.containers.push(Container {
                node,
                parent: state.container,
                depth: self.out.containers[state.container].depth + 1,
                first: self.out.blocks.len(),
                end: 0,
            });
            state.container = self.out.containers.len() - 1;
        }
        steps.push(Step::Leave(node, role, state));
        let children = self.tree.children_from_last(node);
        steps.extend(children.map(|child| Step::Enter(child, state)));
    }

    fn leave(&mut self, node: Id, role: Role, state: State) {
        match role {
            Role::Nothing | Role::Plain | Role::Break => {}
            Role::Link | Role::Strong | Role::Emphasis | Role::Code | Role::Superscript => {
                self.close_inline(state);
            }
            Role::Cell if state.table.is_some() => self.end_cell(node),
            Role::Row if state.table.is_some() => self.end_row(state),
            _ if state.in_cell => self.space(),
            Role::Item => {
                self.end_block(state);
                self.item = None;
            }
            _ => self.end_block(state),
        }
        match role {
            Role::List => drop(self.lists.pop()),
            Role::Table => drop(self.spanning.pop()),
            _ => {}
        }
        if is_container(role) {
            self.out.containers[state.container].end = self.out.blocks.len();
        }
    }

    fn open_inline(&mut self, node: Id, role: Role) {
        let format = match role {
            Role::Link => Format::Link(node),
            Role::Strong => Format::Strong,
            Role::Emphasis => Format::Emphasis,
            Role::Code => Format::Code,
            Role::Superscript => Format::Superscript,
            _ => return,
        };
        self.open.push(Open { format, start: self.line.text.len(), used: false });
    }

    fn close_inline(&mut self, state: State) {
        let Some(open) = self.open.pop() else { return };
        if self.is_permalink(&open, state.heading > 0) {
            self.line.truncate(open.start);
        } else {
            self.line.close(&open);
        }
    }

    /// Whether a link only marks its own place, as `¶` does behind the headings of manuals.
    fn is_permalink(&self, open: &Open, in_heading: bool) -> bool {
        let Format::Link(node) = open.format else { return false };
        let target = self.tree.attribute(node, &local_name!("href")).unwrap_or_default();
        let text = self.line.text.get(open.start..).unwrap_or_default();
        let is_sign = |c: char| c == '¶' || c.is_whitespace() || in_heading && SIGNS.contains(&c);
        let is_shown = !text.trim().is_empty();
        is_shown && !open.used && target.contains('#') && text.chars().all(is_sign)
    }

    fn text(&mut self, text: &str, state: State) {
        if state.look.hidden {
            self.out.hidden += text.chars().filter(|c| !c.is_whitespace()).count();
            keep_hidden(&mut self.out.hidden_text, text);
            return;
        }
        let line = &mut self.line;
        let before = line.text.len();
        if state.verbatim && !state.in_cell {
            line.text.push_str(text);
        } else {
            // White space of the source is one space at most.
            for (at, word) in text.split(char::is_whitespace).enumerate() {
                if at > 0 && !line.text.is_empty() && !line.text.ends_with([' ', '\n']) {
                    line.text.push(' ');
                }
                line.text.push_str(word);
            }
        }
        if state.linked {
            line.linked += line.text.len() - before;
        }
    }

    fn space(&mut self) {
        if !self.line.text.is_empty() && !self.line.text.ends_with(' ') {
            self.line.text.push(' ');
        }
    }

    fn line_break(&mut self, state: State) {
        if state.verbatim {
            self.line.text.push('\n');
        } else if !self.line.text.trim_end().is_empty() && !self.line.text.ends_with("\n\n") {
            let end = self.line.text.trim_end_matches(' ').len();
            self.line.text.truncate(end);
            self.line.text.push('\n');
        }
    }

    /// Takes the collected line, and lets open inline elements go on in the next one.
    fn take_line(&mut self) -> Line {
        for open in self.open.iter_mut().rev() {
            self.line.close(open);
            open.start = 0;
            open.used |= !self.line.text.trim().is_empty();
        }
        std::mem::take(&mut self.line)
    }

    fn end_block(&mut self, state: State) {
        if self.line.text.is_empty() {
            for open in &mut self.open {
                open.start = 0;
            }
            return;
        }
        let line = self.take_line();
        let kind = if state.verbatim {
            Kind::Code
        } else if state.heading > 0 {
            Kind::Heading(state.heading)
        } else {
            self.item.map_or(Kind::Paragraph, Kind::Item)
        };
        if self.push(kind, line, state) {
            self.item = None;
        }
    }

    /// Begins a cell behind those of earlier rows that reach into this one.
    fn begin_cell(&mut self) {
        // The parser has moved text in a row outside of its cells to before the table.
        self.line = Line::default();
        while let Some(spanning) = self.spanning.last_mut()
            && let Some(text) = spanning.take(self.cells)
        {
            self.row.add_cell(self.cells, text);
            self.cells += 1;
        }
    }

    fn end_cell(&mut self, node: Id) {
        let line = self.take_line();
        let (column, text) = (self.cells, line.text.trim_end());
        self.row.add_cell(column, text);
        self.row_has_text |= !text.is_empty();
        let start = self.row.text.len() - text.len();
        self.row.linked += line.linked;
        let spans = line.spans.iter().filter(|span| span.start < text.len());
        self.row.spans.extend(spans.map(|span| Span {
            start: start + span.start,
            end: start + span.end.min(text.len()),
            format: span.format,
        }));
        let (columns, rows) = table::spans(self.tree, node);
        for further in 1..columns {
            self.row.add_cell(column + further, "");
        }
        self.cells += columns;
        if let Some(spanning) = self.spanning.last_mut() {
            spanning.add(column..column + columns, rows - 1, text);
        }
    }

    fn end_row(&mut self, state: State) {
        self.begin_cell();
        self.cells = 0;
        let row = std::mem::take(&mut self.row);
        if self.row_has_text {
            self.push(Kind::Row, row, state);
        }
    }

    /// Writes a block, unless it has no visible character.
    fn push(&mut self, kind: Kind, mut line: Line, state: State) -> bool {
        if line.text.chars().all(char::is_whitespace) {
            return false;
        }
        // A row may end with empty cells.
        let trimmed = if kind == Kind::Row { line.text.as_str() } else { line.text.trim_end() };
        let end = trimmed.len();
        line.text.truncate(end);
        if kind == Kind::Code {
            // The first line may be indented.
            let start = line.text.find(|c| c != '\n' && c != '\r').unwrap_or(0);
            line.text.drain(..start);
            line.spans.clear();
        }
        let free = self.cap.saturating_sub(self.written);
        if line.text.len() > free {
            self.out.truncated = true;
            line.text.truncate(line.text.floor_char_boundary(free));
        }
        let end = line.text.len();
        line.spans.retain_mut(|span| {
            span.end = span.end.min(end);
            span.start < span.end
        });
        self.written += end;
        let origin = match (kind, state.table) {
            (Kind::Row, Some(table)) => table,
            _ => self.out.containers[state.container].node,
        };
        self.out.blocks.push(Block {
            kind,
            text: line.text,
            spans: line.spans,
            container: state.container,
            origin,
            linked: line.linked,
            level: self.lists.len(),
            quotes: state.quotes,
        });
        true
    }

    fn first_number(&self, list: Id) -> Option<u32> {
        if *self.tree.name(list) != local_name!("ol") {
            return None;
        }
        let start = self
            .tree
            .attribute(list, &local_name!("start"))
            .and_then(|start| start.trim().parse().ok());
        Some(start.unwrap_or(1))
    }

    fn marker(&mut self) -> Marker {
        match self.lists.last_mut().and_then(|list| list.next.as_mut()) {
            Some(next) => {
                let number = *next;
                *next = next.saturating_add(1);
                Marker::Number(number)
            }
            None => Marker::Bullet,
        }
    }
}

impl Line {
    /// Puts a cell behind the earlier ones of a row.
    fn add_cell(&mut self, earlier: usize, text: &str) {
        if earlier > 0 {
            self.text.push('\t');
        }
        self.text.extend(text.chars().map(|c| if c == '\t' { ' ' } else { c }));
    }

    /// Removes a link at the end.
    fn truncate(&mut self, start: usize) {
        self.linked = self.linked.saturating_sub(self.text.len() - start);
        self.text.truncate(start);
        self.spans.retain(|span| span.end <= start);
    }

    fn close(&mut self, open: &Open) {
        let end = self.text.trim_end().len();
        let link = matches!(open.format, Format::Link(_));
        if open.start < end && !(link && open.used) {
            self.spans.push(Span { start: open.start, end, format: open.format });
        }
    }
}

/// Whether a block belongs to the element; inline elements are parts of blocks.
fn is_container(role: Role) -> bool {
    !matches!(
        role,
        Role::Nothing
            | Role::Plain
            | Role::Break
            | Role::Link
            | Role::Strong
            | Role::Emphasis
            | Role::Code
            | Role::Superscript
    )
}
