//! The lines of a résumé and the sections that they belong to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    Contact,
    Summary,
    Experience,
    Education,
    Skills,
    Projects,
    Certifications,
    Languages,
    Other,
}

/// A line without its markup.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub text: String,
    pub bullet: bool,
    /// Whether Markdown marks the line as a heading.
    pub marked: bool,
    /// Whether a blank line precedes it.
    pub after_blank: bool,
    /// The section, if a heading precedes the line.
    pub section: Option<SectionKind>,
    /// Whether the line is the heading of its section.
    pub heading: bool,
    /// How many characters of markup precede the text.
    pub indent: usize,
    /// The place in the document, in characters.
    pub start: usize,
    pub end: usize,
}

/// Headings by section, in lower case, separated by `|`.
const HEADINGS: [(SectionKind, &str); 9] = [
    (
        SectionKind::Experience,
        "experience|work experience|professional experience|employment|employment history|work history|career history|career|relevant \
         experience|professional background|positions held|work|jobs|career summary|experience and employment|professional history|berufserfahrung|\
         beruflicher werdegang|berufspraxis|werdegang|praxiserfahrung|praktische erfahrung|berufliche erfahrung|berufliche stationen|beruf|\
         erfahrung|berufstätigkeit|expérience|expériences|expérience professionnelle|expériences professionnelles|parcours professionnel|\
         parcours|emplois|emploi|experiencia|experiencia laboral|experiencia profesional|trayectoria|trayectoria profesional|historial \
         laboral|experiencia de trabajo",
    ),
    (
        SectionKind::Education,
        "education|academic background|academic history|academic qualifications|qualifications|education & training|education and \
         training|education and qualifications|training|studies|academics|degrees|schooling|ausbildung|studium|bildung|bildungsweg|\
         schulbildung|akademische ausbildung|akademischer werdegang|hochschulbildung|aus- und weiterbildung|ausbildung und studium|\
         formation|formations|études|diplômes|parcours académique|parcours scolaire|cursus|formation académique|scolarité|formación|\
         formación académica|educación|estudios|titulación|datos académicos",
    ),
    (
        SectionKind::Skills,
        "skills|core competencies|core skills|technical skills|key skills|competencies|areas of expertise|expertise|technologies|tools|tech \
         stack|strengths|skill set|skillset|proficiencies|professional skills|skills & tools|skills and tools|hard skills|it skills|\
         technical expertise|abilities|capabilities|what i know|toolbox|kenntnisse|fähigkeiten|kompetenzen|fachkenntnisse|edv-kenntnisse|\
         it-kenntnisse|stärken|qualifikationen|kenntnisse und fähigkeiten|kernkompetenzen|besondere kenntnisse|fachkompetenzen|\
         compétences|compétences techniques|compétences clés|savoir-faire|atouts|compétences professionnelles|habilidades|competencias|\
         conocimientos|aptitudes|habilidades técnicas|competencias clave|destrezas|conocimientos técnicos",
    ),
    (
        SectionKind::Summary,
        "profile|summary|about me|about|objective|professional summary|professional profile|personal statement|personal profile|career \
         objective|introduction|executive summary|profil|über mich|zusammenfassung|kurzprofil|ziel|persönliches profil|à propos|à propos de \
         moi|résumé|objectif|profil professionnel|perfil|sobre mí|resumen|objetivo|perfil profesional|extracto|acerca de mí",
    ),
    (
        SectionKind::Contact,
        "contact|contact me|get in touch|contact details|contact information|personal details|personal information|details|kontakt|\
         kontaktdaten|persönliche daten|persönliche angaben|coordonnées|contacto|datos personales|informations personnelles|\
         reach me|datos de contacto|informations",
    ),
    (
        SectionKind::Projects,
        "projects|personal projects|key projects|selected projects|side projects|projekte|projets|proyectos",
    ),
    (
        SectionKind::Certifications,
        "certifications|certificates|licenses|licences|certifications and licenses|courses|zertifikate|weiterbildung|weiterbildungen|\
         zertifizierungen|certificats|certificaciones|certificados|cursos",
    ),
    (
        SectionKind::Languages,
        "languages|language skills|sprachen|sprachkenntnisse|langues|idiomas|lenguas",
    ),
    (
        SectionKind::Other,
        "interests|hobbies|hobbies and interests|references|publications|awards|honors|honours|volunteering|volunteer work|volunteer \
         experience|activities|achievements|memberships|patents|interessen|referenzen|publikationen|auszeichnungen|ehrenamt|\
         engagement|centres d'intérêt|loisirs|références|publications|bénévolat|intereses|aficiones|referencias|publicaciones|premios|\
         voluntariado|miscellaneous|sonstiges|divers|otros",
    ),
];

