//! Perspectives, questions, and the outline that groups them. Schemas do not describe outlines: every client would pay for
//! that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An angle from which a topic is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Perspective {
    pub id: String,
    pub name: String,
    /// Why it matters for the topic.
    pub why: String,
}

/// A question that the report answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub id: String,
    pub text: String,
    /// The id of its perspective.
    pub perspective: String,
    /// 1 is asked first.
    pub priority: u32,
}

/// The sections of a report and the questions that each answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct Outline {
    pub title: String,
    pub sections: Vec<OutlineSection>,
}

/// A section of an outline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct OutlineSection {
    pub id: String,
    pub heading: String,
    pub questions: Vec<OutlineQuestion>,
}

/// A question as its section lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct OutlineQuestion {
    pub id: String,
    pub text: String,
}
