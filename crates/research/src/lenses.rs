//! The folder of lenses: one file for each.

use std::path::{Path, PathBuf};

use crate::lens::{Lens, LensFault};

/// Larger files are not lenses.
const MAX_BYTES: u64 = 64 << 10;

/// Reads the `*.yaml` and `*.yml` files of a folder, and says which cannot be used. A folder that does not exist has no
/// lenses.
pub fn read_lenses(
    folder: &Path,
    parse: impl Fn(&str) -> Result<Lens, String>,
) -> (Vec<Lens>, Vec<LensFault>) {
    let (mut lenses, mut faults) = (Vec::<Lens>::new(), Vec::new());
    for path in files(folder) {
        let lens = read(&path).and_then(|text| parse(&text)).and_then(Lens::checked);
        let why = match lens {
            Ok(lens) if lenses.iter().any(|known| known.name == lens.name) => {
                format!("there is another lens `{}`", lens.name)
            }
            Ok(lens) => {
                lenses.push(lens);
                continue;
            }
            Err(why) => format!("not a lens: {why}"),
        };
        faults.push(LensFault { path, why });
    }
    (lenses, faults)
}

fn read(path: &Path) -> Result<String, String> {
    userfiles::read_text(path, MAX_BYTES).map_err(|error| error.to_string())
}

/// The YAML files of a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_yaml = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(is_yaml).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::read_lenses;

    #[test]
    fn lenses_are_read_by_name_and_faults_name_their_file() {
        let folder = std::env::temp_dir().join(uuid::Uuid::new_v4().to_string());
        std::fs::create_dir(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("b.yaml", r#"{"name": "rust", "domains": ["doc.rust-lang.org", "docs.rs"]}"#);
        write("a.yml", r#"{"name": "preprints", "domains": ["arxiv.org"], "cx": "abc"}"#);
        write("c.yaml", r#"{"name": "rust", "domains": ["other.example"]}"#);
        write("d.yaml", r#"{"name": "empty"}"#);
        write("e.yaml", r#"{"nome": "x"}"#);
        write("notes.txt", "not a lens");
        let parse = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        let (found, faults) = read_lenses(&folder, parse);
        std::fs::remove_dir_all(&folder).unwrap();
        let names: Vec<_> = found.iter().map(|lens| lens.name.as_str()).collect();
        assert_eq!(names, ["preprints", "rust"]);
        assert_eq!(found[0].cx.as_deref(), Some("abc"));
        assert_eq!(faults.len(), 3, "{faults:?}");
        let shown: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert!(shown[0].contains("c.yaml") && shown[2].contains("e.yaml"), "{shown:?}");
        let message = faults[1].describe_for("D").unwrap();
        assert_eq!(message, "d.yaml: not a lens: needs `domains`, or a Google engine as `cx`");
        assert_eq!(faults[1].describe_for("rust"), None);
        assert_eq!(read_lenses(&folder, parse), (Vec::new(), Vec::new()));
    }
}
