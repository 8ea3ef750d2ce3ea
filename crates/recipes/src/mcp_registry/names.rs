//! Names and versions, by the grammar of the registry that they belong to. Whatever a package manager would take for a
//! URL, a path, an alias or an option does not match.

use super::address;

/// The longest name of a package or server.
const MAX_NAME: usize = 214;

/// The longest version or tag.
const MAX_VERSION: usize = 128;

/// Endings that package managers take for files.
const FILE_ENDINGS: [&str; 9] =
    [".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".zip", ".whl", ".py", ".git"];

/// The name of a server in a registry: `io.github.user/server`.
pub(super) fn check_server(name: &str) -> Result<(), String> {
    let mut parts = name.split('/');
    let fits = |part: Option<&str>, more: &str| {
        part.is_none_or(|part| !part.is_empty() && has_only(part, more))
    };
    let valid = fits(parts.next(), ".-") && fits(parts.next(), "._-") && parts.next().is_none();
    if valid && name.len() <= MAX_NAME { Ok(()) } else { Err(invalid("name of a server", name)) }
}

/// A package of npm: `name@version`.
pub(super) fn npm(name: &str, version: &str) -> Result<String, String> {
    let bare = match name.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
        None => Some(name),
        Some(Some((scope, bare))) if is_npm_part(scope) => Some(bare),
        Some(_) => None,
    };
    if !bare.is_some_and(is_npm_part) || name.len() > MAX_NAME || is_file(name) {
        return Err(invalid("name of an npm package", name));
    }
    if version.is_empty() {
        return Ok(name.to_owned());
    }
    if !is_version(version, "") {
        return Err(invalid("version of an npm package", version));
    }
    Ok(format!("{name}@{version}"))
}

/// A package of PyPI: `name==version`.
pub(super) fn pypi(name: &str, version: &str) -> Result<String, String> {
    let ends = |end: Option<char>| end.is_some_and(|c| c.is_ascii_alphanumeric());
    let valid =
        ends(name.chars().next()) && ends(name.chars().next_back()) && has_only(name, "._-");
    if !valid || name.len() > MAX_NAME || is_file(name) {
        return Err(invalid("name of a PyPI package", name));
    }
    if version.is_empty() {
        return Ok(name.to_owned());
    }
    if !is_version(version, "!") {
        return Err(invalid("version of a PyPI package", version));
    }
    Ok(format!("{name}=={version}"))
}

/// A container image: `host/path:tag@digest`. A version is its tag if it has none.
pub(super) fn oci(image: &str, version: &str, allow_private: bool) -> Result<String, String> {
    let refused = || invalid("name of a container image", image);
    let (rest, digest) = match image.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (image, None),
    };
    let is_hex = |digest: &str| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
    if digest.is_some_and(|digest| !digest.strip_prefix("sha256:").is_some_and(is_hex)) {
        return Err(refused());
    }
    let last = rest.rfind('/').map_or(0, |slash| slash + 1);
    let (name, tag) = match rest[last..].split_once(':') {
        Some((_, tag)) => (&rest[..rest.len() - tag.len() - 1], Some(tag)),
        None => (rest, None),
    };
    let is_host = |part: &str| part.contains(['.', ':']) || part == "localhost";
    let path = match name.split_once('/') {
        Some((host, path)) if is_host(host) => {
            let (name, port) = host.split_once(':').unwrap_or((host, "443"));
            if !has_only(name, ".-") || port.parse::<u16>().is_err() {
                return Err(refused());
            }
            address::check(&format!("https://{host}/"), allow_private)?;
            path
        }
        _ => name,
    };
    let valid = path.split('/').all(is_image_part) && tag.is_none_or(is_tag);
    if !valid || image.len() > 2 * MAX_NAME {
        return Err(refused());
    }
    match version {
        "" => Ok(image.to_owned()),
        _ if tag.is_some() || digest.is_some() => Ok(image.to_owned()),
        version if is_tag(version) => Ok(format!("{image}:{version}")),
        version => Err(invalid("tag of a container image", version)),
    }
}

fn is_npm_part(part: &str) -> bool {
    let begins = part.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins && has_only(part, "._~-")
}

fn is_version(version: &str, more: &str) -> bool {
    let begins = version.starts_with(|c: char| c.is_ascii_alphanumeric());
    let fits = |c: char| c.is_ascii_alphanumeric() || ".+_-".contains(c) || more.contains(c);
    begins && version.len() <= MAX_VERSION && version.chars().all(fits) && !is_file(version)
}

