//! What a résumé says about a person, as fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    pub name: Option<String>,
    pub email: Option<String>,
    /// `+` and digits.
    pub phone: Option<String>,
    pub location: Option<String>,
    #[serde(default)]
    pub links: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    pub title: Option<String>,
    pub company: Option<String>,
    /// `YYYY-MM` or `YYYY`.
    pub start: Option<String>,
    /// `YYYY-MM`, `YYYY` or `present`.
    pub end: Option<String>,
    #[serde(default)]
    pub bullets: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Education {
    pub degree: Option<String>,
    pub institution: Option<String>,
    pub end: Option<String>,
}

/// What a résumé says about a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    #[serde(default)]
    pub contact: Contact,
    #[serde(default)]
    pub experience: Vec<Position>,
    #[serde(default)]
    pub education: Vec<Education>,
    #[serde(default)]
    pub skills: Vec<String>,
}
