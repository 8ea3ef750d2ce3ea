//! Files and folders that a request names in two parts, or by a pronoun.

use serde_json::Value;

use super::{Filled, Filling, Slot};
use crate::draft::{Argument, Items};
use crate::score::{is_file, is_folder};
use crate::tool::{Field, Kind, Sense, ToolSpec};

/// Names of fields for what something goes to.
const TARGETS: [&str; 5] = ["destination", "target", "dest", "dst", "to"];

impl Filling<'_> {
    /// `create the folder x and move a.txt into it`: the file or folder that the task before was given.
    pub(super) fn files_of_pronoun(&mut self) {
        let Some(before) = self.earlier.last().filter(|_| self.step.has_pronoun) else { return };
        let Some(filled) = before.filled else { return };
        let is_path = |name: &str| {
            let mut inputs = before.tool.inputs.iter().filter(|input| *input.name == *name);
            inputs.any(takes_path)
        };
        let given = filled.arguments.iter().find_map(|(path, argument)| match argument {
            Argument::Literal(Value::String(text)) if path.len() == 1 && is_path(&path[0]) => {
                Some(text.clone())
            }
            _ => None,
        });
        let Some(given) = given else { return };
        for slot in self.open_required() {
            let field = self.slots[slot].field;
            let fits =
                takes_path(field) && (is_file(&given) || !self.tool.takes_file || is_target(field));
            let is_known = self.slots.iter().any(
                |slot| matches!(&slot.argument, Some(Argument::Literal(value)) if *value == *given),
            );
            if !fits || is_known || field.is_named(&crate::score::FOLDERS) {
                continue;
            }
            let value = Value::from(given.clone());
            let value = if field.kind == Kind::List { Value::Array(vec![value]) } else { value };
            self.set(slot, Argument::Literal(value), 2.0);
        }
    }

    /// The file that an earlier task was given by its id, for `it` and for the other tools of its server.
    pub(super) fn known_file(&mut self) {
        let is_taken = |slot: &Slot<'_>| {
            (slot.field.takes_file_id || slot.field.takes_reference) && slot.argument.is_some()
        };
        let mut open = self.open().into_iter().filter(|&slot| self.slots[slot].field.takes_file_id);
        let (Some(slot), None) = (open.next(), open.next()) else { return };
        // A step with a text that nothing takes is about that text.
        let mut own = self.step.mentions.iter();
        let has_text =
            own.any(|place| self.scene.mentions[*place].quoted && !self.used.contains(place));
        if has_text || self.slots.iter().any(is_taken) {
            return;
        }
        let known = self.earlier.iter().enumerate().rev().find_map(|(place, source)| {
            let is_before = place + 1 == self.earlier.len() && self.step.has_pronoun;
            let is_family = !source.tool.family.is_empty()
                && source.tool.family == self.tool.family
                && !self.tool.changes;
            let filled = source.filled.filter(|_| is_before || is_family)?;
            Some((source.task, file_of(source.tool, filled)?.clone(), filled.for_each.clone()))
        });
        let Some((source, given, items)) = known else { return };
        // `it` is then what that task returns.
        let uses_output = |slot: &Slot<'_>| matches!(&slot.argument, Some(Argument::Output { task, .. }) if *task == source);
        if self.slots.iter().any(uses_output) {
            return;
        }
        match (&given, items) {
            (Argument::Item(None), Some(items @ Items::Values(_))) if self.for_each.is_none() => {
                self.for_each = Some(items);
            }
            (Argument::Literal(Value::String(_)), _) => {}
            _ => return,
        }
        let is_list = self.slots[slot].field.kind == Kind::List;
        let argument = match given {
            Argument::Literal(id) if is_list => Argument::Literal(Value::Array(vec![id])),
            given => given,
        };
        self.set(slot, argument, 2.0);
    }

    /// `rename a.txt to b.txt in /data`: files in a folder that no argument of its own takes.
    pub(super) fn join_folder(&mut self) {
        let mentions = self.scene.mentions;
        let folder = self.step.mentions.iter().copied().find(|&place| {
            let mention = &mentions[place];
            !self.used.contains(&place)
                && is_folder(mention)
                && mention.text.starts_with(['/', '~', '.'])
        });
        let Some(folder) = folder else { return };
        let bare: Vec<&str> = self
            .step
            .mentions
            .iter()
            .map(|&place| mentions[place].text.as_str())
            .filter(|text| is_file(text) && !text.contains('/'))
            .collect();
        let path = mentions[folder].text.trim_end_matches('/');
        let join = |value: &mut Value| match value {
            Value::String(file) if bare.contains(&file.as_str()) => {
                *file = format!("{path}/{file}");
                true
            }
            _ => false,
        };
        let mut is_used = false;
        for slot in self.slots.iter_mut().filter(|slot| takes_path(slot.field)) {
            match &mut slot.argument {
                Some(Argument::Literal(Value::Array(items))) => {
                    items.iter_mut().for_each(|item| is_used |= join(item));
                }
                Some(Argument::Literal(value)) => is_used |= join(value),
                _ => {}
            }
        }
        if is_used {
            self.used.push(folder);
        }
    }

    /// `create a folder called backup in /data`: what is created has its name in the folder.
    pub(super) fn join_name(&mut self) {
        let mentions = self.scene.mentions;
        let is_name = |place: &&usize| {
            let mention = &mentions[**place];
            let word = mention.before.first().map_or("", |word| word.text.as_str());
            matches!(word, "called" | "named") && mention.quoted && !self.used.contains(place)
        };
        let Some(&name) = self.step.mentions.iter().find(is_name).filter(|_| self.tool.changes)
        else {
            return;
        };
        let mut places = self.step.mentions.iter().map(|&place| &mentions[place]);
        let Some(folder) = places.find(|mention| is_folder(mention)) else { return };
        let given = Argument::Literal(Value::from(folder.text.clone()));
        let mut slots = self.slots.iter_mut().filter(|slot| takes_path(slot.field));
        if let Some(slot) = slots.find(|slot| slot.argument.as_ref() == Some(&given)) {
            let path = format!("{}/{}", folder.text.trim_end_matches('/'), mentions[name].text);
            slot.argument = Some(Argument::Literal(Value::from(path)));
            self.used.push(name);
        }
    }

    /// `move a.txt into /data`: the file keeps its name.
    pub(super) fn keep_name(&mut self) {
        let text = self.step.query.to_lowercase();
        let goes_inside = text
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| matches!(word, "into" | "folder"));
        let of = |target: bool| {
            let mut paths = self.slots.iter().enumerate().filter_map(move |(place, slot)| {
                let fits = takes_path(slot.field) && is_target(slot.field) == target;
                match &slot.argument {
                    Some(Argument::Literal(Value::String(path))) if fits => Some((place, path)),
                    _ => None,
                }
            });
            paths.next()
        };
        let (Some((_, file)), Some((slot, folder))) = (of(false), of(true)) else { return };
        if !goes_inside || !is_file(file) || is_file(folder) {
            return;
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let path = format!("{}/{name}", folder.trim_end_matches('/'));
        self.slots[slot].argument = Some(Argument::Literal(Value::from(path)));
    }
}

fn is_target(field: &Field) -> bool {
    field.is_named(&TARGETS)
}

/// The argument by which a task was given a file's id.
fn file_of<'a>(tool: &ToolSpec, filled: &'a Filled) -> Option<&'a Argument> {
    let takes_file =
        |name: &str| tool.inputs.iter().any(|input| *input.name == *name && input.takes_file_id);
    let mut arguments = filled.arguments.iter();
    let found = arguments.find(|(path, _)| path.len() == 1 && takes_file(&path[0]));
    found.map(|(_, argument)| argument)
}

/// Whether a field takes a path, by its sense or as one end of a movement.
fn takes_path(field: &Field) -> bool {
    field.sense == Sense::Path
        || matches!(field.sense, Sense::Other | Sense::Place)
            && field.is_named(&["source", "destination", "src", "dst", "dest"])
}
