//! Values that were passed to a tool and must not come back in errors or logs.

use serde_json::Value;
use strip::Failure;

/// Shorter values, such as `1` or `true`, are settings; hiding them would only garble the text.
const MIN_LENGTH: usize = 6;

#[derive(Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn new<'a>(values: impl IntoIterator<Item = &'a String>) -> Self {
        let mut values: Vec<_> =
            values.into_iter().filter(|value| value.len() >= MIN_LENGTH).cloned().collect();
        // The longest first, so that a value inside another does not leave the rest of it standing.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "****"))
    }

    pub(crate) fn hide_in(&self, mut failure: Failure) -> Failure {
        if self.0.is_empty() {
            return failure;
        }
        failure.message = self.hide(&failure.message);
        if let Some(details) = &mut failure.details {
            self.hide_in_json(details);
        }
        failure
    }

    fn hide_in_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_json(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.hide_in_json(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::Code;
    use serde_json::json;

    use super::*;

    #[test]
    fn passed_values_do_not_come_back() {
        let values = ["hunter2!".to_owned(), "hunter2!-longer".to_owned(), "1".to_owned()];
        let secrets = Secrets::new(&values);
        assert_eq!(secrets.hide("x hunter2!-longer hunter2! 1"), "x **** **** 1");
        let failure = Failure::new(Code::Internal, "Bearer hunter2!")
            .details(json!({"header": ["hunter2!"], "n": 1}));
        let hidden = secrets.hide_in(failure);
        assert_eq!(hidden.message, "Bearer ****");
        assert_eq!(hidden.details, Some(json!({"header": ["****"], "n": 1})));
    }
}
