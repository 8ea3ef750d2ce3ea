use super::{code, usual};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn english_comes_first_and_few_languages_are_taken_all() {
    assert_eq!(usual(&names(&["deu", "eng"])), names(&["eng", "deu"]));
    assert_eq!(usual(&names(&["jpn"])), names(&["jpn"]));
}

#[test]
fn of_many_languages_the_common_ones_are_taken() {
    let many = names(&["afr", "ara", "ces", "deu", "eng", "fra", "jpn", "spa", "tha"]);
    assert_eq!(usual(&many), names(&["eng", "deu", "fra", "spa"]));
    assert_eq!(usual(&names(&["afr", "ara", "jpn", "tha", "kor"])), names(&["afr"]));
}

#[test]
fn short_codes_are_understood() {
    assert_eq!(code("de"), "deu");
    assert_eq!(code(" EN"), "eng");
    assert_eq!(code("chi_sim"), "chi_sim");
}
