//! Names of authors as pages write them: `Jane Q. Doe and John Smith`, `Doe, Jane; Smith, John`, `Reuters Staff`.

/// The authors of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names(Vec<Name>);

#[derive(Debug, PartialEq, Eq)]
enum Name {
    Person {
        family: String,
        given: Vec<String>,
        suffix: Option<String>,
    },
    /// An organisation, or a name that has one part only.
    Whole(String),
}

/// Words that organisations have in their names and people do not.
const ORGANISATIONS: [&str; 65] = [
    "academy",
    "agency",
    "alliance",
    "association",
    "authority",
    "board",
    "bureau",
    "campaign",
    "center",
    "centre",
    "co",
    "coalition",
    "college",
    "commission",
    "committee",
    "community",
    "company",
    "consortium",
    "contributors",
    "corp",
    "corporation",
    "council",
    "department",
    "developers",
    "documentation",
    "editorial",
    "editors",
    "federation",
    "for",
    "foundation",
    "gmbh",
    "group",
    "hospital",
    "inc",
    "initiative",
    "institute",
    "lab",
    "laboratory",
    "labs",
    "library",
    "llc",
    "ltd",
    "magazine",
    "ministry",
    "museum",
    "network",
    "news",
    "observatory",
    "of",
    "office",
    "organisation",
    "organization",
    "press",
    "program",
    "programme",
    "project",
    "service",
    "services",
    "society",
    "staff",
    "survey",
    "team",
    "the",
    "union",
    "university",
];

/// Parts that belong to the family name after them.
const PARTICLES: [&str; 18] = [
    "al", "bin", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "la", "le",
    "ten", "ter", "van", "von",
];

const SUFFIXES: [&str; 5] = ["jr", "sr", "ii", "iii", "iv"];

/// Degrees, which citations leave out.
const DEGREES: [&str; 8] = ["phd", "md", "msc", "bsc", "mba", "esq", "dds", "rn"];

impl Names {
    /// The authors of a page of this site. One whose name the site's begins with is an organisation.
    pub(super) fn of_site(text: &str, site: &str) -> Self {
        let author = text.trim();
        let named = !author.is_empty()
            && site.get(..author.len()).is_some_and(|start| start.eq_ignore_ascii_case(author));
        if named { Self(vec![Name::Whole(author.to_owned())]) } else { Self::parse(author) }
    }

    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        let text = match text.get(..3) {
            Some(start) if start.eq_ignore_ascii_case("by ") => &text[3..],
            _ => text,
        };
        let mut names = Vec::new();
        for group in text.split(';') {
            for part in group.split(" and ").flat_map(|part| part.split(" & ")) {
                names.extend(people(part.trim().trim_end_matches(',')));
            }
        }
        names.truncate(100);
        Self(names)
    }

    /// Whether the only author is the one with this name.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(&self.0[..], [Name::Whole(only)] if only.eq_ignore_ascii_case(name))
    }

    /// `Doe, J. Q., & Smith, J.`
    pub(super) fn apa(&self) -> String {
        let names: Vec<String> = self.0.iter().map(Name::apa).collect();
        match &names[..] {
            [] => String::new(),
            [only] => only.clone(),
            [first, second] => format!("{first}, & {second}"),
            [front @ .., last] if names.len() <= 20 => format!("{}, & {last}", front.join(", ")),
            [front @ .., last] => format!("{}, … {last}", front[..19].join(", ")),
        }
    }

    /// `J. Q. Doe and J. Smith`; seven and more are `et al.`
    pub(super) fn numeric(&self) -> String {
        let names: Vec<String> = self.0.iter().map(Name::numeric).collect();
        match &names[..] {
            [] => String::new(),
            [only] => only.clone(),
            [first, second] => format!("{first} and {second}"),
            [front @ .., last] if names.len() <= 6 => format!("{}, and {last}", front.join(", ")),
            [first, ..] => format!("{first} et al."),
        }
    }

    /// `Doe, Jane Q., and John Smith`; three and more are `et al.`
    pub(super) fn mla(&self) -> String {
        match &self.0[..] {
            [] => String::new(),
            [only] => only.inverted(),
            [first, second] => format!("{}, and {}", first.inverted(), second.natural()),
            [first, ..] => format!("{}, et al.", first.inverted()),
        }
    }
}

impl Name {
    fn apa(&self) -> String {
        match self {
            Self::Whole(name) => name.clone(),
            Self::Person { family, given, suffix } => {
                let initials: Vec<String> = given.iter().map(|name| initials(name)).collect();
                let suffix = suffix.as_ref().map(|suffix| format!(", {suffix}"));
                format!("{family}, {}{}", initials.join(" "), suffix.unwrap_or_default())
            }
        }
    }

