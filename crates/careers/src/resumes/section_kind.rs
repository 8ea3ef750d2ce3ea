//! What the sections of a résumé are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    Contact,
    Summary,
    Experience,
    Education,
    Skills,
    Projects,
    Certifications,
    Languages,
    Other,
}
