use std::collections::BTreeSet;

use minijinja::machinery::ast::Expr;

/// The variables that a template reads before it sets them.
pub(super) struct Scopes<'s> {
    set: Vec<BTreeSet<&'s str>>,
    names: BTreeSet<String>,
    /// Whether names are paths.
    nested: bool,
}

impl<'s> Scopes<'s> {
    pub(super) fn new(nested: bool) -> Self {
        Self { set: vec![BTreeSet::new()], names: BTreeSet::new(), nested }
    }

    pub(super) fn into_names(self) -> BTreeSet<String> {
        self.names
    }

    pub(super) fn push(&mut self) {
        self.set.push(BTreeSet::new());
    }

    pub(super) fn pop(&mut self) {
        self.set.pop();
    }

    pub(super) fn assign(&mut self, name: &'s str) {
        if let Some(scope) = self.set.last_mut() {
            scope.insert(name);
        }
    }

    fn is_set(&self, name: &str) -> bool {
        self.set.iter().any(|scope| scope.contains(name))
    }

    pub(super) fn read(&mut self, name: &str) {
        if !self.is_set(name) {
            self.names.insert(name.to_owned());
        }
    }

    /// Notes a path such as `input.a`, if paths are noted and it is one.
    pub(super) fn read_path(&mut self, mut path: &Expr<'s>) -> bool {
        let mut steps = Vec::new();
        while let Expr::GetAttr(attr) = path {
            steps.push(attr.name);
            path = &attr.expr;
        }
        let Expr::Var(var) = path else { return false };
        if !self.nested || self.is_set(var.id) {
            return false;
        }
        steps.push(var.id);
        steps.reverse();
        self.names.insert(steps.join("."));
        true
    }
}
