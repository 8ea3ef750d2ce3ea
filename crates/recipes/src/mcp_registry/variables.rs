//! Environment variables and options that make a program run other code, trust other hosts or read other settings. They are
//! not accepted from a registry; the user can set them with `-e` and `--arg`.

/// Beginnings of such variables, in upper case.
const PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "NODE_",
    "NPM_",
    "YARN_",
    "PNPM_",
    "COREPACK_",
    "BUN_",
    "DENO_",
    "PYTHON",
    "PIP_",
    "PIPX_",
    "UV_",
    "CONDA_",
    "POETRY_",
    "GIT_",
    "SSH_",
    "BASH_",
    "PERL",
    "RUBY",
    "GEM_",
    "BUNDLE_",
    "LUA_",
    "JAVA_",
    "JDK_",
    "DOTNET_",
    "CORECLR_",
    "COMPLUS_",
    "ELECTRON_",
    "DOCKER_",
    "OPENSSL_",
    "XDG_",
    "POWERSTRIP_",
    "ANSIBLE_",
    "ASDF_",
    "BUILDKIT_",
    "CARGO",
    "CLOUDSDK_",
    "CMAKE_",
    "COMPOSER_",
    "CONTAINERD_",
    "CONTAINER_",
    "ERL_",
    "GIO_",
    "GRADLE_",
    "GST_",
    "GTK_",
    "HELM_",
    "HEX_",
    "HOMEBREW_",
    "JULIA_",
    "KUBERNETES_",
    "KUBE_",
    "MAVEN_",
    "MISE_",
    "MIX_",
    "NIX_",
    "NUGET_",
    "NVM_",
    "PKG_CONFIG",
    "PLAYWRIGHT_",
    "PODMAN_",
    "PUPPETEER_",
    "PYENV_",
    "QT_",
    "RBENV_",
    "RUSTC",
    "RUSTDOC",
    "RUSTUP_",
    "R_ENVIRON",
    "R_HOME",
    "R_LIBS",
    "R_PROFILE",
    "SBT_",
    "SUDO_",
    "TF_",
    "TS_NODE_",
    "TSX_",
    "VAGRANT_",
    "VCPKG_",
    "VOLTA_",
];

/// Such variables, in upper case.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "SHELL",
    "COMSPEC",
    "IFS",
    "ENV",
    "CDPATH",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "ZDOTDIR",
    "FPATH",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "TMPDIR",
    "TMP",
    "TEMP",
    "VIRTUAL_ENV",
    "CLASSPATH",
    "_JAVA_OPTIONS",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "RES_OPTIONS",
    "LOCALDOMAIN",
    "RESOLV_HOST_CONF",
    "TERMINFO",
    "TERMCAP",
    "SSLKEYLOGFILE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "CURL_HOME",
    "AR",
    "AS",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CC",
    "CFLAGS",
    "CXX",
    "CXXFLAGS",
    "GOAUTH",
    "GOBIN",
    "GOENV",
    "GOFLAGS",
    "GOINSECURE",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOPATH",
    "GOPRIVATE",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GOTOOLDIR",
    "GOVCS",
    "INPUTRC",
    "IPYTHONDIR",
    "KUBECONFIG",
    "LD",
    "LDFLAGS",
    "LIBRARY_PATH",
    "LIBGL_DRIVERS_PATH",
    "M2_HOME",
    "MAKE",
    "MAKEFLAGS",
    "MPLCONFIGDIR",
    "NETRC",
    "PATHEXT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROGRAMDATA",
    "PSMODULEPATH",
    "RUSTFLAGS",
    "SYSTEMROOT",
    "WGETRC",
    "WINDIR",
];

/// Endings of such variables: programs, proxies of any protocol, and sources of packages and of trust.
const ENDINGS: &[&str] = &[
    "_PROXY",
    "_ASKPASS",
    "_BINARY",
    "_BINARY_PATH",
    "_BROWSER",
    "_CA_BUNDLE",
    "_CA_CERTS",
    "_CA_FILE",
    "_COMMAND",
    "_EDITOR",
    "_EXECUTABLE",
    "_EXECUTABLE_PATH",
    "_INDEX_URL",
    "_MIRROR",
    "_PAGER",
    "_PRELOAD",
    "_REGISTRY",
    "_REGISTRY_URL",
    "_SHELL",
    "_WRAPPER",
    "GOPROXY",
];

/// Endings of variables that name a host.
const HOST_ENDINGS: [&str; 6] = ["URL", "URI", "HOST", "HOSTNAME", "ENDPOINT", "SERVER"];

/// Variables with such a beginning that only select a mode.
const HARMLESS: [&str; 1] = ["NODE_ENV"];

/// Options of package managers, interpreters and container engines that do the same, without leading dashes.
const OPTIONS: [&str; 34] = [
    "registry",
    "userconfig",
    "globalconfig",
    "prefix",
    "script-shell",
    "node-options",
    "node-arg",
    "package",
    "call",
    "import",
    "require",
    "loader",
    "experimental-loader",
    "eval",
    "print",
    "env-file",
    "index",
    "index-url",
    "extra-index-url",
    "default-index",
    "find-links",
    "trusted-host",
    "config-file",
    "with",
    "with-editable",
    "with-requirements",
    "volume",
    "mount",
    "privileged",
    "cap-add",
    "device",
    "security-opt",
    "pid",
    "entrypoint",
];

