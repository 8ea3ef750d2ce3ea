//! The names of prompt files.

use proto::PromptRef;

use super::fault::Fault;
use super::files::Folder;
use super::pins::{self, Pins};

/// The subfolder of the domains.
pub(super) const PACKS: &str = "packs";

/// A body's file, found by its name.
pub(super) struct Body {
    pub(super) domain: String,
    pub(super) name: String,
    pub(super) major: u64,
    /// Relative to the prompts folder.
    pub(super) path: String,
}

impl Body {
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.domain, self.name)
    }

    /// The message for a text that differs from the pinned one.
    pub(super) fn changed(&self, folder: &Folder, pins: &Pins) -> String {
        format!(
            "the text differs from the one that {} pins as v{}: put the old text back and the new one into `{}.v{}.md`",
            pins::FILE,
            self.major,
            self.name,
            self.newest(folder, pins).saturating_add(1)
        )
    }

    /// The newest major of the prompt, pinned or in the folder.
    fn newest(&self, folder: &Folder, pins: &Pins) -> u64 {
        let id = self.id();
        let pinned = pins.all().filter(|(pinned, ..)| *pinned == id).map(|(_, major, _)| major);
        // An unreadable folder is reported by the loader.
        let here = bodies_of(folder, &self.domain).unwrap_or_default();
        let here = here.iter().filter(|body| body.name == self.name).map(|body| body.major);
        pinned.chain(here).max().unwrap_or(self.major)
    }
}

/// The digits after the `v`, without sign and leading zero, so that one version has one name.
pub(super) fn major(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'));
    digits.parse().ok().filter(|_| plain)
}

/// Splits `outline.v2` into name and major.
fn versioned(stem: &str) -> Option<(&str, u64)> {
    let (name, digits) = stem.rsplit_once(".v")?;
    Some((name, major(digits)?))
}

/// The bodies of a folder whose names are right.
pub(super) fn bodies(folder: &Folder) -> Result<Vec<Body>, Fault> {
    let mut bodies = Vec::new();
    for domain in folder.list(PACKS)?.unwrap_or_default().iter().filter(|item| item.is_dir) {
        bodies.extend(bodies_of(folder, &domain.name)?);
    }
    Ok(bodies)
}

fn bodies_of(folder: &Folder, domain: &str) -> Result<Vec<Body>, Fault> {
    let mut bodies = Vec::new();
    for item in folder.list(&format!("{PACKS}/{domain}"))?.unwrap_or_default() {
        if let Ok(Kind::Body { name, major }) = Kind::of(domain, &item.name) {
            let path = format!("{PACKS}/{domain}/{}", item.name);
            bodies.push(Body { domain: domain.to_owned(), name, major, path });
        }
    }
    Ok(bodies)
}

/// What a file of a domain is, by its name.
pub(super) enum Kind {
    Body {
        name: String,
        major: u64,
    },
    Spec {
        name: String,
        major: Option<u64>,
    },
    /// Notes for people.
    Note,
}

impl Kind {
    pub(super) fn of(domain: &str, file: &str) -> Result<Self, String> {
        if file.eq_ignore_ascii_case("README.md") {
            return Ok(Kind::Note);
        }
        let kind = if let Some(stem) = file.strip_suffix(".spec.yaml") {
            match versioned(stem) {
                Some((name, major)) => Kind::Spec { name: name.to_owned(), major: Some(major) },
                None => Kind::Spec { name: stem.to_owned(), major: None },
            }
        } else {
            let (name, major) = file.strip_suffix(".md").and_then(versioned).ok_or(
                "is neither `<name>.vN.md` nor `<name>.spec.yaml` and is not served".to_owned(),
            )?;
            Kind::Body { name: name.to_owned(), major }
        };
        let (Kind::Body { name, .. } | Kind::Spec { name, .. }) = &kind else {
            return Ok(kind);
        };
        // A name that itself ends in a version would make its spec another prompt's.
        if versioned(name).is_some() {
            return Err(format!("the name `{name}` must not end in a version of its own"));
        }
        match format!("{domain}/{name}").parse::<PromptRef>() {
            Ok(reference) if reference.domain == domain && reference.name == *name => Ok(kind),
            Ok(_) => Err("has a name that is not a prompt's".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}
