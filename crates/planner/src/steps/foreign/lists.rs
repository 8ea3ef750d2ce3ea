//! Words of German, Dutch, the Scandinavian, Romance and Slavic languages, Arabic, Vietnamese and Indonesian that tell
//! what a negation forbids.

/// Words that start a clause.
pub(super) const TURNS: &[&str] = &[
    "und",
    "aber",
    "sondern",
    "oder",
    "dann",
    "et",
    "mais",
    "puis",
    "y",
    "pero",
    "luego",
    "ma",
    "poi",
    "mas",
    "depois",
    "maar",
    "och",
    "men",
    "ale",
    "и",
    "но",
    "а",
    "потом",
];
/// Words for `and` and `or` that start a clause only if a negation follows: some are also articles or prepositions, and
/// some join nouns: `não apague a.txt e b.txt`.
pub(super) const CONJUNCTIONS: &[&str] = &["e", "ou", "og", "eller", "lub", "of"];
/// Verbs that go on with a relative clause after these: `que estão aqui e não foram lidos`.
pub(super) const LINKS: &[&str] = &[
    "é", "são", "está", "estão", "foi", "foram", "era", "eram", "tem", "têm", "est", "sont", "ont",
    "était", "étaient", "er", "var", "är", "har", "ble", "blev", "jest", "są", "był", "była",
    "było", "były", "ma", "mają", "został", "została", "zostało", "zostały", "is", "zijn",
];
/// Words after such a verb that forbid: `não é para apagar`.
pub(super) const TO: &[&str] = &["para", "do", "à"];
/// Negations that can be anywhere in their clause.
pub(super) const ANYWHERE: &[&str] = &[
    "nicht",
    "niemals",
    "nie",
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "keines",
    "nichts",
    "niet",
    "niets",
    "geen",
    "nooit",
    "inte",
    "aldrig",
    "ikke",
    "ingen",
    "jamais",
    "nunca",
    "jamás",
    "não",
    "не",
    "никогда",
    "нельзя",
    "đừng",
    "jangan",
    "لا",
];
/// Pronouns before a German `aber` or a Dutch `maar` that starts no clause: `sende sie aber nicht ab`.
pub(super) const OBJECTS: &[&str] = &[
    "es", "sie", "ihn", "ihm", "ihr", "ihnen", "das", "dies", "diese", "het", "hem", "haar", "ze",
];
/// French words that negate together with `ne`.
pub(super) const AFTER_NE: &[&str] = &["pas", "rien", "aucun", "aucune", "personne"];
/// Words for `only` after a negation: `nicht nur`.
pub(super) const ONLY: &[&str] = &[
    "nur",
    "bloß",
    "allein",
    "alleen",
    "slechts",
    "enkel",
    "bara",
    "endast",
    "bare",
    "kun",
    "seulement",
    "uniquement",
    "solo",
    "sólo",
    "solamente",
    "únicamente",
    "soltanto",
    "só",
    "apenas",
    "somente",
    "только",
    "лишь",
    "tylko",
    "jedynie",
];
/// Words for `more` after a negation, which limit a number if a word of [`THAN`] follows: `nicht mehr als 5`.
pub(super) const MORE: &[&str] =
    &["mehr", "meer", "mer", "mere", "plus", "más", "più", "mais", "более", "больше", "więcej"];
pub(super) const THAN: &[&str] =
    &["als", "dan", "än", "end", "enn", "de", "que", "di", "do", "чем", "niż", "od"];

