//! Contact data by its labels: "Phone: …", "Phone | …", and labels above or next to their values.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::Line;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Mail,
    Phone,
    Place,
    Link,
    /// Birth, nationality and the like, which are no contact data.
    Other,
}

/// A part of a line with the field that its label names.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub field: Option<Field>,
    pub text: String,
    /// The place of its line in the given ones.
    pub line: usize,
    /// Whether it is all of its line.
    pub alone: bool,
}

const LABELS: [(Field, &str); 6] = [
    (
        Field::Name,
        "name|full name|nom|nombre|nombre y apellidos|nombre completo|apellidos y nombre|nom et prénom|prénom et nom|nom, prénom|vor- und \
         nachname|vor- und zuname|name, vorname|vollständiger name|nome|nome completo|nome e cognome|cognome e nome|candidate|candidate name",
    ),
    (
        Field::Mail,
        "e-mail|email|mail|email address|e-mail address|e-mail-adresse|email-adresse|mailadresse|courriel|adresse mail|adresse e-mail|adresse \
         électronique|correo|correo electrónico|correo-e|e-mail id|email id|endereço eletrónico|posta elettronica|indirizzo e-mail|mél",
    ),
    (
        Field::Phone,
        "phone|phone number|phone no|telephone|telephone number|tel|tel. no|tel no|mobile|mobile number|mobile phone|mobile no|mob|cell|cell \
         phone|cellphone|contact|contact number|contact no|telefon|telefonnummer|tel.-nr|tel.nr|mobil|mobilnummer|mobiltelefon|handy|\
         handynummer|rufnummer|téléphone|tél|portable|téléphone portable|mobile|numéro de téléphone|teléfono|telf|tlf|tfno|teléfono móvil|\
         móvil|celular|telefone|telemóvel|telemovel|telefono|cellulare|recapito telefonico|whatsapp|phone/whatsapp|home phone|work phone",
    ),
    (
        Field::Place,
        "location|address|home address|postal address|current address|mailing address|permanent address|residential address|place of \
         residence|residence|based in|based|city|city/state|current location|town|country of residence|adresse|anschrift|wohnort|ort|wohnhaft|\
         wohnhaft in|wohnadresse|postanschrift|standort|adresse postale|lieu|lieu de résidence|ville|domicile|ubicación|dirección|domicilio|\
         ciudad|residencia|lugar de residencia|localidad|población|endereço|morada|cidade|localização|residência|localidade|indirizzo|\
         residenza|domicilio|città",
    ),
    (
        Field::Link,
        "linkedin|linkedin profile|github|gitlab|xing|web|website|site|web site|webseite|homepage|portfolio|blog|twitter|url|site web|página \
         web|sitio web|profile|links|link|online|orcid|google scholar|behance|dribbble|stack overflow|medium|skype|kaggle",
    ),
    (
        Field::Other,
        "date of birth|birth date|birthdate|birthday|dob|d.o.b|born|born on|age|place of birth|birthplace|nationality|citizenship|gender|sex|\
         marital status|civil status|driving licence|driving license|driver's license|driver's licence|visa|visa status|work permit|religion|\
         passport|passport no|availability|available from|notice period|father's name|mother's name|languages|languages known|state of \
         origin|blood group|height|weight|id|id number|salary expectation|\
         geburtsdatum|geburtsort|geburtstag|geboren|geboren am|geburtsdatum und -ort|geburtsdatum/-ort|geburtsdatum, -ort|familienstand|\
         staatsangehörigkeit|nationalität|führerschein|konfession|geschlecht|alter|kinder|verfügbarkeit|eintrittstermin|\
         date de naissance|lieu de naissance|né le|née le|né à|née à|nationalité|situation familiale|état civil|permis|permis de conduire|âge|\
         fecha de nacimiento|lugar de nacimiento|nacionalidad|estado civil|edad|sexo|carnet de conducir|permiso de conducir|dni|nif|nie|\
         data de nascimento|nascimento|local de nascimento|naturalidade|nacionalidade|idade|carta de condução|cnh|cpf|\
         data di nascita|luogo di nascita|luogo e data di nascita|nazionalità|cittadinanza|stato civile|patente|codice fiscale|età",
    ),
];

