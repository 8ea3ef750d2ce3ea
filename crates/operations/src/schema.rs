use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::Value;

/// The JSON schema of a type as it is read, without references.
pub fn input_schema<T: JsonSchema>() -> Value {
    schema::<T>(settings().into_generator())
}

/// The JSON schema of a type as it is written, without references.
pub fn output_schema<T: JsonSchema>() -> Value {
    schema::<T>(settings().for_serialize().into_generator())
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
