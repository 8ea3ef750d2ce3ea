//! Environment variables and options that make a program run other code, trust other hosts or read other settings. They are
//! not accepted from a registry; the user can set them with `-e` and `--arg`.

/// Beginnings of such variables, in upper case.
const PREFIXES: [&str; 33] = [
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
];

/// Such variables, in upper case.
const NAMES: [&str; 47] = [
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
];

/// Endings of such variables: proxies of any protocol.
const ENDINGS: [&str; 1] = ["_PROXY"];

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
        ] {
            assert!(check_name(name).is_err_and(|why| why.contains("-e ")), "{name}");
        }
        for name in ["", "1A", "A-B", "A=B", "A B", "A\n", "\u{410}PI_KEY", "A\0"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["API_KEY", "NODE_ENV", "LOG_LEVEL", "GITHUB_TOKEN", "PATHS", "_x1", "HOMEPAGE"]
        {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for argument in ["--registry=x", "--import", "--NODE-OPTIONS", "-privileged", "--eval=1"] {
            assert!(check_argument(argument).is_err(), "{argument}");
        }
        for argument in ["", "-v", "--mode", "registry", "/srv/docs", "-"] {
            assert_eq!(check_argument(argument), Ok(()), "{argument}");
        }
    }
}
