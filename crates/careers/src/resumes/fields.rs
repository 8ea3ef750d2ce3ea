//! Positions and degrees whose lines have labels: "Company: …", "Position: …", "Duration: …".

use super::dates::{self, Period};
use super::lines::Line;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Main,
    Organisation,
    Dates,
    Place,
    /// The description of the work.
    Text,
}

const LABELS: [(Label, &str); 5] = [
    (
        Label::Main,
        "position|positions|title|job title|role|job role|post|designation|position held|occupation|occupation or position held|rolle|stelle|\
         funktion|tätigkeit als|berufsbezeichnung|beruf|poste|poste occupé|fonction|intitulé du poste|puesto|cargo|puesto ocupado|posición|\
         função|posição|cargo ocupado|profissão|posizione|ruolo|mansione|qualifica|tipo di impiego|degree|qualification|course|abschluss|\
         studiengang|diplôme|título|titulación|grau|curso|titolo|titolo di studio",
    ),
    (
        Label::Organisation,
        "company|company name|employer|organisation|organization|name of employer|name and address of employer|firm|client|arbeitgeber|firma|\
         unternehmen|betrieb|entreprise|employeur|société|organisme|empresa|empleador|compañía|empregador|entidade|entidade patronal|azienda|\
         datore di lavoro|nome e indirizzo del datore di lavoro|società|institution|university|school|college|hochschule|universität|schule|\
         université|établissement|école|universidad|centro|institución|universidade|instituição|università|istituto",
    ),
    (
        Label::Dates,
        "date|dates|duration|period|dates of employment|employment dates|time|timeframe|from/to|tenure|year|years|year of completion|\
         zeitraum|dauer|datum|von/bis|von – bis|période|durée|dates d'emploi|fecha|fechas|período|periodo|duración|data|datas|duração|date (da – a)|\
         date (da - a)|durata|graduation|graduated|graduation date|completed",
    ),
    (
        Label::Place,
        "location|place|city|country|ort|standort|lieu|ville|lugar|ciudad|local|cidade|luogo|sede|address|sector|industry|branche",
    ),
    (
        Label::Text,
        "responsibilities|key responsibilities|duties|tasks|main activities|main activities and responsibilities|description|job description|\
         achievements|key achievements|aufgaben|aufgabenbereich|tätigkeiten|tätigkeit|missions|tâches|responsabilités|réalisations|funciones|\
         tareas|responsabilidades|logros|atividades|funções|principais atividades|mansioni|principali mansioni|responsabilità|technologies|\
         tools|environment|tech stack",
    ),
];

/// An entry of labelled lines.
#[derive(Debug, Default)]
pub(super) struct LabelledEntry {
    pub main: Option<String>,
    pub organisation: Option<String>,
    pub period: Option<Period>,
    pub bullets: Vec<String>,
}

fn read_label(text: &str) -> Option<(Label, &str)> {
    let (label, value) = text.split_once(':').or_else(|| text.split_once(" | "))?;
    let label = label.trim().to_lowercase();
    let named = |names: &str| names.split('|').any(|name| name == label);
    let (label, _) = LABELS.iter().find(|(_, names)| named(names))?;
    Some((*label, value.trim_matches(['|', ' ', '\t'])))
}

/// The entries of labelled lines; none unless their names have labels.
pub(super) fn entries(lines: &[&Line]) -> Vec<LabelledEntry> {
    let labels: Vec<Label> =
        lines.iter().filter_map(|line| read_label(&line.text)).map(|(label, _)| label).collect();
    let has = |label: Label| labels.contains(&label);
    if !has(Label::Organisation) || !has(Label::Main) && !has(Label::Dates) {
        return Vec::new();
    }
    let mut entries: Vec<LabelledEntry> = vec![LabelledEntry::default()];
    let mut begun = false;
    for line in lines {
        let Some(current) = entries.last_mut() else { break };
        let label = read_label(&line.text);
        let taken = match label {
            Some((Label::Main, _)) => current.main.is_some(),
            Some((Label::Organisation, _)) => current.organisation.is_some(),
            Some((Label::Dates, _)) => current.period.is_some(),
            _ => false,
        };
        if taken {
            entries.push(LabelledEntry::default());
        }
        let Some(current) = entries.last_mut() else { break };
        let text = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
        match label {
            Some((Label::Main, value)) => current.main = text(value),
            Some((Label::Organisation, value)) => current.organisation = text(value),
            Some((Label::Dates, value)) => current.period = date_of(value),
            Some((Label::Text, "") | (Label::Place, _)) => {}
            // Dates without a label next to names with one.
            None if current.period.is_none() && dates::period(&line.text).is_some() => {
                current.period = dates::period(&line.text);
            }
            Some((Label::Text, value)) => current.bullets.push(value.to_owned()),
            None if begun => current.bullets.push(line.text.clone()),
            None => {}
        }
        begun |= label.is_some();
    }
    entries.retain(|entry| {
        entry.period.is_some() && (entry.main.is_some() || entry.organisation.is_some())
    });
    entries
}

fn date_of(value: &str) -> Option<Period> {
    dates::period(value).or_else(|| dates::single(value))
}
