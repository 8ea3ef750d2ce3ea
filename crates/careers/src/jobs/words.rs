//! Words that name the fields and sections of a job description, in English, German, French and Spanish.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::index::PhraseIndex;
use super::labels;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Company,
    Location,
    Mode,
    Pay,
    Years,
    Must,
    Nice,
    Level,
    Contract,
    Responsibilities,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    None,
    Must,
    Nice,
    Responsibilities,
    /// Benefits, the company, how to apply.
    Other,
}

/// Keys of `key: value` lines, separated by `|`.
const FIELDS: [(Field, &str); 11] = [
    (
        Field::Title,
        "position|job title|title|role|job|vacancy|opening|open position|hiring|now hiring|we are hiring|we're hiring|job \
         opening|stelle|jobtitel|stellenbezeichnung|stellentitel|stellenangebot|stellenanzeige|jobangebot|gesucht|wir suchen|poste|intitulé du poste|\
         intitulé|offre d'emploi|poste à pourvoir|puesto|cargo|título del puesto|vacante|oferta de empleo|puesto de trabajo",
    ),
    (
        Field::Company,
        "employer|company|company name|organisation|organization|hiring company|firm|client|firma|unternehmen|arbeitgeber|\
         entreprise|employeur|société|empresa|empleador|compañía",
    ),
    (
        Field::Location,
        "location|job location|place|place of work|city|where|office|office location|workplace|work location|based in|town|\
         ort|standort|arbeitsort|einsatzort|dienstort|lieu|lieu de travail|localisation|ville|localité|ubicación|lugar|lugar \
         de trabajo|ciudad|localidad|📍",
    ),
    (
        Field::Mode,
        "remote job|remote work|telework|telework eligible|mobiles arbeiten|working model|work model|work mode|working mode|workplace type|remote|mode|arrangement|work arrangement|working \
         arrangement|work style|work setting|attendance|work type|presence|arbeitsmodell|arbeitsweise|arbeitsform|homeoffice|\
         home office|home-office|mode de travail|télétravail|modalidad|modalidad de trabajo|teletrabajo|remote policy|model",
    ),
    (
        Field::Pay,
        "salary|pay|compensation|salary range|rate|remuneration|wage|wages|package|pay range|pay rate|day rate|daily rate|\
         hourly rate|hourly pay|annual salary|base salary|base pay|pay scale|earnings|what we pay|gehalt|vergütung|lohn|\
         jahresgehalt|gehaltsspanne|entlohnung|bezahlung|stundenlohn|tagessatz|monatsgehalt|verdienst|salaire|rémunération|\
         salaire annuel|tjm|salario|sueldo|retribución|remuneración|banda salarial|salario bruto|sueldo bruto",
    ),
    (
        Field::Years,
        "experience|experience required|required experience|years of experience|years|work experience|min. experience|minimum \
         experience|professional experience|experience level|berufserfahrung|erfahrung|berufsjahre|expérience|expérience \
         requise|experiencia|experiencia requerida|experiencia mínima|años de experiencia",
    ),
    (
        Field::Must,
        "essential|essentials|requirements|required|must have|must haves|must-have|must-haves|required skills|key skills|skills|\
         skills required|you need|what you need|essential skills|essential criteria|mandatory|mandatory skills|core skills|\
         minimum requirements|qualifications|needed|non-negotiable|what we expect|we require|anforderungen|voraussetzungen|\
         zwingend|zwingend erforderlich|erforderlich|muss|pflicht|kenntnisse|ihr profil|dein profil|compétences requises|requis|\
         indispensable|compétences|exigences|obligatoire|profil recherché|prérequis|requisitos|imprescindible|obligatorio|\
         necesario|requisitos mínimos|conocimientos|conocimientos necesarios|estudios mínimos|education required|required education|\
         minimum education|se requiere",
    ),
    (
        Field::Nice,
        "desirable|desired|desirable skills|desirable criteria|nice to have|nice to haves|nice-to-have|nice-to-haves|preferred|\
         preferred skills|bonus|bonus points|bonus skills|good to have|a plus|plus|pluses|optional|advantageous|would be nice|\
         extra credit|ideally|added bonus|beneficial|wünschenswert|von vorteil|kann|vorteilhaft|optional|pluspunkte|idealerweise|\
         souhaité|souhaités|souhaitable|atout|atouts|un plus|les plus|apprécié|compétences appréciées|deseable|deseables|se \
         valora|se valorará|valorable|opcional|deseado|deseados|puntos extra",
    ),
    (
        Field::Level,
        "level|seniority|seniority level|career level|job level|grade|erfahrungslevel|karrierestufe|karrierelevel|niveau|nivel|\
         niveau d'expérience|nivel de experiencia",
    ),
    (
        Field::Contract,
        "contract|contract type|employment type|type of contract|type|job type|employment|working time|working hours|hours|terms|\
         vertragsart|anstellungsart|beschäftigungsart|vertrag|arbeitszeit|umfang|anstellung|type de contrat|contrat|temps de \
         travail|tipo de contrato|contrato|jornada",
    ),
    (
        Field::Responsibilities,
        "responsibilities|duties|tasks|your tasks|key responsibilities|main duties|aufgaben|ihre aufgaben|deine aufgaben|missions|\
         vos missions|tâches|funciones|tareas|responsabilidades",
    ),
];