    fn numeric(&self) -> String {
        match self {
            Self::Whole(name) => name.clone(),
            Self::Person { family, given, suffix } => {
                let initials: Vec<String> = given.iter().map(|name| initials(name)).collect();
                let suffix = suffix.as_ref().map(|suffix| format!(" {suffix}"));
                format!("{} {family}{}", initials.join(" "), suffix.unwrap_or_default())
            }
        }
    }

    fn inverted(&self) -> String {
        match self {
            Self::Whole(name) => name.clone(),
            Self::Person { family, given, suffix } => {
                let suffix = suffix.as_ref().map(|suffix| format!(", {suffix}"));
                format!("{family}, {}{}", given.join(" "), suffix.unwrap_or_default())
            }
        }
    }

    fn natural(&self) -> String {
        match self {
            Self::Whole(name) => name.clone(),
            Self::Person { family, given, suffix } => {
                let suffix = suffix.as_ref().map(|suffix| format!(" {suffix}"));
                format!("{} {family}{}", given.join(" "), suffix.unwrap_or_default())
            }
        }
    }
}

/// The names of a list with commas, or the one name that is written family name first.
fn people(text: &str) -> Vec<Name> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = parts
        .into_iter()
        .map(|part| part.trim_end_matches('.').strip_suffix(" et al").unwrap_or(part))
        // A byline may go on with its date.
        .filter(|part| !DEGREES.contains(&bare(part).as_str()) && !is_date(part))
        .collect();
    let is_suffix = |part: &str| SUFFIXES.contains(&bare(part).as_str());
    match &parts[..] {
        [] => Vec::new(),
        [family, given] if !family.contains(' ') && !is_suffix(given) => {
            vec![person(family, given, None)]
        }
        [family, given, suffix] if !family.contains(' ') && is_suffix(suffix) => {
            vec![person(family, given, Some(suffix))]
        }
        _ => {
            let mut names: Vec<Name> = Vec::new();
            for part in parts {
                match names.last_mut() {
                    Some(Name::Person { suffix, .. }) if is_suffix(part) => {
                        *suffix = Some(part.to_owned());
                    }
                    // `Acme, Inc.` is one company.
                    Some(Name::Whole(name)) if is_organisation(part) && !part.contains(' ') => {
                        name.push_str(", ");
                        name.push_str(part);
                    }
                    _ => names.push(name(part)),
                }
            }
            names
        }
    }
}

/// One name, given name first.
fn name(text: &str) -> Name {
    let words: Vec<&str> = text.split_whitespace().collect();
    let latin = text.chars().any(|c| c.is_ascii_alphabetic());
    let starts = words.first().is_some_and(|word| word.eq_ignore_ascii_case("the"));
    if words.len() < 2 || words.len() > 5 || !latin || starts || is_organisation(text) {
        return Name::Whole(text.to_owned());
    }
    let (words, suffix) = match &words[..] {
        [front @ .., last] if front.len() > 1 && SUFFIXES.contains(&bare(last).as_str()) => {
            (front, Some(*last))
        }
        all => (all, None),
    };
    // `Doe J.` has its family name first.
    let initial = |word: &str| word.chars().count() <= 2 && word.ends_with('.');
    if let [family @ .., given] = words
        && initial(given)
        && !family.iter().any(|word| initial(word))
    {
        return person(&family.join(" "), given, suffix);
    }
    let particle = |word: &&str| PARTICLES.contains(&word.to_lowercase().as_str());
    let family = words.iter().skip(1).position(particle).map_or(words.len() - 1, |at| at + 1);
    person(&words[family..].join(" "), &words[..family].join(" "), suffix)
}

/// `3 May 2021` and `2021`.
fn is_date(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    (4..=8).contains(&digits) && text.split_whitespace().count() <= 3 && text.len() <= 20
}

fn person(family: &str, given: &str, suffix: Option<&str>) -> Name {
    if is_organisation(given) {
        return Name::Whole(format!("{family}, {given}"));
    }
    Name::Person {
        family: family.to_owned(),
        given: given.split_whitespace().map(str::to_owned).collect(),
        suffix: suffix.map(str::to_owned),
    }
}

fn is_organisation(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit() || matches!(c, '@' | '/' | '_'))
        || text.split_whitespace().any(|word| ORGANISATIONS.contains(&bare(word).as_str()))
}

/// A word in lower case without punctuation.
fn bare(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `Jean-Paul` as `J.-P.`
fn initials(name: &str) -> String {
    let parts = name.split('-').filter_map(|part| part.chars().next());
    parts.map(|initial| format!("{}.", initial.to_uppercase())).collect::<Vec<_>>().join("-")
}
