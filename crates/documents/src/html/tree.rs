//! A page as a tree in one list, which is dropped without recursion however deep it is nested.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

/// The index of a node in the list.
pub(super) type Id = usize;

/// The root.
pub(super) const DOCUMENT: Id = 0;

#[derive(Default)]
struct Node {
    parent: Option<Id>,
    children: Vec<Id>,
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    #[default]
    Other,
    Text(String),
    Element(QualName, Vec<Attribute>),
}

/// The tree while html5ever builds it, and afterwards.
pub(super) struct Tree {
    nodes: RefCell<Vec<Node>>,
    deepest: usize,
    too_deep: Cell<bool>,
}

impl Tree {
    pub(super) fn new(deepest: usize) -> Self {
        let nodes = RefCell::new(vec![Node::default()]);
        Self { nodes, deepest, too_deep: Cell::new(false) }
    }

    /// Whether there were elements within more elements than allowed.
    pub(super) fn is_too_deep(&self) -> bool {
        self.too_deep.get()
    }

    fn add(&self, kind: Kind) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { kind, ..Node::default() });
        nodes.len() - 1
    }

    fn detach(&self, node: Id) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[node].parent.take() {
            nodes[parent].children.retain(|child| *child != node);
        }
    }

    /// Inserts a child among those of its parent.
    fn insert(&self, parent: Id, at: usize, child: NodeOrText<Id>) {
        let child = match child {
            NodeOrText::AppendNode(child) => {
                self.detach(child);
                child
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let before =
                    at.checked_sub(1).and_then(|at| nodes[parent].children.get(at).copied());
                if let Some(before) = before
                    && let Kind::Text(found) = &mut nodes[before].kind
                {
                    found.push_str(&text);
                    return;
                }
                drop(nodes);
                self.add(Kind::Text(text.to_string()))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        let at = at.min(nodes[parent].children.len());
        nodes[parent].children.insert(at, child);
        nodes[child].parent = Some(parent);
        let mut depth = 0;
        let mut above = Some(parent);
        while let Some(node) = above {
            depth += 1;
            above = nodes[node].parent;
            if depth > self.deepest {
                self.too_deep.set(true);
                break;
            }
        }
    }

    fn append_last(&self, parent: Id, child: NodeOrText<Id>) {
        // Beyond the limit nothing is stored: the page will be refused, and parsing would get slower and slower.
        if !self.too_deep.get() {
            let at = self.nodes.borrow().get(parent).map_or(0, |node| node.children.len());
            self.insert(parent, at, child);
        }
    }

    /// All elements in the order in which they were begun.
    pub(super) fn elements(&self) -> Vec<Id> {
        let nodes = self.nodes.borrow();
        (0..nodes.len()).filter(|id| matches!(nodes[*id].kind, Kind::Element(..))).collect()
    }

    pub(super) fn name(&self, node: Id) -> String {
        match &self.nodes.borrow()[node].kind {
            Kind::Element(name, _) => name.local.to_string(),
            Kind::Text(_) | Kind::Other => String::new(),
        }
    }

    pub(super) fn attribute(&self, node: Id, name: &str) -> Option<String> {
        match &self.nodes.borrow()[node].kind {
            Kind::Element(_, attributes) => attributes
                .iter()
                .find(|attribute| &*attribute.name.local == name)
                .map(|attribute| attribute.value.to_string()),
            Kind::Text(_) | Kind::Other => None,
        }
    }

    pub(super) fn text(&self, node: Id) -> Option<String> {
        match &self.nodes.borrow()[node].kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Element(..) | Kind::Other => None,
        }
    }

    pub(super) fn parent(&self, node: Id) -> Option<Id> {
        self.nodes.borrow()[node].parent
    }

    pub(super) fn children(&self, node: Id) -> Vec<Id> {
        self.nodes.borrow()[node].children.clone()
    }

    /// The text directly within an element, as in `title` and `style`.
    pub(super) fn text_of(&self, node: Id) -> String {
        self.children(node).into_iter().filter_map(|child| self.text(child)).collect()
    }
}

impl TreeSink for Tree {
    type Handle = Id;
    type Output = Self;
    type ElemName<'a> = Name;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name {
        match &self.nodes.borrow()[*target].kind {
            Kind::Element(name, _) => Name { ns: name.ns.clone(), local: name.local.clone() },
            Kind::Text(_) | Kind::Other => Name { ns: ns!(), local: local_name!("") },
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        self.add(Kind::Element(name, attributes))
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Kind::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Kind::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.append_last(*parent, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, before: &Id, child: NodeOrText<Id>) {
        if self.nodes.borrow()[*element].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append_last(*before, child);
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
        if self.too_deep.get() {
            return;
        }
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(*node);
        }
        let place = {
            let nodes = self.nodes.borrow();
            let parent = nodes[*sibling].parent;
            parent.and_then(|parent| {
                let at = nodes[parent].children.iter().position(|child| child == sibling)?;
                Some((parent, at))
            })
        };
        if let Some((parent, at)) = place {
            self.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        if let Kind::Element(_, present) = &mut self.nodes.borrow_mut()[*target].kind {
            for attribute in attributes {
                if !present.iter().any(|found| found.name == attribute.name) {
                    present.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &Id, parent: &Id) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[*node].children);
        for child in &children {
            nodes[*child].parent = Some(*parent);
        }
        nodes[*parent].children.extend(children);
    }
}

/// The name of an element as html5ever asks for it.
#[derive(Debug)]
pub(super) struct Name {
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
