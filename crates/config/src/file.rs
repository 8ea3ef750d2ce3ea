//! Reads the file and merges it with flags, environment variables and defaults.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use environment::Environment;
use schema::yaml::Node;

use crate::auth::check_public_url;
use crate::client_files::{Importer, Literals};
use crate::fault::{BadConfig, Fault, Locator};
use crate::loaded::{Loaded, entry_fault, research_fault, resolve_access, storage_fault};
use crate::overrides::Overrides;
use crate::secret::{SecretFault, SecretReader, SecretSource};
use crate::servers::{self, EntryFault};
use crate::settings::{Config, FILE_NAME, YAML_LIMITS};
use crate::workflows::PlannerKind;
use crate::{agents, literals, reader};

const EMPTY: &str =
    "is empty: write `{}` into it to run with the defaults, or remove it and restart";

/// Loads the configuration: flags over environment over file over defaults.
pub fn load(flags: &Overrides, environment: &Environment) -> Result<Loaded, BadConfig> {
    let from_environment = Overrides::of(environment).map_err(|fault| BadConfig(vec![fault]))?;
    let overrides = flags.clone().or(from_environment);
    let file = match &overrides.config {
        Some(named) => Some(named.clone()),
        None => Some(PathBuf::from(FILE_NAME)).filter(|path| path.exists()),
    };
    let Content { mut config, tree, mut faults, mut invalid } = match &file {
        Some(path) => read_file(path)?,
        None => Content::default(),
    };
    if let Some(base) = file.as_deref().and_then(Path::parent) {
        config.anchor(base);
    }
    let base = file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let (environment, mut warnings) = crate::variables::with_dotenv(environment, base);
    if let Some(path) = &overrides.mcp_json {
        match add_servers(&mut config, path, &environment) {
            Ok(notes) => warnings.extend(notes),
            Err(fault) => faults.push(fault),
        }
    }
    let locator = Locator { file: file.as_deref(), tree: tree.as_ref() };
    let validator = Validator {
        locator,
        environment: &environment,
        assuming: SecretReader::assuming(&environment, base),
    };
    validator.telemetry(&config, &mut faults);
    validator.servers(&config, &mut invalid);
    validator.limits(&config, &mut faults);
    validator.storage(&config, &mut faults);
    validator.agents(&config, &mut faults);
    apply(&mut config, &overrides);
    validator.listen(&config, &overrides, &mut faults);
    validator.access(&config, &mut faults);
    validator.webhook(&config, &mut faults);
    validator.model(&config, &mut faults);
    validator.research(&config, &mut faults);
    if !faults.is_empty() {
        faults.extend(invalid.into_values().flatten());
        return Err(BadConfig(faults));
    }
    warnings.extend(literals::find(&config, locator));
    let tree = tree.map(Arc::new);
    Ok(Loaded { config, file, environment, warnings, invalid, tree })
}

fn apply(config: &mut Config, overrides: &Overrides) {
    let Overrides { config: _, mcp_json: _, data_dir, tools, prompts, listen } = overrides.clone();
    if let Some(data_dir) = data_dir {
        config.data_dir = data_dir;
    }
    if !tools.is_empty() {
        config.tools = tools;
    }
    if let Some(prompts) = prompts {
        config.prompts = prompts;
    }
    if let Some(listen) = listen {
        config.listen = listen;
    }
}

/// What a config file holds.
#[derive(Default)]
struct Content {
    config: Config,
    tree: Option<Node>,
    faults: Vec<Fault>,
    /// Faults of single servers, by name. They do not stop the others.
    invalid: BTreeMap<String, Vec<Fault>>,
}

fn read_file(path: &Path) -> Result<Content, BadConfig> {
    let refused = |line, message: String| BadConfig(vec![Fault::of_file(path, line, message)]);
    let text = userfiles::read_text(path, YAML_LIMITS.max_bytes as u64)
        .map_err(|error| refused(None, format!("cannot be read: {error}")))?;
    let tree =
        Node::parse(&text, YAML_LIMITS).map_err(|error| refused(error.line, error.message))?;
    // Editors truncate a file before they write it. Falling back to defaults would drop `auth`, approvals and limits.
    let tree = tree.ok_or_else(|| refused(None, EMPTY.to_owned()))?;
    let read = reader::read::<Config>(tree.clone());
    let mut content = Content { config: read.value, tree: Some(tree), ..Content::default() };
    for misread in read.faults {
        // A file that was not read to its end may have further settings that protect: it is refused whole.
        let server = misread.server().filter(|_| read.complete).map(str::to_owned);
        let fault = Fault::misread(path, misread);
        match server {
            Some(name) => content.invalid.entry(name).or_default().push(fault),
            None => content.faults.push(fault),
        }
    }
    // Skills may name them.
    for name in content.invalid.keys() {
        content.config.servers.entry(name.clone()).or_default();
    }
    Ok(content)
}

/// Adds the servers of a client's file to those of the config. Entries that cannot be used are warnings: the others
/// are used.
fn add_servers(
    config: &mut Config,
    path: &Path,
    environment: &Environment,
) -> Result<Vec<Fault>, Fault> {
    let fault = |message| Fault::of_file(path, None, message);
    let importer = Importer {
        environment,
        literals: Literals::Keep,
        taken: BTreeSet::new(),
        skip: config.servers.keys().cloned().collect(),
    };
    let imported = importer.read(path).map_err(fault)?;
    for (name, mut server) in imported.servers {
        servers::anchor(&mut server, &imported.folder);
        config.servers.insert(name, server);
    }
    let refused = imported.refused.into_iter();
    let refused = refused.map(|(name, why)| format!("the server `{name}` is not used: {why}"));
    Ok(refused.chain(imported.notes).map(fault).collect())
}