/// Reads the lines of a document; blank lines and rules are left out.
pub(super) fn read(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut section, mut start, mut after_blank) = (None, 0, true);
    for raw in text.split('\n') {
        let end = start + raw.chars().count();
        let stripped = strip(raw);
        if stripped.text.is_empty() {
            after_blank = true;
        } else {
            let kind = if stripped.bullet { None } else { heading(&stripped) };
            let heading = kind.is_some();
            section = kind.or(section);
            lines.push(Line { section, heading, start, end, after_blank, ..stripped });
            after_blank = false;
        }
        start = end + 1;
    }
    lines
}

fn strip(raw: &str) -> Line {
    let text = raw
        .replace(['\u{a0}', '\u{202f}', '\u{2009}'], " ")
        .replace("**", "")
        .replace("__", "")
        .replace('\r', "");
    let text = text.trim();
    let unhashed = text.trim_start_matches('#');
    let marked = unhashed.len() < text.len() && unhashed.starts_with(' ');
    let text = if marked { unhashed.trim() } else { text };
    let signs = ['•', '·', '◦', '▪', '‣', '●', '○', '■', '✓', '✔', '➢', '➤', '►', '\u{f0b7}'];
    let rest = text
        .strip_prefix(signs)
        .or_else(|| ["- ", "* ", "+ ", "– ", "o "].iter().find_map(|sign| text.strip_prefix(sign)));
    let bullet = rest.is_some();
    let text =
        rest.unwrap_or(text).trim().replace(" _", " ").trim_matches(['_', '\\']).trim().to_owned();
    // A row of a Markdown table.
    let text = if text.starts_with('|') { text.trim_matches('|').trim().to_owned() } else { text };
    let text = if text.contains(char::is_alphanumeric) { text } else { String::new() };
    let first = text.split_whitespace().next().unwrap_or("");
    let indent = raw.find(first).map_or(0, |at| raw[..at].chars().count());
    Line {
        text,
        bullet,
        marked,
        after_blank: false,
        section: None,
        heading: false,
        indent,
        start: 0,
        end: 0,
    }
}

/// The section that a line is the heading of.
fn heading(line: &Line) -> Option<SectionKind> {
    let text = line.text.trim_end_matches([':', '.', ' ']).to_lowercase().replace('’', "'");
    let words = text.split_whitespace().count();
    if words > 5 || text.contains(|sign: char| sign.is_ascii_digit() || sign == '@') {
        return None;
    }
    let has = |names: &str, test: &dyn Fn(&str) -> bool| names.split('|').any(test);
    if let Some((kind, _)) = HEADINGS.iter().find(|(_, names)| has(names, &|name| name == text)) {
        return Some(*kind);
    }
    // A longer heading has to look like one: "Selected work experience".
    let upper = line.text.contains(char::is_uppercase) && !line.text.contains(char::is_lowercase);
    if !line.marked && !upper && !line.text.ends_with(':')
        || crate::jobs::header::names_role(&line.text)
    {
        return None;
    }
    let within = |name: &str| {
        name.len() > 4
            && text.match_indices(name).any(|(at, _)| {
                let inside = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
                !inside(text[..at].chars().next_back())
                    && !inside(text[at + name.len()..].chars().next())
            })
    };
    HEADINGS.iter().find(|(_, names)| has(names, &within)).map(|(kind, _)| *kind)
}
