//! A page as a tree in one list, which is dropped without recursion however deep it is nested.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

use super::attributes;

/// The index of a node in the list.
pub(crate) type Id = u32;

/// The root.
pub(crate) const DOCUMENT: Id = 0;

static NAMELESS: LocalName = local_name!("");

/// The absence of a node: lists of this length do not fit into memory.
const NONE: Id = Id::MAX;

struct Node {
    parent: Id,
    first: Id,
    last: Id,
    before: Id,
    after: Id,
    kind: Kind,
}

enum Kind {
    Other,
    Text(StrTendril),
    Element(Box<Element>),
}

struct Element {
    name: QualName,
    attributes: Vec<Attribute>,
}

/// The tree while html5ever builds it.
pub(crate) struct Builder {
    nodes: RefCell<Vec<Node>>,
    deepest: usize,
    too_deep: Cell<bool>,
}

/// A parsed page.
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// All elements in the order in which they were begun.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Id> {
        (0..self.nodes.len() as Id)
            .filter(|id| matches!(self.nodes[*id as usize].kind, Kind::Element(..)))
    }

    fn node(&self, node: Id) -> &Node {
        &self.nodes[node as usize]
    }

    /// The name of an element, empty for other nodes.
    pub(crate) fn name(&self, node: Id) -> &LocalName {
        match &self.node(node).kind {
            Kind::Element(element) => &element.name.local,
            Kind::Text(_) | Kind::Other => &NAMELESS,
        }
    }

    /// Whether an element is one of HTML itself, not of a drawing or a formula within it.
    pub(crate) fn is_html(&self, node: Id) -> bool {
        matches!(&self.node(node).kind, Kind::Element(element) if element.name.ns == ns!(html))
    }

    pub(crate) fn attribute(&self, node: Id, name: &LocalName) -> Option<&str> {
        self.attributes(node).find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Names and values of an element's attributes.
    pub(crate) fn attributes(&self, node: Id) -> impl Iterator<Item = (&LocalName, &str)> {
        let attributes = match &self.node(node).kind {
            Kind::Element(element) => element.attributes.as_slice(),
            Kind::Text(_) | Kind::Other => &[],
        };
        attributes.iter().map(|attribute| (&attribute.name.local, &*attribute.value))
    }

    pub(crate) fn text(&self, node: Id) -> Option<&str> {
        match &self.node(node).kind {
            Kind::Text(text) => Some(text),
            Kind::Element(..) | Kind::Other => None,
        }
    }

    pub(crate) fn parent(&self, node: Id) -> Option<Id> {
        Some(self.node(node).parent).filter(|parent| *parent != NONE)
    }

    pub(crate) fn children(&self, node: Id) -> impl Iterator<Item = Id> {
        self.chain(self.node(node).first, |node| node.after)
    }

    pub(crate) fn children_from_last(&self, node: Id) -> impl Iterator<Item = Id> {
        self.chain(self.node(node).last, |node| node.before)
    }

    fn chain(&self, first: Id, next: fn(&Node) -> Id) -> impl Iterator<Item = Id> {
        let mut at = first;
        std::iter::from_fn(move || {
            let found = (at != NONE).then_some(at)?;
            at = next(self.node(found));
            Some(found)
        })
    }

    /// The text directly within an element, as in `title` and `style`.
    pub(crate) fn text_of(&self, node: Id) -> String {
        self.children(node).filter_map(|child| self.text(child)).collect()
    }

    /// Bytes of text below an element, without scripts, styles and white space around.
    pub(crate) fn text_length(&self, node: Id) -> usize {
        let mut length = 0;
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let name = self.name(node);
            if matches!(
                *name,
                local_name!("script") | local_name!("style") | local_name!("noscript")
            ) {
                continue;
            }
            length += self.text(node).map_or(0, |text| text.trim().len());
            open.extend(self.children(node));
        }
        length
    }
}

impl Builder {
    pub(crate) fn new(deepest: usize) -> Self {
        let builder = Self { nodes: RefCell::default(), deepest, too_deep: Cell::new(false) };
        builder.add(Kind::Other);
        builder
    }

