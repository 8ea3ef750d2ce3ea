//! Other names of skills.

/// Other names of skills, in lower case.
const NAMES: [&[&str]; 17] = [
    &["kubernetes", "k8s"],
    &["javascript", "js"],
    &["typescript", "ts"],
    &["postgresql", "postgres"],
    &["aws", "amazon web services"],
    &["gcp", "google cloud"],
    &["ci/cd", "continuous integration"],
    &["Go", "golang"],
    &["node.js", "nodejs"],
    &["react", "reactjs"],
    &["machine learning", "ML"],
    &["seo", "search engine optimisation"],
    &["google ads", "google adwords"],
    &["user experience", "UX"],
    &["excel", "microsoft excel"],
    &["forklift licence", "forklift license"],
    &["customer service", "customer support"],
];

/// Other names of a skill.
pub fn synonyms(skill: &str) -> Vec<&'static str> {
    let skill = skill.to_lowercase();
    let same = NAMES.iter().find(|names| names.iter().any(|name| name.to_lowercase() == skill));
    let names = same.into_iter().flat_map(|names| names.iter().copied());
    names.filter(|name| name.to_lowercase() != skill).collect()
}
