use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Value, json};

/// The JSON schema of a type as it is read, without references.
pub fn input_schema<T: JsonSchema>() -> Value {
    schema::<T>(settings().into_generator())
}

/// The JSON schema of a type as it is written, without references.
pub fn output_schema<T: JsonSchema>() -> Value {
    let mut schema = schema::<T>(settings().for_serialize().into_generator());
    describe_timestamps(&mut schema);
    schema
}

/// Adds the times that every answer has in addition to its fields of milliseconds, which are deprecated.
fn describe_timestamps(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(describe_timestamps),
        Value::Object(members) => {
            members.values_mut().for_each(describe_timestamps);
            let Some(Value::Object(properties)) = members.get_mut("properties") else { return };
            let mut times = Vec::new();
            for (key, schema) in properties.iter_mut() {
                let Some(name) = proto::time::timestamp_name(key) else { continue };
                schema["deprecated"] = true.into();
                times.push(name);
            }
            for name in times {
                let time = json!({"type": ["string", "null"], "format": "date-time"});
                properties.entry(name).or_insert(time);
            }
        }
        _ => {}
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

fn schema<T: JsonSchema>(generator: SchemaGenerator) -> Value {
    let mut schema = generator.into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}
