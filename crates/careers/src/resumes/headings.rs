//! Headings of sections in English, German, French, Spanish, Portuguese and Italian.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::dates::fold;
use super::section_kind::SectionKind;

/// Headings by section, in lower case, separated by `|`.
const HEADINGS: [(SectionKind, &str); 9] = [
    (
        SectionKind::Experience,
        "experience|work experience|professional experience|employment|employment history|work history|career history|career|relevant \
         experience|professional background|positions held|work|jobs|career summary|experience and employment|professional history|\
         employment record|employment experience|industry experience|internships|internship experience|teaching experience|research \
         experience|clinical experience|military service|military experience|freelance experience|freelance work|academic appointments|\
         appointments|academic positions|academic experience|professional appointments|where i've worked|job history|\
         berufserfahrung|berufserfahrungen|\
         beruflicher werdegang|berufspraxis|werdegang|praxiserfahrung|praktische erfahrung|berufliche erfahrung|berufliche stationen|beruf|\
         erfahrung|berufstätigkeit|berufliche laufbahn|berufliche tätigkeiten|berufliche tätigkeit|beruflicher hintergrund|praktika|\
         praktische erfahrungen|arbeitserfahrung|laufbahn|tätigkeiten|\
         expérience|expériences|expérience professionnelle|expériences professionnelles|parcours professionnel|\
         parcours|emplois|emploi|stages|stages et emplois|expérience de travail|carrière|\
         experiencia|experiencia laboral|experiencia profesional|trayectoria|trayectoria profesional|historial \
         laboral|historia laboral|experiencia de trabajo|prácticas|vida laboral|\
         experiência|experiências|experiência profissional|experiências profissionais|histórico profissional|percurso profissional|\
         trajetória profissional|atividade profissional|experiência de trabalho|\
         esperienza|esperienze|esperienza lavorativa|esperienze lavorative|esperienza professionale|esperienze professionali|percorso \
         professionale",
    ),
    (
        SectionKind::Education,
        "education|academic background|academic history|academic qualifications|qualifications|education & training|education and \
         training|education and qualifications|training|studies|academics|degrees|schooling|school|schools|educational background|educational \
         qualifications|education history|educational history|academic education|academic training|formal education|\
         ausbildung|studium|bildung|bildungsweg|\
         schulbildung|akademische ausbildung|akademischer werdegang|hochschulbildung|aus- und weiterbildung|ausbildung und studium|\
         schule|schulische ausbildung|schulischer werdegang|berufsausbildung|schule und studium|\
         formation|formations|études|diplômes|parcours académique|parcours scolaire|cursus|formation académique|scolarité|formation \
         initiale|formation et diplômes|diplômes et formations|cursus scolaire|cursus universitaire|parcours universitaire|\
         formación|formación académica|educación|estudios|titulación|datos académicos|formación y estudios|estudios realizados|\
         formação|formação académica|formação acadêmica|educação|escolaridade|habilitações|habilitações literárias|habilitações \
         académicas|estudos|percurso académico|\
         istruzione|istruzione e formazione|formazione|titoli di studio|studi",
    ),
    (
        SectionKind::Skills,
        "skills|core competencies|core skills|technical skills|key skills|competencies|areas of expertise|expertise|technologies|tools|tech \
         stack|strengths|skill set|skillset|proficiencies|professional skills|skills & tools|skills and tools|hard skills|it skills|\
         technical expertise|abilities|capabilities|what i know|toolbox|computer skills|software skills|software|skills summary|technical \
         proficiencies|technical summary|programming languages|digital skills|soft skills|core strengths|competences|key competencies|\
         tools i know|skills profile|technical competencies|\
         kenntnisse|fähigkeiten|kompetenzen|fachkenntnisse|edv-kenntnisse|\
         it-kenntnisse|stärken|qualifikationen|kenntnisse und fähigkeiten|kernkompetenzen|besondere kenntnisse|fachkompetenzen|\
         edv|it-skills|technische kenntnisse|technische fähigkeiten|computerkenntnisse|edv kenntnisse|it kenntnisse|it-kompetenzen|\
         fachliche kenntnisse|zusatzqualifikationen|weitere kenntnisse|\
         compétences|compétences techniques|compétences clés|savoir-faire|atouts|compétences professionnelles|compétences \
         informatiques|informatique|connaissances|logiciels|outils|savoir-être|qualités|\
         habilidades|competencias|\
         conocimientos|aptitudes|habilidades técnicas|competencias clave|destrezas|conocimientos técnicos|informática|conocimientos \
         informáticos|competencias técnicas|competencias digitales|herramientas|\
         competências|competências técnicas|conhecimentos|conhecimentos técnicos|aptidões|informática|competências digitais|\
         conhecimentos informáticos|ferramentas|habilidades e competências|\
         competenze|competenze tecniche|competenze informatiche|capacità e competenze|conoscenze informatiche|abilità",
    ),
    (
        SectionKind::Summary,
        "profile|summary|about me|about|objective|professional summary|professional profile|personal statement|personal profile|career \
         objective|introduction|executive summary|summary of qualifications|highlights|career highlights|career profile|who i am|\
         qualifications summary|career goal|bio|biography|\
         profil|über mich|zusammenfassung|kurzprofil|ziel|persönliches profil|zielsetzung|berufsziel|\
         à propos|à propos de \
         moi|résumé|objectif|profil professionnel|projet professionnel|\
         perfil|sobre mí|resumen|objetivo|perfil profesional|extracto|acerca de mí|sobre mi|resumen profesional|objetivo profesional|\
         resumo|sobre mim|perfil profissional|objetivo profissional|resumo profissional|apresentação|\
         profilo|profilo professionale|sommario|chi sono|obiettivo|obiettivo professionale",
    ),
    (
        SectionKind::Contact,
        "contact|contact me|get in touch|contact details|contact information|personal details|personal information|details|contact info|\
         personal data|personal|personal info|contacts|bio data|biodata|kontakt|\
         kontaktdaten|persönliche daten|persönliche angaben|angaben zur person|persönliches|zur person|kontaktinformationen|personalien|\
         coordonnées|contacto|datos personales|informations personnelles|état civil|données personnelles|mes coordonnées|\
         reach me|datos de contacto|informations|información personal|información de contacto|\
         contato|contatos|dados pessoais|dados de contato|informação pessoal|informações pessoais|contactos|informações de contato|\
         contatti|dati personali|informazioni personali|recapiti",
    ),
    (
        SectionKind::Projects,
        "projects|personal projects|key projects|selected projects|side projects|academic projects|project experience|open source|open source \
         projects|open source contributions|portfolio|projekte|projekterfahrung|projets|projets personnels|proyectos|projetos|progetti",
    ),
    (
        SectionKind::Certifications,
        "certifications|certificates|licenses|licences|certifications and licenses|courses|certification|license|professional \
         certifications|professional development|continuing education|online courses|accreditations|licensure|\
         zertifikate|weiterbildung|weiterbildungen|\
         zertifizierungen|fortbildungen|fortbildung|kurse|seminare|certificats|formations complémentaires|formation continue|habilitations|\
         certificaciones|certificados|cursos|formación complementaria|cursos y certificaciones|\
         certificações|cursos e certificações|formação complementar|cursos complementares|certificazioni|corsi|certificati",
    ),
    (
        SectionKind::Languages,
        "languages|language skills|language|spoken languages|language proficiency|sprachen|sprachkenntnisse|fremdsprachen|langues|langues \
         étrangères|compétences linguistiques|idiomas|lenguas|línguas|lingue|lingue straniere|conoscenze linguistiche|competenze linguistiche",
    ),
    (
        SectionKind::Other,
        "interests|hobbies|hobbies and interests|references|publications|awards|honors|honours|volunteering|volunteer work|volunteer \
         experience|activities|achievements|memberships|patents|accomplishments|referees|affiliations|professional affiliations|professional \
         memberships|extracurricular activities|extra-curricular activities|extracurriculars|community service|community involvement|\
         community work|community|leadership|leadership experience|voluntary work|voluntary experience|volunteer|grants|fellowships|\
         scholarships|funding|talks|presentations|conferences|conference presentations|invited talks|coursework|relevant coursework|\
         teaching|research|research interests|service|academic service|professional service|additional information|additional|other|\
         other information|supervision|exhibitions|press|media|testimonials|declaration|availability|hobbies & interests|personal \
         interests|books|articles|journal articles|professional associations|associations|key achievements|selected achievements|\
         driving licence|driving license|military|\
         interessen|referenzen|publikationen|auszeichnungen|ehrenamt|\
         engagement|ehrenamtliches engagement|ehrenamtliche tätigkeiten|soziales engagement|hobbys|preise|veröffentlichungen|vorträge|\
         mitgliedschaften|freizeit|interessen und hobbys|wehrdienst|zivildienst|wehr- und zivildienst|stipendien|führerschein|\
         centres d'intérêt|centre d'intérêt|loisirs|références|publications|bénévolat|engagements|vie associative|activités|intérêts|\
         distinctions|prix|récompenses|permis|passions|\
         intereses|aficiones|referencias|publicaciones|premios|reconocimientos|otros datos|otros datos de interés|datos de interés|\
         información adicional|logros|actividades|\
         voluntariado|miscellaneous|sonstiges|divers|otros|\
         interesses|referências|publicações|prémios|prêmios|passatempos|outras informações|atividades|informações adicionais|reconhecimentos|\
         interessi|hobby|referenze|pubblicazioni|premi|volontariato|riconoscimenti|altre informazioni|attività",
    ),
];