/// Phrases of headings; a heading has to contain one. The first section that has one counts.
const SECTIONS: [(Section, &str); 4] = [
    (
        Section::Nice,
        "nice to have|nice-to-have|nice to haves|good to have|bonus|bonus points|a plus|pluses|big plus|desirable|desired|preferred|\
         preferably|optional|advantage|advantageous|extra points|extra credit|brownie points|would be great|great if|would be nice|we'd love|\
         even better|not required|beneficial|ideally|helps if|wünschenswert|von vorteil|vorteilhaft|pluspunkte|idealerweise|\
         bonuspunkte|das wäre toll|außerdem schön|souhaité|souhaités|souhaitable|souhaitées|atout|atouts|un plus|les plus|apprécié|\
         appréciées|appréciés|idéalement|deseable|deseables|deseado|deseados|deseada|deseadas|se valora|se valorará|valorable|valoramos|opcional|puntos extra|un \
         punto a favor|plus points|icing on the cake",
    ),
    (
        Section::Responsibilities,
        "responsibilities|duties|what you will do|what you'll do|what you’ll do|you will do|you'll do|your tasks|tasks|the role|your \
         role|about the role|role overview|job description|the job|your mission|day to day|day-to-day|your day|accountabilities|what \
         you will be doing|what you'll be doing|you'll be doing|your impact|your work|key activities|in this role|aufgaben|ihre aufgaben|tätigkeiten|das erwartet dich|\
         was sie erwartet|was dich erwartet|das machst du|missions|vos missions|tâches|responsabilités|votre rôle|ce que vous ferez|vous serez|descriptif du poste|vos activités|\
         funciones|tareas|responsabilidades|qué harás|lo que harás|descripción del puesto|tu día a día|misión",
    ),
    (
        Section::Must,
        "requirements|requirement|required|must have|must-have|must-haves|must haves|what you need|you need|you must|you know|you should|you will need|you'll need|\
         what you bring|you bring|you'll bring|what we expect|we expect|essential|essentials|mandatory|qualifications|who you are|your \
         profile|your skills|skills|about you|we are looking for|we're looking for|looking for|what we look for|prerequisites|\
         competencies|your background|your experience|you have|criteria|ideal candidate|what it takes|we ask|we require|anforderungen|\
         voraussetzungen|ihr profil|dein profil|das bringst du mit|das bringen sie mit|bringst du mit|bringen sie mit|qualifikationen|\
         qualifikation|kenntnisse|was wir erwarten|wir erwarten|was du brauchst|profil|votre profil|profil recherché|compétences|\
         prérequis|exigences|ce que nous attendons|vous avez|requis|requises|requisitos|perfil|tu perfil|imprescindible|lo que \
         buscamos|conditions of employment|you might be a fit|qué buscamos|qué pedimos|qué necesitas|conocimientos|se requiere|habilidades",
    ),
    (
        Section::Other,
        "benefits|what we offer|we offer|offer|perks|about us|who we are|why us|why join|about the company|the company|our company|how \
         to apply|apply|application|contact|salary|compensation|pay|location|team|our values|process|next steps|diversity|equal \
         opportunity|wir bieten|benefits|das bieten wir|angebot|über uns|wer wir sind|bewerbung|kontakt|gehalt|standort|nous offrons|\
         avantages|ce que nous offrons|à propos|qui sommes-nous|l'entreprise|candidature|postuler|rémunération|ofrecemos|qué \
         ofrecemos|beneficios|sobre nosotros|quiénes somos|la empresa|contacto|cómo aplicar|stack|tech stack",
    ),
];

static FIELDS_BY_KEY: LazyLock<HashMap<&str, Field>> = LazyLock::new(|| {
    let keys = FIELDS.iter().flat_map(|(field, keys)| keys.split('|').map(|key| (key, *field)));
    // The first field with a key counts.
    let keys: Vec<(&str, Field)> = keys.collect();
    keys.into_iter().rev().collect()
});

static SECTION_PHRASES: LazyLock<PhraseIndex> =
    LazyLock::new(|| PhraseIndex::new(SECTIONS.iter().map(|(_, phrases)| *phrases)));

/// The field that a key names.
pub(super) fn field(key: &str) -> Option<Field> {
    let key = key.trim().trim_matches(['*', '_', '(', ')', '•', '-']).trim().to_lowercase();
    if key.is_empty() || key.split_whitespace().count() > 5 {
        return None;
    }
    FIELDS_BY_KEY.get(key.as_str()).copied()
}

/// The list that a longer key announces: "You should also know: …".
pub(super) fn list_field(key: &str) -> Option<Field> {
    if key.split_whitespace().count() > 9 {
        return None;
    }
    match section(key)? {
        Section::Must => Some(Field::Must),
        Section::Nice => Some(Field::Nice),
        Section::Responsibilities => Some(Field::Responsibilities),
        Section::None | Section::Other => None,
    }
}

/// The section that a field's value belongs to, so that lines below it do too.
pub(super) fn section_of_field(field: Field) -> Option<Section> {
    match field {
        Field::Must => Some(Section::Must),
        Field::Nice => Some(Section::Nice),
        Field::Responsibilities => Some(Section::Responsibilities),
        _ => None,
    }
}

/// The section that a heading names.
pub(super) fn section(heading: &str) -> Option<Section> {
    let heading = heading.to_lowercase().replace('’', "'");
    // "Travel required: occasional" asks for no skill.
    if heading.starts_with("travel") {
        return None;
    }
    if labels::is_welcome(&heading) {
        return Some(Section::Nice);
    }
    // "Nice-to-haves" is written with and without hyphens.
    let apart = || SECTION_PHRASES.first_group(&heading.replace('-', " "));
    let found = SECTION_PHRASES.first_group(&heading).or_else(apart);
    found
        .map(|group| SECTIONS[group].0)
        .or_else(|| labels::is_known(&heading).then_some(Section::Must))
}

/// Whether a text has a phrase at borders of words, both in lower case.
pub(super) fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// The beginning of a text, of at most so many bytes.
pub(super) fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The end of a text, of at most so many bytes.
pub(super) fn ending(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}
