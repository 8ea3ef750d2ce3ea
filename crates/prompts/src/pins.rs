use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use proto::{Digest, Finding, PromptRef, Severity, digest};
use schema::yaml::{Limits, Node};
use serde_json::Value;
use userfiles::{Access, UserFile};

use super::body;
use super::fault::Fault;
use super::files::Folder;
use super::snapshot::MAX_BODY_BYTES;

/// The file of the pins in the prompts folder.
pub(super) const FILE: &str = "REGISTRY.yaml";

/// Far more than the pins of thousands of prompts need.
const LIMITS: Limits = Limits { max_bytes: 1 << 20, merge_keys: false, custom_tags: false };

const HEADER: &str = "\
# The SHA-256 of every prompt's body, as `sha256sum` prints it; `powerstrip prompts pin` adds new ones.
# A pinned body does not change: a changed text is a new version, `<name>.vN.md`.
";

/// The digest of the body of each version, as `REGISTRY.yaml` pins it.
#[derive(Debug, Default)]
pub(super) struct Pins {
    pins: BTreeMap<(String, u64), Pin>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub(super) digest: Digest,
    pub(super) line: Option<usize>,
}

impl Pins {
    /// Reads the registry of a folder; a folder without one pins nothing.
    pub(super) fn read(folder: &Folder) -> Result<Self, Vec<Fault>> {
        match folder.read(FILE, LIMITS.max_bytes) {
            Ok(Some(text)) => Self::parse(&text),
            Ok(None) => Ok(Self::default()),
            Err(fault) => Err(vec![fault]),
        }
    }

    fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let document = Node::parse(text, LIMITS).map_err(|error| vec![error.into()])?;
        let Some(document) = document else { return Ok(Self::default()) };
        let json = document.json();
        let Value::Object(prompts) = &json else {
            return Err(vec![Fault::new(Some(1), "a registry is a mapping of prompts")]);
        };
        let mut pins = Self::default();
        let mut faults = Vec::new();
        for (id, versions) in prompts {
            let place = format!("/{}", id.replace('~', "~0").replace('/', "~1"));
            let mut fault = |place: &str, message: String| {
                faults.push(Fault::new(Some(document.line_at(place)), message));
            };
            if let Err(reason) = reference(id) {
                fault(&place, reason);
                continue;
            }
            let Value::Object(versions) = versions else {
                fault(&place, format!("`{id}` is a mapping of `vN` to SHA-256 digests"));
                continue;
            };
            for (version, digest) in versions {
                let place = format!("{place}/{version}");
                let major = version.strip_prefix('v').and_then(body::major);
                // may fail: a fault is reported below.
                let digest = serde_json::from_value::<Digest>(digest.clone()).ok();
                match (major, digest) {
                    (Some(major), Some(digest)) => {
                        let pin = Pin { digest, line: Some(document.line_at(&place)) };
                        pins.pins.insert((id.clone(), major), pin);
                    }
                    (None, _) => fault(&place, "a version is written `v1`, `v2`, …".to_owned()),
                    (_, None) => fault(&place, "a pin is 64 hexadecimal digits".to_owned()),
                }
            }
        }
        if faults.is_empty() { Ok(pins) } else { Err(faults) }
    }

    /// The pin of one version.
    pub(super) fn pin(&self, id: &str, major: u64) -> Option<Pin> {
        self.pins.get(&(id.to_owned(), major)).copied()
    }

    /// All pins, by id and major.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, u64, Pin)> {
        self.pins.iter().map(|((id, major), pin)| (id.as_str(), *major, *pin))
    }

    fn yaml(&self) -> String {
        let mut text = HEADER.to_owned();
        let mut last = "";
        for ((id, major), pin) in &self.pins {
            // Writing into a `String` cannot fail.
            if id != last {
                let _ = writeln!(text, "{id}:");
                last = id;
            }
            let _ = writeln!(text, "  v{major}: \"{}\"", pin.digest);
        }
        text
    }
}

fn reference(id: &str) -> Result<PromptRef, String> {
    match id.parse::<PromptRef>() {
        Ok(reference) if reference.to_string() == id && reference.major.is_none() => Ok(reference),
        Ok(_) => Err(format!("`{id}` is not `<domain>/<name>`")),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes the pins of bodies that have none, and names them. A body that differs from its pin is an error, and then
/// nothing is written.
pub fn pin(dir: &Path) -> Result<Vec<PromptRef>, Vec<Finding>> {
    let error = |file: &str, fault: Fault| Finding {
        severity: Severity::Error,
        file: dir.join(file),
        line: fault.line,
        message: fault.message,
    };
    let Some(folder) = Folder::open(dir).map_err(|fault| vec![error("", fault)])? else {
        return Err(vec![error("", Fault::new(None, "there is no such folder"))]);
    };
    let mut pins = Pins::read(&folder)
        .map_err(|faults| faults.into_iter().map(|fault| error(FILE, fault)).collect::<Vec<_>>())?;
    let mut pinned = Vec::new();
    let mut findings = Vec::new();
    for body in body::bodies(&folder).map_err(|fault| vec![error("packs", fault)])? {
        let text = match folder.read(&body.path, MAX_BODY_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(fault) => {
                findings.push(error(&body.path, fault));
                continue;
            }
        };
        let found = digest(text.as_bytes());
        match pins.pin(&body.id(), body.major) {
            Some(pin) if pin.digest == found => {}
            Some(_) => {
                findings.push(error(&body.path, Fault::new(None, body.changed(&folder, &pins))))
            }
            None => {
                pins.pins.insert((body.id(), body.major), Pin { digest: found, line: None });
                pinned.push(PromptRef {
                    domain: body.domain,
                    name: body.name,
                    major: Some(body.major),
                });
            }
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    if !pinned.is_empty() {
        write(dir, &pins.yaml()).map_err(|cause| {
            vec![error(FILE, Fault::new(None, format!("cannot write: {cause}")))]
        })?;
    }
    Ok(pinned)
}

/// A reader sees the old registry or the new one, never half of either.
fn write(dir: &Path, text: &str) -> std::io::Result<()> {
    let file = UserFile::find(&dir.join(FILE))?;
    file.replace(text.as_bytes(), Access::AsBefore).map(drop)
}