/// Lower-case words with single separators, `__` or dashes between them.
fn is_image_part(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let words: Vec<_> = part.split(is_word).filter(|between| !between.is_empty()).collect();
    let separates =
        |text: &&str| matches!(*text, "." | "_" | "__") || text.bytes().all(|b| b == b'-');
    part.starts_with(is_word) && part.ends_with(is_word) && words.iter().all(separates)
}

fn is_tag(tag: &str) -> bool {
    let begins = tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    begins && tag.len() <= MAX_VERSION && has_only(tag, "_.-")
}

fn has_only(text: &str, more: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

fn is_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn invalid(what: &str, text: &str) -> String {
    format!("`{}` is not the {what}: the entry of the registry is refused", escaped(text))
}

/// A text with all characters escaped that could be mistaken for others.
fn escaped(text: &str) -> String {
    text.chars().take(MAX_NAME).flat_map(char::escape_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        for name in ["x", "io.github.user/weather", "com.example/my_server.v2"] {
            assert_eq!(check_server(name), Ok(()), "{name}");
        }
        for name in ["", "a/b/c", "io.g\u{456}thub/x", "a b", "a/", "/a", "a/b}${X"] {
            assert!(check_server(name).is_err(), "{name}");
        }
    }

    #[test]
    fn npm_packages() {
        for (name, version, spec) in [
            ("storms", "", "storms"),
            ("@x/storms", "1.0.0", "@x/storms@1.0.0"),
            ("a.b_c-d", "1.0.0-beta.1+x", "a.b_c-d@1.0.0-beta.1+x"),
            ("JSONStream", "latest", "JSONStream@latest"),
        ] {
            assert_eq!(npm(name, version).as_deref(), Ok(spec));
        }
        for name in [
            "",
            "-y",
            ".hidden",
            "user/repo",
            "./x",
            "../x",
            "/etc/x",
            "@x",
            "@x/",
            "@/x",
            "@x/y/z",
            "x@npm:y",
            "npm:y",
            "git+https://x.example/y",
            "github:x/y",
            "https://x.example/y.tgz",
            "y.tgz",
            "file:y",
            "st\u{43e}rms",
            "a b",
            "x\u{202e}y",
            "~x",
        ] {
            assert!(npm(name, "").is_err(), "{name}");
        }
        for version in [
            "npm:other@1",
            "https://x.example/y",
            "git+ssh://x",
            "file:../x",
            "../x",
            "x/y",
            "1.tgz",
            "^1",
            "1 || 2",
            "-1",
            "1.\u{661}",
        ] {
            assert!(npm("x", version).is_err(), "{version}");
        }
    }

    #[test]
    fn pypi_packages() {
        assert_eq!(pypi("My.Pkg_x", "1!2.0.post1").as_deref(), Ok("My.Pkg_x==1!2.0.post1"));
        assert_eq!(pypi("x", "").as_deref(), Ok("x"));
        let refused = [
            "",
            "-x",
            "x-",
            "x[y]",
            "x @ https://y",
            "x;y",
            "./x",
            "x.whl",
            "p\u{443}x",
            "git+x",
            "x==1",
        ];
        for name in refused {
            assert!(pypi(name, "").is_err(), "{name}");
        }
        for version in ["1.*", ">=1", "1; x", "1,2", " 1"] {
            assert!(pypi("x", version).is_err(), "{version}");
        }
    }

    #[test]
    fn container_images() {
        let digest = format!("x@sha256:{}", "a1".repeat(32));
        for (image, version, reference) in [
            ("ghcr.io/a/x", "2", "ghcr.io/a/x:2"),
            ("ghcr.io/a/x:1", "2", "ghcr.io/a/x:1"),
            ("r.example:5000/a/x", "2", "r.example:5000/a/x:2"),
            ("a/x__y-z.w", "", "a/x__y-z.w"),
            (&digest, "2", &digest),
        ] {
            assert_eq!(oci(image, version, false).as_deref(), Ok(reference));
        }
        for image in [
            "",
            "-v",
            "A/x",
            "a//x",
            "a/x:",
            "x:y:z",
            "x@sha256:1",
            "x@md5:1",
            "../x",
            "/x",
            "https://x/y",
            "x y",
            "a/\u{445}",
            "x___y",
            "x.",
            "r.example:99999/x",
            "--privileged",
        ] {
            assert!(oci(image, "", false).is_err(), "{image}");
        }
        assert!(oci("x", "1 --privileged", false).is_err());
        for image in ["localhost/x", "127.0.0.1:5000/x", "10.0.0.1/x"] {
            assert!(oci(image, "", false).is_err(), "{image}");
            assert!(oci(image, "", true).is_ok(), "{image}");
        }
    }
}