/// Words that may stand before or after the name of a section.
const MODIFIERS: &str = "relevant|selected|other|additional|further|previous|recent|key|core|main|professional|personal|technical|academic|my|\
    notable|related|general|current|prior|weitere|ausgewählte|sonstige|relevante|meine|wichtige|fachliche|berufliche|autres|principales|\
    principaux|mes|quelques|otros|otras|principais|mis|outras|outros|minhas|meus|history|overview|details|summary|record|auszug";

/// The sections by their headings, without accents.
static KINDS: LazyLock<HashMap<String, SectionKind>> = LazyLock::new(|| {
    let mut kinds = HashMap::new();
    for (kind, names) in HEADINGS {
        for name in names.split('|') {
            kinds.entry(fold(name)).or_insert(kind);
        }
    }
    // Without accents it is the name of the document.
    kinds.remove("resume");
    kinds
});

static MODIFIER_SET: LazyLock<HashSet<String>> =
    LazyLock::new(|| MODIFIERS.split('|').map(fold).collect());

/// The longest heading, in words.
const MAX_WORDS: usize = 6;

/// The section that a text names.
pub(super) fn kind_of(text: &str) -> Option<SectionKind> {
    let lower = text.trim().to_lowercase().replace('’', "'");
    if lower == "résumé" {
        return Some(SectionKind::Summary);
    }
    let name = plain(&lower)?;
    if let Some(kind) = KINDS.get(&name) {
        return Some(*kind);
    }
    compound(&name).or_else(|| modified(&name))
}