/// Imperatives before a negation that forbids nothing: `vergiss nicht`.
pub(super) const HARMLESS_BEFORE: &[&str] = &[
    "vergiss",
    "vergiß",
    "vergesst",
    "vergessen",
    "zögere",
    "zögert",
    "zögern",
    "warte",
    "wartet",
    "warten",
    "versäume",
    "vergeet",
    "aarzel",
    "wacht",
    "glöm",
    "tveka",
    "vänta",
    "glem",
    "nøl",
    "vent",
];
/// Verbs after a negation that forbids nothing: `n'oublie pas`, `не забудь`, `nicht vergessen`.
pub(super) const HARMLESS_AFTER: &[&str] = &[
    // German, Dutch and the Scandinavian languages.
    "vergessen",
    "zögern",
    "warten",
    "versäumen",
    "vergeten",
    "aarzelen",
    "wachten",
    "glömma",
    "glömmer",
    "glemme",
    // French.
    "oublie",
    "oublies",
    "oubliez",
    "oublier",
    "oublions",
    "hésite",
    "hésites",
    "hésitez",
    "hésiter",
    "attends",
    "attendez",
    "attendre",
    "tarde",
    "tardez",
    "tarder",
    // Spanish.
    "olvides",
    "olvide",
    "olvidéis",
    "olviden",
    "olvidar",
    "olvidarte",
    "dudes",
    "dude",
    "duden",
    "dudar",
    "esperes",
    "espere",
    "esperen",
    "esperar",
    "tardes",
    // Portuguese.
    "esqueça",
    "esqueças",
    "esqueçam",
    "esquecer",
    "hesite",
    "hesites",
    "hesitar",
    "espera",
    // Italian.
    "dimenticare",
    "dimenticarti",
    "dimenticarsi",
    "dimenticate",
    "scordare",
    "scordarti",
    "esitare",
    "aspettare",
    "attendere",
    // Russian.
    "забудь",
    "забудьте",
    "забывай",
    "забывайте",
    "забыть",
    "стесняйся",
    "стесняйтесь",
    "жди",
    "ждите",
    "медли",
    "медлите",
    // Polish.
    "zapomnij",
    "zapomnijcie",
    "zapominaj",
    "wahaj",
    "czekaj",
    "zwlekaj",
    // Vietnamese and Indonesian.
    "quên",
    "lupa",
];
/// Verbs that ask for something after a negation if `de` or `di` follows: `no dejes de enviarlo`.
pub(super) const FAIL_TO: &[&str] = &[
    "manque", "manquez", "manquer", "dejes", "deje", "dejar", "deixe", "deixes", "deixar",
    "mancare",
];

/// Words that start a clause about the noun before it, wherever they stand: `les fichiers qui ne sont pas lus`.
pub(super) const RELATIVES: &[&str] = &[
    "qui",
    "que",
    "qu",
    "dont",
    "où",
    "lequel",
    "laquelle",
    "lesquels",
    "lesquelles",
    "quien",
    "quienes",
    "cuyo",
    "cuya",
    "cuyos",
    "cuyas",
    "donde",
    "onde",
    "cujo",
    "cuja",
    "cujos",
    "cujas",
    "che",
    "cui",
    "denen",
    "deren",
    "dessen",
    "som",
    "التي",
    "الذي",
    "الذين",
    "اللذين",
    "اللتين",
    "اللاتي",
    "اللواتي",
];
/// Words for `which`, which also ask at the start of a sentence.
pub(super) const WHICH: &[&str] = &[
    "welche",
    "welcher",
    "welches",
    "welchen",
    "welchem",
    "welke",
    "vilka",
    "vilken",
    "vilket",
    "hvilke",
    "hvilken",
    "quel",
    "quelle",
    "quels",
    "quelles",
    "qual",
    "quais",
    "quali",
    "какой",
    "какая",
    "какое",
    "какие",
    "каких",
    "jakie",
];
/// How words for `which` begin that have many endings.
pub(super) const WHICH_BEGINNINGS: &[&str] = &["котор", "któr", "qu'"];
/// Articles that can be relative words, too.
pub(super) const ARTICLES: &[&str] = &["die", "der", "das", "dem", "den", "dat"];
/// Small words between a relative word and its negation.
pub(super) const FILLERS: &[&str] = &[
    "noch", "auch", "gar", "bisher", "bislang", "schon", "mehr", "ich", "du", "er", "sie", "es",
    "wir", "ihr", "man", "nog", "ook", "al", "ik", "je", "hij", "ze", "we", "men",
];
/// Verbs that end a subordinate clause and stand before the negation in a main one.
pub(super) const FINITE: &[&str] = &[
    "ist", "sind", "war", "waren", "bin", "hat", "haben", "habe", "hatte", "hatten", "wird",
    "werden", "wurde", "wurden", "kann", "können", "konnte", "konnten", "darf", "dürfen", "soll",
    "sollen", "muss", "müssen", "will", "wollen", "is", "zijn", "was", "werd", "worden", "wordt",
    "heeft", "hebben", "had", "hadden", "kan", "kunnen", "mag", "mogen",
];
/// Verbs that forbid together with a negation: `ne doivent pas être supprimés`.
pub(super) const MODALS: &[&str] = &[
    "doit",
    "doivent",
    "devez",
    "dois",
    "peut",
    "peuvent",
    "debe",
    "deben",
    "puede",
    "pueden",
    "deve",
    "devem",
    "devono",
    "pode",
    "podem",
    "должен",
    "должна",
    "должно",
    "должны",
    "może",
    "mogą",
];
/// Words before a `que` or `che` that starts a request: `je veux que tu n'envoies pas le message`.
pub(super) const WANTS: &[&str] = &[
    "veux",
    "veut",
    "voudrais",
    "souhaite",
    "demande",
    "faut",
    "assure",
    "assurez",
    "vérifie",
    "vérifiez",
    "veille",
    "veillez",
    "sorte",
    "exige",
    "préfère",
    "plaît",
    "quiero",
    "quisiera",
    "deseo",
    "pido",
    "ruego",
    "prefiero",
    "necesito",
    "asegúrate",
    "asegurate",
    "asegúrese",
    "procura",
    "favor",
    "quero",
    "queria",
    "desejo",
    "peço",
    "prefiro",
    "preciso",
    "certifique",
    "garanta",
    "assegure",
    "voglio",
    "vorrei",
    "chiedo",
    "assicurati",
    "bisogna",
    "modo",
];

