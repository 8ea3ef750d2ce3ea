//! Checks that the container image and its configuration fit the gateway.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::{Gateway, ReservedPort};

use crate::book::pages::root;
use crate::book::powerstrip;

/// A Dockerfile: its instructions, with continued lines joined.
struct Dockerfile(Vec<(String, String)>);

impl Dockerfile {
    fn read() -> Self {
        Self::read_file("deploy/Dockerfile")
    }

    fn read_file(path: &str) -> Self {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let text = text.replace("\\\n", " ");
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let split = |line: &str| {
            let (instruction, rest) = line.split_once(' ').unwrap();
            (instruction.to_owned(), rest.trim().to_owned())
        };
        Self(lines.map(split).collect())
    }

    /// The arguments of all instructions with this name.
    fn all(&self, instruction: &str) -> Vec<&str> {
        let named = self.0.iter().filter(|(name, _)| name == instruction);
        named.map(|(_, arguments)| arguments.as_str()).collect()
    }

    /// The arguments of the last such instruction, which is the one of the final image.
    fn last(&self, instruction: &str) -> &str {
        self.all(instruction).pop().unwrap_or_else(|| panic!("no {instruction}"))
    }

    /// The words of an instruction in its JSON form.
    fn words(&self, instruction: &str) -> Vec<String> {
        serde_json::from_str(self.last(instruction)).unwrap()
    }
}

/// The configuration that the image starts with.
fn shipped_config() -> Value {
    config_of("deploy/powerstrip.yaml")
}

