//! The environment variables that Powerstrip knows, and the `.env` file that completes them.

use std::io;
use std::path::Path;

use environment::{Environment, THREADS, VAULT_KEY};

use crate::dotenv;
use crate::fault::Fault;

/// The supported variables and their meaning.
pub(crate) const VARIABLES: [(&str, &str); 9] = [
    ("POWERSTRIP_CONFIG", "the config file, as --config"),
    ("POWERSTRIP_DATA_DIR", "the data folder, as --data-dir"),
    ("POWERSTRIP_TOOLS", "tool folders, separated by `:`, as --tools"),
    ("POWERSTRIP_PROMPTS", "the prompts folder, as --prompts"),
    ("POWERSTRIP_LISTEN", "the address to listen on, as --listen"),
    ("POWERSTRIP_LOG", "the log filter, as --log"),
    (
        VAULT_KEY,
        "the key that encrypts stored tokens for servers, instead of `vault.key` in the data folder",
    ),
    ("POWERSTRIP_TOKEN", "the token or key for the gateway that `--url` names"),
    (THREADS, "the number of threads that answer calls; by default one per core"),
];

/// Variables of capability servers, which may be set in the gateway's environment as well.
const OF_SERVERS: [&str; 2] = ["POWERSTRIP_GATEWAY", "POWERSTRIP_REGISTRATION_TOKEN"];

/// The beginnings of variables that complete `research`.
const OF_RESEARCH: [&str; 3] =
    ["POWERSTRIP_RESEARCH_TIMEOUT_", "POWERSTRIP_RESEARCH_SIZE_", "POWERSTRIP_RESEARCH_URL_"];

/// The environment, completed by the `.env` file of a folder, and what is wrong with that file.
pub(crate) fn with_dotenv(environment: &Environment, folder: &Path) -> (Environment, Vec<Fault>) {
    let file = folder.join(dotenv::FILE_NAME);
    let text = match userfiles::read_text(&file, dotenv::MAX_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return (environment.clone(), Vec::new());
        }
        Err(error) => {
            let why = format!("cannot be read: {error}");
            return (environment.clone(), vec![Fault::of_file(&file, None, why)]);
        }
    };
    let parsed = dotenv::parse(&text);
    let fault = |(line, why)| Fault::of_file(&file, Some(line), why);
    let faults = parsed.faults.into_iter().map(fault).collect();
    (environment.clone().with(parsed.variables), faults)
}

/// Unknown variables with our prefix: most likely misspelt.
pub fn unknown_variables(environment: &Environment) -> Vec<String> {
    // A gateway started by a tool inherits the tool's run marker.
    let known = |name: &str| {
        name == egress::process::RUN_MARK
            || OF_RESEARCH.iter().any(|prefix| name.starts_with(prefix))
            || OF_SERVERS.contains(&name)
            || VARIABLES.iter().any(|(known, _)| *known == name)
    };
    let unknown = |name: &&str| name.starts_with("POWERSTRIP_") && !known(name);
    environment.names().filter(unknown).map(str::to_owned).collect()
}
