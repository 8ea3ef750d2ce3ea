use std::time::Duration;

use crate::RateRules;
use crate::catalog::{LimitBounds, NameStyle, SchemaForm, Terms};
use crate::files::{InlineLimits, Strategies};

/// What an operator may set, also while the strip runs.
#[derive(Clone, Debug)]
pub struct Settings {
    pub limits: LimitBounds,
    /// How long a recorded answer is given again.
    pub idempotency: Duration,
    pub rate: RateRules,
    pub name_style: NameStyle,
    /// The form of input schemas in lists, where an agent has none of its own.
    pub schemas: SchemaForm,
    pub files: Strategies,
    /// Which parts of answers are not stored and replaced by references.
    pub inline: InlineLimits,
}

impl Settings {
    pub(crate) fn terms(&self) -> Terms {
        Terms { bounds: self.limits, files: self.files.clone() }
    }
}
