//! Profiles in the JSON Resume format of jsonresume.org.

use careers::resumes::{Education, Position, Profile};
use serde_json::{Map, Value, json};

/// Writes a profile; what is not known is left out, as the schema asks.
pub(crate) fn write(profile: &Profile) -> Value {
    let contact = &profile.contact;
    let mut basics = Map::new();
    for (key, value) in
        [("name", &contact.name), ("email", &contact.email), ("phone", &contact.phone)]
    {
        basics.extend(value.as_ref().map(|value| (key.to_owned(), json!(value))));
    }
    basics.extend(
        contact.location.as_ref().map(|place| ("location".to_owned(), json!({"address": place}))),
    );
    basics.extend(contact.links.first().map(|link| ("url".to_owned(), json!(link))));
    json!({
        "$schema": "https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json",
        "basics": basics,
        "work": profile.experience.iter().map(work).collect::<Vec<_>>(),
        "education": profile.education.iter().map(education).collect::<Vec<_>>(),
        "skills": profile.skills.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
    })
}

fn work(position: &Position) -> Value {
    let mut work = Map::new();
    let end = position.end.clone().filter(|end| end != "present");
    for (key, value) in [
        ("name", &position.company),
        ("position", &position.title),
        ("startDate", &position.start),
        ("endDate", &end),
    ] {
        work.extend(value.as_ref().map(|value| (key.to_owned(), json!(value))));
    }
    work.insert("highlights".to_owned(), json!(position.bullets));
    Value::Object(work)
}

fn education(entry: &Education) -> Value {
    let mut education = Map::new();
    for (key, value) in
        [("institution", &entry.institution), ("studyType", &entry.degree), ("endDate", &entry.end)]
    {
        education.extend(value.as_ref().map(|value| (key.to_owned(), json!(value))));
    }
    Value::Object(education)
}