/// A text as headings are compared: without signs and numbers around it, brackets at its end, and accents.
fn plain(text: &str) -> Option<String> {
    let text = text.split(['(', '[']).next().filter(|text| text.len() > 3).unwrap_or(text);
    let text = text.trim_start_matches(|sign: char| !sign.is_alphabetic());
    let text = ["i. ", "ii. ", "iii. ", "iv. ", "v. ", "vi. ", "vii. ", "viii. "]
        .iter()
        .find_map(|number| text.strip_prefix(number))
        .unwrap_or(text);
    let text = text.trim_end_matches(|sign: char| !sign.is_alphabetic());
    let words: Vec<&str> = text.split_whitespace().collect();
    let fits = (1..=MAX_WORDS).contains(&words.len())
        && !text.contains(|sign: char| sign.is_ascii_digit() || sign == '@');
    fits.then(|| fold(&words.join(" ")))
}

/// "Awards & publications": every part is a heading.
fn compound(name: &str) -> Option<SectionKind> {
    let mut parts = vec![name];
    for sign in [" & ", " and ", " und ", " et ", " y ", " e ", " / ", "/", ", ", " + ", " | "] {
        parts = parts.into_iter().flat_map(|part| part.split(sign)).collect();
    }
    if parts.len() < 2 {
        return None;
    }
    let kinds: Option<Vec<SectionKind>> = parts
        .iter()
        .map(|part| KINDS.get(part.trim()).copied().or_else(|| modified(part.trim())))
        .collect();
    let kinds = kinds?;
    let named = |kind: SectionKind| kinds.contains(&kind).then_some(kind);
    named(SectionKind::Experience)
        .or_else(|| kinds.iter().copied().find(|kind| *kind != SectionKind::Other))
        .or(Some(SectionKind::Other))
}

