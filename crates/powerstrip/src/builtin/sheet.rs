use proto::{Annotations, Caps, Descriptor, RequestedLimits};
use semver::Version;
use serde_json::Value;

/// What each built-in says about itself; the rest is the same for all of them.
pub(crate) struct Sheet {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) deterministic: bool,
    pub(crate) input: Value,
    pub(crate) output: Value,
}

impl Sheet {
    pub(crate) fn descriptor(self) -> Descriptor {
        Descriptor {
            unprefixed: false,
            id: self.id.parse().expect("built-in ids are well formed"),
            version: Version::new(1, 0, 0),
            title: Some(self.title.to_owned()),
            description: self.description.to_owned(),
            input_schema: self.input,
            output_schema: Some(self.output),
            deterministic: self.deterministic,
            limits: RequestedLimits::default(),
            caps: Caps::default(),
            annotations: Annotations {
                title: None,
                read_only_hint: Some(true),
                destructive_hint: Some(false),
                idempotent_hint: Some(self.deterministic),
                open_world_hint: Some(false),
            },
            implementation: None,
            files: None,
        }
    }
}
