//! Nouns of roles that résumés have beyond those of job descriptions.

use std::collections::HashSet;
use std::sync::LazyLock;

/// In lower case: English, then German, French, Spanish, Portuguese and Italian.
const ROLES: &str = "actor|actuary|ambassador|animator|apprentice|archivist|athlete|author|babysitter|beautician|biologist|bricklayer|builder|\
    carpenter|chair|chairman|chairwoman|chaplain|chemist|cofounder|founder|columnist|commander|commissioner|composer|contractor|counselor|\
    counsellor|curator|dancer|dean|deputy|detective|dietitian|dj|docent|editor|educator|entrepreneur|facilitator|farmer|filmmaker|\
    firefighter|florist|forester|freelancer|fundraiser|geologist|groundskeeper|helper|historian|housekeeper|illustrator|jeweler|\
    lifeguard|locksmith|logistician|lecturer|marshal|mathematician|mediator|mentor|musician|negotiator|notary|nutritionist|organizer|\
    organiser|paraprofessional|phlebotomist|physicist|policeman|postdoc|preparer|presenter|promoter|proofreader|\
    publicist|rep|reporter|reviewer|sailor|scholar|sergeant|server|shopkeeper|singer|soldier|statistician|stocker|stylist|tailor|teller|\
    treasurer|typist|usher|valet|vicar|videographer|volunteer|warden|warehouseman|webmaster|sre|svp|evp|vp|coo|cio|cmo|cpo|hostler|\
    postdoctoral|internship|\
    einkäufer|einkäuferin|projektleitung|bauleiter|bauleiterin|geschäftsführer|geschäftsführerin|praktikum|aushilfe|azubi|\
    volontär|volontärin|trainer|trainerin|dozent|dozentin|redakteur|redakteurin|hilfskraft|werkstudentin|wissenschaftler|\
    wissenschaftlerin|informatiker|informatikerin|gesellin|geselle|vorstand|inhaber|inhaberin|gründer|gründerin|verwalter|arzthelferin|\
    krankenschwester|sekretär|sekretärin|übersetzer|übersetzerin|juristin|jurist|anwalt|anwältin|kellner|kellnerin|controllerin|\
    programmierer|programmiererin|analystin|beraterin|vertriebler|zeichner|zeichnerin|schreiner|dachdecker|klempner|apotheker|apothekerin|\
    secrétaire|hôte|hôtesse|serveur|serveuse|formateur|formatrice|animateur|animatrice|enseignant|enseignante|chercheur|chercheuse|\
    employé|employée|ouvrier|ouvrière|cuisinier|cuisinière|aide|apprenti|apprentie|bénévole|fondateur|fondatrice|gérant|gérante|agent|\
    opérateur|opératrice|traducteur|traductrice|juriste|avocat|avocate|graphiste|pharmacien|pharmacienne|éducateur|éducatrice|commis|\
    coordinateur|coordinatrice|doctorant|doctorante|plombier|électricien|menuisier|maçon|chauffeur|livreur|\
    ayudante|dependiente|dependienta|maestro|maestra|abogado|abogada|albañil|electricista|fontanero|carpintero|cajero|cajera|secretario|\
    secretaria|traductor|traductora|periodista|investigador|investigadora|docente|farmacéutico|farmacéutica|psicólogo|psicóloga|\
    fundador|fundadora|operador|operadora|supervisor|supervisora|repartidor|cocinera|mecánico|delegado|delegada|teleoperador|practicante|\
    pasante|reponedor|reponedora|monitora|educador|educadora|responsable|subdirector|subdirectora|\
    desenvolvedor|desenvolvedora|engenheiro|engenheira|contabilista|contador|contadora|gestor|gestora|técnico|técnica|estagiário|\
    estagiária|diretor|diretora|coordenador|coordenadora|assistente|consultor|consultora|vendedor|vendedora|professor|professora|\
    enfermeiro|enfermeira|advogado|advogada|médico|médica|arquiteto|arquiteta|projetista|atendente|auxiliar|rececionista|recepcionista|\
    encarregado|encarregada|motorista|cozinheiro|cozinheira|empregado|empregada|programador|programadora|pesquisador|pesquisadora|\
    investigador|jornalista|designer|chefe|operário|operador|balconista|bolseiro|bolsista|sócio|sócia|trainee|tradutor|tradutora|\
    responsabile|tecnico|impiegato|impiegata|ingegnere|sviluppatore|sviluppatrice|contabile|commessa|commesso|cameriere|cameriera|cuoco|\
    cuoca|insegnante|infermiere|infermiera|avvocato|architetto|direttore|direttrice|consulente|tirocinante|stagista|addetto|addetta|\
    operaio|operaia|magazziniere|segretaria|segretario|progettista|ricercatore|ricercatrice|grafico|grafica|coordinatore|coordinatrice|\
    programmatore|venditore|venditrice|educatore|educatrice|assistente|capo|cofondatore|fondatore";

static ROLE_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| ROLES.split('|').collect());

/// Whether a text has the noun of a role.
pub(crate) fn names_role(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|sign: char| !(sign.is_alphanumeric() || sign == '-'));
    let own = words.any(|word| {
        let last = word.rsplit('-').next().unwrap_or(word);
        ROLE_SET.contains(word) || ROLE_SET.contains(last)
    });
    own || crate::jobs::header::names_role(text)
}
