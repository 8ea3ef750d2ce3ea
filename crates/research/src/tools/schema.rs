//! JSON Schemas of the tools' types as clients see them, without Rust's names and number formats.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of an input: optional fields are left out, never `null`.
pub(super) fn of_input<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12())
}

/// The schema of an output: fields that are always written are required.
pub(super) fn of_output<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

fn tidy(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    keywords.remove("title");
    let number = |format: &Value| {
        let format = format.as_str().unwrap_or_default();
        ["int", "uint", "float", "double"].iter().any(|prefix| format.starts_with(prefix))
    };
    if keywords.get("format").is_some_and(number) {
        keywords.remove("format");
    }
    remove_null(schema);
    let Value::Object(keywords) = schema else { return };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        properties.values_mut().for_each(tidy);
    }
    if let Some(items) = keywords.get_mut("items") {
        tidy(items);
    }
}

/// None of the tools' types writes or takes `null`: what is unknown is left out.
fn remove_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            keywords.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if keywords.get("default") == Some(&Value::Null) {
        keywords.remove("default");
    }
    // `Option<Struct>` is `anyOf: [struct, null]`.
    let only = match keywords.get_mut("anyOf") {
        Some(Value::Array(choices)) => {
            choices.retain(|choice| choice.get("type") != Some(&Value::String("null".to_owned())));
            match &choices[..] {
                [only] => Some(only.clone()),
                _ => None,
            }
        }
        _ => None,
    };
    if let Some(Value::Object(only)) = only {
        keywords.remove("anyOf");
        for (key, value) in only {
            keywords.entry(key).or_insert(value);
        }
    }
}