/// "Selected publications".
fn modified(name: &str) -> Option<SectionKind> {
    let is_modifier = |word: &str| MODIFIER_SET.contains(word);
    let mut words: Vec<&str> = name.split_whitespace().collect();
    while words.len() > 1 && is_modifier(words[0]) {
        words.remove(0);
        if let Some(kind) = KINDS.get(&words.join(" ")) {
            return Some(*kind);
        }
    }
    while words.len() > 1 && words.last().is_some_and(|word| is_modifier(word)) {
        words.pop();
        if let Some(kind) = KINDS.get(&words.join(" ")) {
            return Some(*kind);
        }
    }
    None
}

/// The section whose name is a part of a text that looks like a heading.
pub(super) fn kind_within(text: &str) -> Option<SectionKind> {
    let text = plain(&text.to_lowercase().replace('’', "'"))?;
    let inside = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
    let within = |name: &str| {
        name.len() > 4
            && text.match_indices(name).any(|(at, _)| {
                !inside(text[..at].chars().next_back())
                    && !inside(text[at + name.len()..].chars().next())
            })
    };
    let found = KINDS.iter().filter(|(name, _)| within(name));
    // The longest name says most: "volunteer experience" is no experience.
    found.max_by_key(|(name, _)| (name.len(), *name)).map(|(_, kind)| *kind)
}

/// Joins characters that are spaced out: "S K I L L S", with wider gaps between words.
pub(super) fn join_spaced(text: &str) -> Option<String> {
    let single = text.split_whitespace().filter(|part| part.chars().count() == 1).count();
    let parts = text.split_whitespace().count();
    let upper = !text.contains(char::is_lowercase);
    if single < 4 || single != parts || !upper || text.contains(|sign: char| sign.is_numeric()) {
        return None;
    }
    let wide = text.replace('\t', "  ");
    let words = wide.split("  ").filter(|word| !word.trim().is_empty());
    let words: Vec<String> = words.map(|word| word.split_whitespace().collect()).collect();
    let joined = words.join(" ");
    // The gaps between words are often lost.
    let whole = fold(&joined.replace(' ', ""));
    let known = KINDS.keys().find(|name| name.contains(' ') && name.replace(' ', "") == whole);
    Some(known.map_or(joined, |name| name.to_uppercase()))
}

/// Names of languages that people speak, in the languages of résumés, without accents.
const SPOKEN: &str = "english|german|french|spanish|portuguese|italian|dutch|polish|russian|chinese|mandarin|cantonese|japanese|korean|arabic|\
    turkish|hindi|swedish|danish|norwegian|finnish|greek|czech|hungarian|romanian|ukrainian|hebrew|urdu|bengali|tamil|vietnamese|thai|\
    swahili|catalan|englisch|deutsch|franzosisch|spanisch|portugiesisch|italienisch|polnisch|russisch|turkisch|arabisch|chinesisch|anglais|\
    allemand|francais|espagnol|portugais|italien|neerlandais|russe|arabe|chinois|ingles|aleman|frances|espanol|portugues|italiano|ruso|\
    chino|alemao|espanhol|russo|inglese|tedesco|francese|spagnolo";

/// Whether a text names a language that people speak.
pub(super) fn names_spoken_language(text: &str) -> bool {
    let text = fold(text);
    text.split(|sign: char| !sign.is_alphabetic())
        .any(|word| SPOKEN.split('|').any(|spoken| spoken == word))
}