    /// Whether there were elements within more elements than allowed.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.too_deep.get()
    }

    fn add(&self, kind: Kind) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let id = nodes.len() as Id;
        nodes.push(Node { parent: NONE, first: NONE, last: NONE, before: NONE, after: NONE, kind });
        id
    }

    fn detach(&self, node: Id) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Node { parent, before, after, .. } = nodes[node as usize];
        if parent == NONE {
            return;
        }
        match before {
            NONE => nodes[parent as usize].first = after,
            before => nodes[before as usize].after = after,
        }
        match after {
            NONE => nodes[parent as usize].last = before,
            after => nodes[after as usize].before = before,
        }
        let node = &mut nodes[node as usize];
        (node.parent, node.before, node.after) = (NONE, NONE, NONE);
    }

    /// Inserts a child before `after`, or as the last child.
    fn insert(&self, parent: Id, after: Id, child: NodeOrText<Id>) {
        // Beyond the limit nothing is stored: the page will be refused, and parsing would get slower and slower.
        if self.too_deep.get() {
            return;
        }
        let child = match child {
            NodeOrText::AppendNode(child) => {
                self.detach(child);
                child
            }
            NodeOrText::AppendText(text) => {
                if self.extend_text(parent, after, &text) {
                    return;
                }
                self.add(Kind::Text(text))
            }
        };
        let nodes = &mut *self.nodes.borrow_mut();
        let before = match after {
            NONE => std::mem::replace(&mut nodes[parent as usize].last, child),
            after => std::mem::replace(&mut nodes[after as usize].before, child),
        };
        match before {
            NONE => nodes[parent as usize].first = child,
            before => nodes[before as usize].after = child,
        }
        let node = &mut nodes[child as usize];
        (node.parent, node.before, node.after) = (parent, before, after);
        let mut depth = 0;
        let mut above = parent;
        while above != NONE {
            depth += 1;
            above = nodes[above as usize].parent;
            if depth > self.deepest {
                self.too_deep.set(true);
                break;
            }
        }
    }

    /// Adds text to the text that is already there, if there is some.
    fn extend_text(&self, parent: Id, after: Id, text: &StrTendril) -> bool {
        let nodes = &mut *self.nodes.borrow_mut();
        let before = match after {
            NONE => nodes[parent as usize].last,
            after => nodes[after as usize].before,
        };
        if before != NONE
            && let Kind::Text(found) = &mut nodes[before as usize].kind
        {
            found.push_tendril(text);
            return true;
        }
        false
    }
}

impl TreeSink for Builder {
    type Handle = Id;
    type Output = Tree;
    type ElemName<'a> = Name;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name {
        match &self.nodes.borrow()[*target as usize].kind {
            Kind::Element(element) => {
                Name { ns: element.name.ns.clone(), local: element.name.local.clone() }
            }
            Kind::Text(_) | Kind::Other => Name { ns: ns!(), local: local_name!("") },
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        self.add(Kind::Element(Box::new(Element { name, attributes })))
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Kind::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Kind::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.insert(*parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, before: &Id, child: NodeOrText<Id>) {
        if self.nodes.borrow()[*element as usize].parent == NONE {
            self.insert(*before, NONE, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The content of a template is not shown, so it is stored below the template itself.
    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.insert(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        if let Kind::Element(element) = &mut self.nodes.borrow_mut()[*target as usize].kind {
            for attribute in attributes {
                // Each is compared with all before it.
                if element.attributes.len() >= attributes::MOST {
                    break;
                }
                if !element.attributes.iter().any(|found| found.name == attribute.name) {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &Id, parent: &Id) {
        loop {
            let first = self.nodes.borrow()[*node as usize].first;
            if first == NONE || self.too_deep.get() {
                break;
            }
            self.insert(*parent, NONE, NodeOrText::AppendNode(first));
        }
    }
}

/// The name of an element as html5ever asks for it.
#[derive(Debug)]
pub(crate) struct Name {
    ns: Namespace,
    local: LocalName,
}

impl html5ever::interface::ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.local
    }
}