/// Between the parts of a line.
static GAP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\s*[|·•;\t▪●◦❖◆◇♦✦★∙⋅■□¦]\s*|\s{2,}|\s+[–—]\s+|\s+//\s+|\s+-\s+(?:[\p{L}.-]+\s?:|\+)")
});
static ICON: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[^\p{L}\p{N}+(@<\[]+"));

/// The field of a label.
fn field_of(label: &str) -> Option<Field> {
    let label = label.trim().trim_end_matches([':', '.', ' ', '*']).to_lowercase();
    let label = label.split('(').next().unwrap_or("").trim();
    LABELS
        .iter()
        .find(|(_, names)| names.split('|').any(|name| name == label))
        .map(|(field, _)| *field)
}

/// Whether a text is nothing but a label.
pub(crate) fn is_label(text: &str) -> bool {
    field_of(text).is_some()
}

/// Single characters for fields, which only a colon makes labels.
fn field_of_letter(letter: &str) -> Option<Field> {
    match letter.trim().trim_end_matches('.').to_lowercase().as_str() {
        "e" => Some(Field::Mail),
        "t" | "p" | "m" | "h" | "c" => Some(Field::Phone),
        "a" | "l" => Some(Field::Place),
        "w" | "in" => Some(Field::Link),
        _ => None,
    }
}

/// The field and the value of a text with its label: "Phone: +49 30 1234".
fn labelled(text: &str) -> Option<(Field, &str)> {
    let colon = text.find([':', '：'])?;
    let (label, value) = text.split_at(colon);
    let value = value.trim_start_matches([':', '：']).trim();
    let short = label.split_whitespace().count() <= 4;
    let field = field_of(label).or_else(|| field_of_letter(label));
    // A label that is not known says what the value is not.
    let unknown = || {
        (short && !label.contains(['@', '/', '.']) && !label.starts_with("http"))
            .then_some(Field::Other)
    };
    Some((field.or_else(unknown)?, value))
}

/// The parts of lines, with the fields that labels before or above them name.
pub(super) fn cells(lines: &[&Line]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    // Labels whose values are in the next line.
    let mut waiting: Vec<Field> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let parts = split(&line.text);
        let alone = parts.len() == 1;
        let labels: Vec<Field> = parts.iter().map_while(|part| field_of(part)).collect();
        if labels.len() == parts.len() && !parts.is_empty() {
            waiting = labels;
            continue;
        }
        let columns = std::mem::take(&mut waiting);
        let mut before = None;
        for (column, part) in parts.iter().enumerate() {
            if let Some((field, value)) = labelled(part) {
                if value.is_empty() {
                    before = Some(field);
                } else {
                    cells.push(Cell {
                        field: Some(field),
                        text: value.to_owned(),
                        line: at,
                        alone,
                    });
                    before = None;
                }
            } else if let Some(field) =
                field_of(part).filter(|_| before.is_none() && column + 1 < parts.len())
            {
                before = Some(field);
            } else {
                let above = columns.get(column).copied().filter(|_| columns.len() == parts.len());
                let field = before.take().or(above);
                cells.push(Cell { field, text: part.clone(), line: at, alone });
            }
        }
        waiting.extend(before);
    }
    cells
}

/// Splits a line at bars, bullets, gaps and before labels.
fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut start = 0;
    for gap in GAP.find_iter(text) {
        parts.push(&text[start..gap.start()]);
        // A label after a dash belongs to the next part.
        let dash = gap.as_str().trim_start().starts_with("- ");
        start = if dash {
            gap.start() + gap.as_str().find("- ").map_or(0, |at| at + 2)
        } else {
            gap.end()
        };
    }
    parts.push(&text[start..]);
    let parts = parts
        .into_iter()
        .map(|part| ICON.replace(part.trim(), "").trim_end_matches(['*', '_', ' ']).to_owned());
    parts.filter(|part| part.contains(char::is_alphanumeric)).collect()
}
