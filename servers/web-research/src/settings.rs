//! The settings, all of them environment variables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use egress::http::Rule;
use research::read_lenses;
use research::settings::{Robots, Settings};
use schema::yaml;
use search::settings::ProviderName;

const LENS_LIMITS: yaml::Limits =
    yaml::Limits { max_bytes: 64 << 10, merge_keys: false, custom_tags: false };

/// What the server is started with.
pub(crate) struct Setup {
    pub(crate) settings: Settings,
    /// Private hosts and networks that may be read.
    pub(crate) allow: Vec<Rule>,
    /// None: pages are read without a browser. `Some(None)`: Chromium is looked up in `PATH`.
    pub(crate) browser: Option<Option<PathBuf>>,
    /// What could not be used, for the log.
    pub(crate) faults: Vec<String>,
}

/// Reads the variables of this process.
pub(crate) fn read() -> Setup {
    #[expect(clippy::disallowed_methods, reason = "the kit's flags are the same for all servers")]
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    of(&variables)
}

fn of(variables: &BTreeMap<String, String>) -> Setup {
    let value = |name: &str| {
        let name = format!("POWERSTRIP_RESEARCH_{name}");
        variables.get(&name).map(|value| value.trim()).filter(|value| !value.is_empty())
    };
    let (mut settings, mut faults) = (Settings::default(), Vec::new());
    faults.extend(settings.complete(variables).iter().map(ToString::to_string));
    match value("ROBOTS") {
        None | Some("batch") => {}
        Some("always") => settings.robots = Robots::Always,
        Some("off") => settings.robots = Robots::Off,
        Some(other) => {
            faults
                .push(format!("POWERSTRIP_RESEARCH_ROBOTS: `{other}` is not batch, always or off"));
        }
    }
    let parse = |text: &str| yaml::parse(text, LENS_LIMITS).map_err(|error| error.to_string());
    let folder = Path::new(value("LENSES").unwrap_or("lenses"));
    (settings.lenses, settings.lens_faults) = read_lenses(folder, parse);
    faults.extend(settings.lens_faults.iter().map(ToString::to_string));
    faults.append(&mut settings.warnings);
    faults.extend(settings.search.unusable().into_iter().map(ProviderName::not_set_up));
    let mut allow = Vec::new();
    for rule in value("ALLOW").unwrap_or_default().split(',').map(str::trim) {
        match rule.parse() {
            _ if rule.is_empty() => {}
            Ok(rule) => allow.push(rule),
            Err(error) => faults.push(format!("POWERSTRIP_RESEARCH_ALLOW: {error}")),
        }
    }
    let browser = match value("BROWSER") {
        None | Some("auto") => Some(None),
        Some("off") => None,
        Some(program) => Some(Some(program.into())),
    };
    Setup { settings, allow, browser, faults }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_and_faults_named() {
        let variables = [
            ("POWERSTRIP_RESEARCH_ROBOTS", "never"),
            ("POWERSTRIP_RESEARCH_ALLOW", "127.0.0.1, 10.0.0.0/8"),
            ("POWERSTRIP_RESEARCH_BROWSER", "off"),
            ("POWERSTRIP_RESEARCH_LENSES", "/no/such/folder"),
            ("SEARCH_ROUTING", "exa,duckduckgo"),
        ];
        let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let setup = of(&variables.map(text).into());
        assert_eq!(setup.allow.len(), 2);
        assert_eq!(setup.browser, None);
        assert_eq!(setup.settings.robots, Robots::Batch);
        let [robots, key] = &setup.faults[..] else { panic!("{:?}", setup.faults) };
        assert!(robots.contains("never") && key.contains("EXA_API_KEY"), "{robots} {key}");
    }
}
