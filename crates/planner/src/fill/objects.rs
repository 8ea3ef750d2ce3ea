//! Lists of objects that a request gives one object of: `replace 'a' with 'b'` for `edits: [{oldText, newText}]`.

use serde_json::{Map, Value};

use super::Filling;
use crate::draft::Argument;
use crate::score;
use crate::tool::{Field, Kind};
use crate::value;

/// The lowest score of a value for a field of an object: a name alone is not enough.
const MIN_SCORE: f32 = 0.6;

impl Filling<'_> {
    /// Fills required lists with one object where the step has a value for each field that the object must have.
    pub(super) fn objects(&mut self) {
        for slot in self.open_required() {
            let field = self.slots[slot].field;
            if field.kind != Kind::List || field.item != Some(Kind::Object) {
                continue;
            }
            if let Some((object, used)) = self.object(field) {
                let value = Value::Array(vec![Value::Object(object)]);
                self.take(slot, used, Argument::Literal(value), 2.0);
            }
        }
    }

    fn object(&self, list: &Field) -> Option<(Map<String, Value>, Vec<usize>)> {
        let mentions = self.scene.mentions;
        let required: Vec<&Field> = list.fields.iter().filter(|field| field.required).collect();
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for (place, field) in required.iter().enumerate() {
            let free = self.step.mentions.iter().filter(|mention| !self.used.contains(mention));
            for &mention in free {
                let score = score::of_mention(field, self.tool, mentions, mention);
                if let Some(score) = score.filter(|score| *score >= MIN_SCORE) {
                    pairs.push((score, place, mention));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut object = Map::new();
        let mut used = Vec::new();
        for (_, place, mention) in pairs {
            let field = required[place];
            if object.contains_key(&*field.name) || used.contains(&mention) {
                continue;
            }
            let value = value::of_mention(field, &mentions[mention], None);
            let is_list = field.kind == Kind::List && !value.is_array();
            let value = if is_list { Value::Array(vec![value]) } else { value };
            object.insert(field.name.to_string(), value);
            used.push(mention);
        }
        (!required.is_empty() && object.len() == required.len()).then_some((object, used))
    }
}
