use proto::{Annotations, Caps, Descriptor, RequestedLimits};
use semver::Version;
use serde_json::Value;

/// The parts of a descriptor in which the control-flow tools differ.
pub(super) struct Sheet {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) input: Value,
    pub(super) limits: RequestedLimits,
    /// Whether repeating a call has no further effect.
    pub(super) idempotent: bool,
}

impl Sheet {
    pub(super) fn descriptor(self) -> Descriptor {
        Descriptor {
            unprefixed: false,
            id: self.id.parse().expect("ids of control-flow tools are well formed"),
            version: Version::new(1, 0, 0),
            title: Some(self.title.to_owned()),
            description: self.description.to_owned(),
            input_schema: self.input,
            output_schema: None,
            deterministic: false,
            limits: self.limits,
            caps: Caps::default(),
            files: None,
            annotations: Annotations {
                title: None,
                read_only_hint: Some(false),
                destructive_hint: Some(false),
                idempotent_hint: Some(self.idempotent),
                open_world_hint: Some(false),
            },
            implementation: None,
        }
    }
}