/// Endings of participles and adjectives that no Russian or Polish imperative has: `не прочитанные файлы`.
pub(super) const ADJECTIVE_ENDINGS: &[&str] = &[
    "нный",
    "нная",
    "нное",
    "нные",
    "нных",
    "нного",
    "нной",
    "нную",
    "нным",
    "нными",
    "щие",
    "щих",
    "вшие",
    "вших",
    "мые",
    "мых",
    "тые",
    "тых",
    "ane",
    "anych",
    "zone",
    "ione",
    "onych",
];
/// Endings of Portuguese participles: `arquivos não lidos`.
pub(super) const PARTICIPLE_ENDINGS: &[&str] =
    &["ado", "ados", "ada", "adas", "ido", "idos", "ida", "idas", "tos", "tas"];

/// Spanish words after a `no` that forbids: pronouns, and marks of a Spanish sentence.
pub(super) const SPANISH_PRONOUNS: &[&str] =
    &["lo", "la", "los", "las", "le", "les", "me", "se", "te"];
pub(super) const SPANISH: &[&str] = &[
    "del", "al", "por", "para", "que", "pero", "archivo", "archivos", "correo", "mensaje", "nada",
    "una",
];

/// Chinese negations, which stand before what they forbid.
pub(super) const CHINESE: &[&str] =
    &["不要", "请勿", "請勿", "切勿", "不得", "不准", "不可以", "禁止", "请别"];
/// What follows them where nothing is forbidden: forget, hesitate, wait, worry, and `不要的`, which is unwanted.
pub(super) const CHINESE_HARMLESS: &[&str] = &["忘", "犹豫", "猶豫", "等", "担心", "擔心", "的"];
/// Japanese and Korean negations, which end the clause.
pub(super) const JAPANESE: &[&str] =
    &["しないで", "しないこと", "さないで", "かないで", "ないでくだ"];
pub(super) const KOREAN: &[&str] = &["지마", "지말"];
/// Verbs before them where nothing is forbidden.
pub(super) const JAPANESE_HARMLESS: &[&str] =
    &["忘れ", "遠慮", "遠慮し", "心配", "心配し", "ためらわ", "躊躇し"];
pub(super) const KOREAN_HARMLESS: &[&str] = &["잊", "걱정하", "주저하", "망설이"];
