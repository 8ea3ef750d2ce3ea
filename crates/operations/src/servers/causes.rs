//! Why servers cannot be used: each cause once, with the servers that it stops and what to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ServerState, ServerSummary};

/// Why some servers cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    pub cause: String,
    pub fix: String,
    pub servers: Vec<String>,
}

/// The causes of all broken servers, those that stop most servers first.
pub fn causes(servers: &[ServerSummary]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for server in servers.iter().filter(|server| server.state.is_broken()) {
        let (cause, fix) = cause_of(server);
        match causes.iter_mut().find(|known| known.cause == cause) {
            Some(known) => known.servers.push(server.name.clone()),
            None => causes.push(Cause { cause, fix, servers: vec![server.name.clone()] }),
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.servers.len()));
    causes
}

fn cause_of(server: &ServerSummary) -> (String, String) {
    let reason = server.reason.as_ref().or(server.last_error.as_ref());
    let reason = || reason.cloned().unwrap_or_else(|| server.state.as_str().to_owned());
    let owned = |cause: &str, fix: &str| (cause.to_owned(), fix.to_owned());
    match server.state {
        ServerState::NeedsSignIn => {
            owned("a person has to sign in", "run `powerstrip login NAME` for each")
        }
        // The reason says where the value is missing, and how to set it there.
        ServerState::NeedsSecret => {
            (reason(), "the server starts by itself once the value is there".to_owned())
        }
        ServerState::Invalid => (
            reason(),
            "correct the entry in powerstrip.yaml; `powerstrip check` shows its line".to_owned(),
        ),
        _ => match missing_program(&reason()) {
            Some(program) => {
                (format!("the program `{program}` is not installed"), how_to_install(program))
            }
            None => (reason(), how_to_look(server)),
        },
    }
}

/// Where the reason for a failure can be found.
fn how_to_look(server: &ServerSummary) -> String {
    let log = format!("`powerstrip servers logs {}`", server.name);
    match server.transport.as_str() {
        "stdio" | "" => format!("{log} shows what it wrote"),
        _ => format!("check that it runs and that its URL is right; {log} shows when it failed"),
    }
}

/// The program that was not found, as `egress` says it.
fn missing_program(reason: &str) -> Option<&str> {
    let (_, after) = reason.split_once("program `")?;
    let (program, rest) = after.split_once('`')?;
    rest.starts_with(" was not found").then_some(program)
}

/// Whether the program of a server was not found, so that it never started.
pub fn lacks_program(server: &ServerSummary) -> bool {
    let error = server.reason.as_ref().or(server.last_error.as_ref());
    server.state.is_broken() && error.is_some_and(|error| missing_program(error).is_some())
}

/// What to do about a server's error, if it says that its program was not found.
pub fn fix_missing_program(error: &str) -> Option<String> {
    missing_program(error).map(how_to_install)
}

/// The programs that most servers are started with.
const LAUNCHERS: [&str; 12] = [
    "npx", "npm", "node", "uvx", "uv", "docker", "python", "python3", "pip", "bunx", "bun", "deno",
];

/// The launcher whose name differs from this one by a slip.
fn nearest_launcher(program: &str) -> Option<&'static str> {
    let scored = LAUNCHERS.into_iter().map(|known| (strsim::osa_distance(program, known), known));
    // Short names are alike by chance: `go` is no `uv`.
    let slips = scored.filter(|(distance, known)| *distance == 1 && known.len() > 2);
    slips.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// How to install the programs that most servers are started with.
pub fn how_to_install(program: &str) -> String {
    let how = match program {
        "npx" | "npm" | "node" => "install Node.js (`apt install nodejs npm`)",
        "uvx" | "uv" => "install uv (`pip install uv`)",
        "docker" => "install Docker (`apt install docker.io`)",
        "python" | "python3" | "pip" => "install Python (`apt install python3 python3-pip`)",
        "bunx" | "bun" => "install Bun (`npm install -g bun`)",
        "deno" => "install Deno (`npm install -g deno`)",
        _ => return unknown_program(program),
    };
    how.to_owned()
}

fn unknown_program(program: &str) -> String {
    match nearest_launcher(program) {
        Some(near) => format!(
            "did you mean `{near}`? `{program}` is not in PATH; correct `command` in powerstrip.yaml"
        ),
        None => format!(
            "`{program}` is not in PATH: install it, or write its full path as `command` in powerstrip.yaml"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, state: ServerState, reason: Option<&str>) -> ServerSummary {
        let reason = reason.map(ToOwned::to_owned);
        ServerSummary { name: name.to_owned(), state, reason, ..ServerSummary::default() }
    }

    #[test]
    fn servers_with_one_cause_are_one_entry() {
        let missing = Some("cannot be started: program `npx` was not found");
        let found = causes(&[
            server("fine", ServerState::Ready, None),
            server("slow", ServerState::Down, Some("no answer within 10 s")),
            server("a", ServerState::Down, missing),
            server("b", ServerState::Down, missing),
            server("web", ServerState::NeedsSignIn, None),
        ]);
        let shown: Vec<_> =
            found.iter().map(|cause| (cause.cause.as_str(), cause.servers.join(" "))).collect();
        assert_eq!(
            shown,
            [
                ("the program `npx` is not installed", "a b".to_owned()),
                ("no answer within 10 s", "slow".to_owned()),
                ("a person has to sign in", "web".to_owned()),
            ]
        );
        assert!(found[0].fix.contains("apt install nodejs"), "{found:?}");
    }

    #[test]
    fn a_fix_fits_the_server() {
        let down = |transport: &str| ServerSummary {
            transport: transport.to_owned(),
            ..server("crm", ServerState::Down, Some("connection refused"))
        };
        let fix = |server: ServerSummary| causes(&[server]).remove(0).fix;
        let (program, url) = (fix(down("stdio")), fix(down("http")));
        assert_eq!(program, "`powerstrip servers logs crm` shows what it wrote");
        assert!(url.contains("URL") && url.contains("logs crm`"), "{url}");
        // A variable is not set by storing a secret in the vault.
        let unset = server("crm", ServerState::NeedsSecret, Some("the variable `KEY` is not set"));
        assert!(!fix(unset).contains("secret set"));
    }

    #[test]
    fn a_mistyped_program_is_answered_with_the_right_one() {
        for (typed, right) in
            [("npxx", "npx"), ("nxp", "npx"), ("dokcer", "docker"), ("uvxx", "uvx")]
        {
            let error = format!("cannot be started: program `{typed}` was not found");
            let fix = fix_missing_program(&error).unwrap();
            assert!(fix.starts_with(&format!("did you mean `{right}`?")), "{typed}: {fix}");
        }
        let fix = how_to_install("crm-server");
        assert!(fix.contains("not in PATH") && fix.contains("full path"), "{fix}");
        assert_eq!(fix_missing_program("no answer within 10 s"), None);
    }
}