fn config_of(file: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = root().join(file);
    let output = powerstrip(
        folder.path(),
        &["config", "show", "--json", "--config", file.to_str().unwrap()],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_image_exposes_the_port_that_the_gateway_listens_on() {
    let dockerfile = Dockerfile::read();
    let config = shipped_config();
    let listen = config["listen"].as_str().unwrap();
    let port = dockerfile.last("EXPOSE");
    assert_eq!(listen, format!("0.0.0.0:{port}"));
    assert!(config["auth"].is_object(), "a published port needs `auth:`: {config}");
    assert!(dockerfile.last("HEALTHCHECK").contains(&format!("/dev/tcp/127.0.0.1/{port}")));
}

#[test]
fn the_image_runs_as_a_user_who_owns_the_data_folder() {
    let dockerfile = Dockerfile::read();
    let user: u32 = dockerfile.last("USER").parse().unwrap();
    assert_ne!(user, 0);
    let created = dockerfile.all("RUN").into_iter().find(|run| run.contains("useradd")).unwrap();
    let home = dockerfile.last("VOLUME");
    assert!(created.contains(&format!("--uid {user} ")), "{created}");
    assert!(created.contains(&format!("--home-dir {home} --create-home")), "{created}");
    let config = shipped_config();
    for path in [&config["data_dir"], &config["tools"][0], &config["prompts"]] {
        let path = path.as_str().unwrap();
        assert!(Path::new(path).starts_with(home), "{path} is outside of the volume {home}");
    }
}

#[test]
fn the_image_starts_what_it_builds_with_the_config_it_copies() {
    let dockerfile = Dockerfile::read();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let build = dockerfile.all("RUN").into_iter().find(|run| run.contains("cargo build")).unwrap();
    assert!(build.contains("--locked --profile dist") && manifest.contains("[profile.dist]"));
    let rust = dockerfile.all("FROM").remove(0).strip_prefix("rust:").unwrap();
    let version = rust.split('-').next().unwrap();
    assert!(manifest.contains(&format!("rust-version = \"{version}\"")), "rust {version}");
    assert!(
        dockerfile
            .all("COPY")
            .iter()
            .any(|copy| copy.ends_with("/target/dist/powerstrip /usr/local/bin/powerstrip"))
    );
    let config = dockerfile.last("ENV").strip_prefix("POWERSTRIP_CONFIG=").unwrap();
    assert!(dockerfile.all("COPY").contains(&format!("deploy/powerstrip.yaml {config}").as_str()));
    let mut command = dockerfile.words("ENTRYPOINT");
    command.extend(dockerfile.words("CMD"));
    assert_eq!(command, ["powerstrip", "serve"]);
}

#[tokio::test]
async fn the_health_check_of_the_image_sees_a_gateway_live_and_die() {
    let check = Dockerfile::read().last("HEALTHCHECK").split_once("CMD ").unwrap().1.to_owned();
    let check: Vec<String> = serde_json::from_str(&check).unwrap();
    let port = ReservedPort::reserve();
    let number = port.address().rsplit_once(':').unwrap().1.to_owned();
    let healthy = || {
        let arguments = check[1..].iter().map(|word| word.replace("/7777", &format!("/{number}")));
        Command::new(&check[0]).args(arguments).output().unwrap().status.success()
    };
    let gateway = Gateway::with().config("auth: {}\n").at(&port).start().await;
    assert!(healthy());
    gateway.stop().await;
    assert!(!healthy());
}

fn yaml_of(file: &str) -> Value {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let limits = schema::yaml::Limits { max_bytes: 1 << 20, merge_keys: true, custom_tags: false };
    schema::yaml::parse(&text, limits).unwrap()
}

/// The programs of our own capability servers, as the catalog lists them.
fn bundled_servers() -> Vec<String> {
    let catalog = yaml_of("crates/recipes/src/catalog/servers.yaml");
    let rows = catalog.as_array().unwrap().iter();
    let bundled = rows.filter(|row| row["bundled"] == true);
    bundled.map(|row| row["command"][0].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_image_of_the_servers_has_all_of_them() {
    let dockerfile = Dockerfile::read_file("deploy/servers.Dockerfile");
    let build = dockerfile.all("RUN").into_iter().find(|run| run.contains("cargo build")).unwrap();
    let copied = dockerfile.all("COPY").pop().unwrap();
    let servers = bundled_servers();
    assert_eq!(servers.len(), 9, "{servers:?}");
    for server in &servers {
        let package = server.strip_suffix("-mcp").unwrap();
        assert!(build.split(' ').any(|word| word == package), "{server} is not built: {build}");
        assert!(copied.contains(&format!("/source/target/release/{server} ")), "{copied}");
    }
    assert_eq!(build.matches(" -p ").count(), servers.len(), "{build}");
    let user: u32 = dockerfile.last("USER").parse().unwrap();
    let created = dockerfile.all("RUN").pop().unwrap();
    let home = dockerfile.last("VOLUME");
    assert!(created.contains(&format!("--uid {user} --home-dir {home} --create-home")));
    let port = dockerfile.last("EXPOSE");
    assert!(dockerfile.last("HEALTHCHECK").contains(&format!("/dev/tcp/127.0.0.1/{port}")));
}

#[test]
fn the_servers_of_the_compose_file_can_register() {
    let compose = yaml_of("deploy/compose.yaml");
    let allowed = config_of("deploy/compose.powerstrip.yaml")["egress"]["allow"].clone();
    let dockerfile = Dockerfile::read_file("deploy/servers.Dockerfile");
    let port = dockerfile.last("EXPOSE");
    for server in bundled_servers() {
        let service = &compose["services"][&server];
        assert_eq!(service["build"]["dockerfile"], "deploy/servers.Dockerfile", "{server}");
        assert_eq!(service["environment"]["POWERSTRIP_GATEWAY"], "http://gateway:7777");
        let command: Vec<_> =
            service["command"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let url = format!("http://{server}:{port}/mcp");
        let listen = format!("0.0.0.0:{port}");
        let expected = [server.as_str(), "--listen", &listen, "--public-url", &url];
        assert_eq!(command[..5], expected);
        assert!(allowed.as_array().unwrap().contains(&format!("{server}:{port}").into()));
        // Each flag is one that the program has.
        let help = Command::new(testkit::sibling_program(&server)).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        for flag in command.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{server} has no {flag}:\n{help}");
        }
    }
}

#[test]
fn the_compose_file_fits_the_image_and_its_configuration() {
    let compose = yaml_of("deploy/compose.yaml");
    let dockerfile = Dockerfile::read();
    let (services, config) = (&compose["services"], config_of("deploy/compose.powerstrip.yaml"));
    let gateway = &services["gateway"];
    let port = dockerfile.last("EXPOSE");
    assert_eq!(gateway["ports"], serde_json::json!([format!("127.0.0.1:{port}:{port}")]));
    assert_eq!(config["listen"], format!("0.0.0.0:{port}"));
    assert!(config["auth"].is_object(), "a published port needs `auth:`: {config}");
    let arguments = gateway["build"]["args"].as_object().unwrap();
    for name in arguments.keys() {
        let declared = dockerfile.all("ARG").iter().any(|arg| arg.starts_with(&format!("{name}=")));
        assert!(declared, "the Dockerfile has no ARG {name}");
    }
    // Each variable that the configuration names is set, and each host that it names is a service.
    let given = gateway["environment"].as_object().unwrap();
    let storage = &config["storage"];
    for source in [&storage["database"], &storage["s3"]["access_key"], &storage["s3"]["secret_key"]]
    {
        let name = source["env"].as_str().unwrap();
        assert!(given.contains_key(name), "{name} is not set");
    }
    let database = given["DATABASE_URL"].as_str().unwrap();
    assert!(database.contains("@database:5432/") && services["database"].is_object());
    assert_eq!(storage["s3"]["endpoint"], "http://objects:9000");
    let bucket = storage["objects"].as_str().unwrap().trim_start_matches("s3://");
    let made = services["bucket"]["command"][0].as_str().unwrap();
    assert!(made.contains("http://objects:9000") && made.ends_with(&format!("ours/{bucket}")));
    for service in services.as_object().unwrap().values() {
        let ports = service["ports"].as_array().into_iter().flatten();
        for port in ports.map(|port| port.as_str().unwrap()) {
            assert!(port.starts_with("127.0.0.1:"), "{port} is open to other machines");
        }
    }
}

#[test]
fn the_unit_starts_the_gateway_and_gives_it_time_to_drain() {
    let unit = std::fs::read_to_string(root().join("deploy/powerstrip.service")).unwrap();
    let value = |key: &str| {
        let line = unit.lines().find_map(|line| line.strip_prefix(&format!("{key}=")));
        line.unwrap_or_else(|| panic!("no {key}"))
    };
    assert_eq!(value("ExecStart"), "/usr/local/bin/powerstrip serve");
    assert!(value("TimeoutStopSec").parse::<u64>().unwrap() > 20);
    assert_eq!(value("WorkingDirectory"), value("ReadWritePaths"));
    assert_eq!(value("User"), "powerstrip");
}
