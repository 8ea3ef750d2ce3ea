//! Prompts that are compiled in.

use std::sync::LazyLock;

use proto::digest;

use super::prompt::Prompt;
use super::snapshot::Snapshot;
use super::spec::Spec;

/// The files of one prompt, below `shipped/packs`.
struct Files {
    domain: &'static str,
    name: &'static str,
    major: u64,
    body: &'static str,
    spec: &'static str,
}

macro_rules! files {
    ($domain:literal, $name:literal, $major:literal) => {
        Files {
            domain: $domain,
            name: $name,
            major: $major,
            body: include_str!(concat!(
                "../shipped/packs/",
                $domain,
                "/",
                $name,
                ".v",
                $major,
                ".md"
            )),
            spec: include_str!(concat!("../shipped/packs/", $domain, "/", $name, ".spec.yaml")),
        }
    };
}

const FILES: [Files; 3] = [
    files!("research", "plan", 1),
    files!("research", "summarize", 1),
    files!("research", "write", 1),
];

static SHIPPED: LazyLock<Vec<Prompt>> = LazyLock::new(|| {
    let prompt = |files: &Files| {
        let Files { domain, name, major, body, spec } = files;
        // A test reads them all.
        let spec = Spec::parse(spec).ok()?;
        Some(Prompt::new(domain, name, *major, (*body).to_owned(), digest(body.as_bytes()), &spec))
    };
    FILES.iter().filter_map(prompt).collect()
});

impl Snapshot {
    /// These prompts and the compiled-in ones; of the same name and major, these win.
    pub fn with_shipped(&self) -> Self {
        let is_here = |shipped: &&Prompt| {
            let same = |own: &Prompt| (own.id(), own.major) == (shipped.id(), shipped.major);
            self.prompts().iter().any(same)
        };
        let shipped = SHIPPED.iter().filter(|shipped| !is_here(shipped));
        Self::of(self.prompts().iter().chain(shipped).cloned().collect())
    }
}

impl Prompt {
    /// Whether this one is compiled in. The gateway's own tools use such prompts: they are read and replaced by name, and people
    /// find them in no client's menu.
    pub fn is_shipped(&self) -> bool {
        let same = |shipped: &Prompt| {
            (shipped.id(), shipped.major) == (self.id(), self.major)
                && shipped.digest == self.digest
        };
        SHIPPED.iter().any(same)
    }
}