/// Checks what types alone cannot: settings that contradict each other or do not fit the machine. Secrets are not
/// fetched.
struct Validator<'a> {
    locator: Locator<'a>,
    environment: &'a Environment,
    assuming: SecretReader<'a>,
}

impl Validator<'_> {
    fn fault(&self, path: &[&str], message: String) -> Fault {
        self.locator.fault(path, message)
    }

    fn telemetry(&self, config: &Config, faults: &mut Vec<Fault>) {
        let headers = config.telemetry.otlp.iter().flat_map(|otlp| &otlp.headers);
        for (name, value) in headers {
            if let Some((SecretSource::Vault { .. }, _)) = value.source() {
                let keys = ["telemetry", "otlp", "headers", name];
                faults.push(self.fault(&keys, SecretFault::BeforeVault.to_string()));
            }
        }
    }

    fn webhook(&self, config: &Config, faults: &mut Vec<Fault>) {
        let webhook = config.approvals.webhook.as_ref();
        if let Some(Err((key, why))) = webhook.map(|webhook| webhook.resolve(&self.assuming)) {
            faults.push(self.fault(&["approvals", "webhook", key], why));
        }
    }

    fn model(&self, config: &Config, faults: &mut Vec<Fault>) {
        if let Some(Err((key, why))) =
            config.model.as_ref().map(|model| model.resolve(&self.assuming))
        {
            faults.push(self.fault(&["model", key], why));
        }
        if config.workflows.planner == Some(PlannerKind::Model) && config.model.is_none() {
            let why = "`model` is not set; it names the model that plans".to_owned();
            faults.push(self.fault(&["workflows", "planner"], why));
        }
    }

    fn research(&self, config: &Config, faults: &mut Vec<Fault>) {
        let unusable = config.research.faults().into_iter();
        faults.extend(unusable.map(|fault| research_fault(self.locator, fault)));
    }

    fn servers(&self, config: &Config, invalid: &mut BTreeMap<String, Vec<Fault>>) {
        for (name, server) in &config.servers {
            // An entry with misread keys is already reported; checking the rest would only add misleading faults.
            if invalid.contains_key(name) {
                continue;
            }
            let alike = proto::check_look_alike(name, self.written_before(name)).err();
            let alike = alike.map(|why| EntryFault { keys: Vec::new(), message: why.to_string() });
            let faults = servers::check(server, name, &self.assuming).into_iter().chain(alike);
            let faults: Vec<_> =
                faults.map(|fault| entry_fault(self.locator, name, fault)).collect();
            if !faults.is_empty() {
                invalid.insert(name.clone(), faults);
            }
        }
    }

    /// The servers that the file names before this one: of two look-alikes, the first is used.
    fn written_before(&self, name: &str) -> impl Iterator<Item = &str> {
        let servers = self.locator.tree.and_then(|tree| tree.get("servers"));
        servers.into_iter().flat_map(Node::keys).take_while(move |written| *written != name)
    }

    fn agents(&self, config: &Config, faults: &mut Vec<Fault>) {
        for (keys, message) in agents::faults(&config.agents, &config.skills, &config.servers) {
            let keys: Vec<_> = keys.iter().map(String::as_str).collect();
            faults.push(self.fault(&keys, message));
        }
    }

    fn limits(&self, config: &Config, faults: &mut Vec<Fault>) {
        for key in config.limits.above_max() {
            let message =
                format!("is above `limits.max.{key}`: raise that limit or lower this one");
            faults.push(self.fault(&["limits", key], message));
        }
    }

    fn storage(&self, config: &Config, faults: &mut Vec<Fault>) {
        if faults.iter().any(|fault| fault.key.starts_with("storage")) {
            return;
        }
        let unusable = config.storage.check(self.environment).into_iter();
        faults.extend(unusable.map(|fault| storage_fault(self.locator, fault)));
    }

    fn access(&self, config: &Config, faults: &mut Vec<Fault>) {
        if let Some(url) = &config.public_url
            && let Err(why) = check_public_url(url)
        {
            faults.push(self.fault(&["public_url"], why));
        }
        if config.auth.is_none() || faults.iter().any(|fault| fault.key.starts_with("auth")) {
            return;
        }
        if config.public_url.is_none() && config.listen.0.ip().is_unspecified() {
            let message = format!(
                "is required with `auth` when the gateway listens on {}: set the URL that callers use",
                config.listen
            );
            faults.push(self.fault(&["public_url"], message));
        }
        faults.extend(
            resolve_access(config, self.locator, &self.assuming).err().into_iter().flatten(),
        );
    }

    fn listen(&self, config: &Config, overrides: &Overrides, faults: &mut Vec<Fault>) {
        if config.listen.is_loopback() || config.auth.is_some() {
            return;
        }
        let message = format!(
            "{} can be reached from other machines without authentication: add `auth` (an empty section, `auth: {{}}`, \
             requires keys made by `powerstrip keys add`)",
            config.listen,
        );
        faults.push(match overrides.listen {
            None => self.fault(&["listen"], message),
            Some(_) => Fault { file: None, line: None, key: "--listen".to_owned(), message },
        });
    }
}