/// Checks the name of a variable that an entry sets.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!(
            "the registry sets a variable `{}`, which is not the name of one",
            terminal::shown(name)
        ));
    }
    let upper = name.to_ascii_uppercase();
    let changes_code = NAMES.contains(&upper.as_str())
        || PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        || ENDINGS.iter().any(|ending| upper.ends_with(ending));
    if changes_code && !HARMLESS.contains(&upper.as_str()) {
        return Err(format!(
            "the registry sets `{name}`, which can change the code that runs or the hosts that it trusts; if you want \
             it, set it yourself with -e {name}=VALUE"
        ));
    }
    Ok(())
}

/// The host to which a variable of an entry leads the server, if its name or value says that it names one. Many servers
/// have such a setting; it is shown as a warning.
pub(super) fn points_to(name: &str, value: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let names_host = HOST_ENDINGS.iter().any(|ending| {
        upper.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    });
    // Behind it is a secret, which the user gives.
    let preset = value.split("${input:").next().unwrap_or_default();
    let (scheme, rest) = preset.split_once("://").map_or((false, preset), |(_, rest)| (true, rest));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    ((names_host || scheme) && !host.is_empty()).then(|| host.to_owned())
}

/// Checks an argument that an entry gives to a program.
pub(super) fn check_argument(argument: &str) -> Result<(), String> {
    let Some(option) = argument.strip_prefix('-') else { return Ok(()) };
    let option = option.trim_start_matches('-');
    let name = option.split('=').next().unwrap_or(option).to_ascii_lowercase();
    if OPTIONS.contains(&name.as_str()) {
        return Err(format!(
            "the registry gives the argument `{argument}`, which can change the code that runs; if you want it, add \
             the server by its command: powerstrip add NAME -- COMMAND"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_proxies_and_trust_are_refused() {
        for name in [
            "NODE_OPTIONS",
            "node_options",
            "NODE_PATH",
            "NODE_EXTRA_CA_CERTS",
            "NODE_TLS_REJECT_UNAUTHORIZED",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "Path",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "PIP_INDEX_URL",
            "UV_INDEX_URL",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
            "BASH_FUNC_x",
            "ENV",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "DOTNET_STARTUP_HOOKS",
            "GCONV_PATH",
            "HOME",
            "SHELL",
            "IFS",
            "HTTPS_PROXY",
            "http_proxy",
            "ALL_PROXY",
            "no_proxy",
            "SSL_CERT_FILE",
            "DOCKER_HOST",
            "XDG_CONFIG_HOME",
            "POWERSTRIP_KEY",
            "KUBECONFIG",
            "RUSTC_WRAPPER",
            "CARGO_HOME",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
            "GOPROXY",
            "GOFLAGS",
            "GIT_SSH",
            "MY_PROXY",
            "PUPPETEER_EXECUTABLE_PATH",
            "PLAYWRIGHT_DOWNLOAD_HOST",
            "AWS_CONFIG_FILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "X_ASKPASS",
            "MAKEFLAGS",
        ] {
            assert!(check_name(name).is_err_and(|why| why.contains("-e ")), "{name}");
        }
        for name in ["", "1A", "A-B", "A=B", "A B", "A\n", "\u{410}PI_KEY", "A\0"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in [
            "API_KEY",
            "NODE_ENV",
            "LOG_LEVEL",
            "GITHUB_TOKEN",
            "PATHS",
            "_x1",
            "HOMEPAGE",
            "GOOGLE_API_KEY",
            "OPENAI_BASE_URL",
            "ARTIFACTS",
            "MAKER",
        ] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for argument in ["--registry=x", "--import", "--NODE-OPTIONS", "-privileged", "--eval=1"] {
            assert!(check_argument(argument).is_err(), "{argument}");
        }
        for argument in ["", "-v", "--mode", "registry", "/srv/docs", "-"] {
            assert_eq!(check_argument(argument), Ok(()), "{argument}");
        }
    }
    #[test]
    fn variables_that_name_a_host_are_noticed() {
        for (name, value, host) in [
            ("OPENAI_BASE_URL", "https://api.openai.com@evil.example:8443/v1", "evil.example:8443"),
            ("api_url", "https://x.example", "x.example"),
            ("GH_HOST", "evil.example", "evil.example"),
            ("X_ENDPOINT", "https://x.example/${input:KEY}", "x.example"),
            ("UPSTREAM", "postgres://u@db.example/x", "db.example"),
        ] {
            assert_eq!(points_to(name, value).as_deref(), Some(host), "{name}");
        }
        for (name, value) in
            [("API_URL", "${input:API_URL}"), ("LEVEL", "info"), ("CURL", "x"), ("URLS", "a")]
        {
            assert_eq!(points_to(name, value), None, "{name}");
        }
    }
}
