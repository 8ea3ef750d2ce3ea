use jiff::civil::date;

use crate::mention::mentions;
use crate::steps::{masked, prohibited};

fn left(text: &str) -> String {
    let parts = prohibited(text, &mentions(text, date(2024, 1, 1)));
    let masked = masked(text, &parts);
    let words = masked.split_whitespace().filter(|word| *word != ";");
    words.collect::<Vec<_>>().join(" ")
}

fn assert_nothing_is_forbidden(texts: &[&str]) {
    for text in texts {
        assert_eq!(left(text), text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn a_negated_verb_such_as_forget_asks_for_what_follows() {
    assert_nothing_is_forbidden(&[
        "N'oublie pas d'envoyer le message",
        "N’oublie pas d’envoyer le message",
        "N'hésitez pas à envoyer le message",
        "Ne manque pas d'envoyer le message",
        "N'oublie jamais d'envoyer le message",
        "Не забудь отправить письмо",
        "Не забывайте отправить письмо",
        "No olvides enviar el correo",
        "No te olvides de enviar el correo",
        "Por favor, no dejes de enviar el correo",
        "Não se esqueça de enviar a mensagem",
        "Por favor não esqueça de enviar a mensagem",
        "Vergiss nicht, die Mail zu senden",
        "Vergiss bitte nicht die Mail zu senden",
        "Vergessen Sie nicht, die Mail zu senden",
        "Bitte nicht vergessen, die Mail zu senden",
        "Warte nicht und sende die Mail",
        "Non dimenticare di inviare il messaggio",
        "Vergeet niet het bericht te sturen",
        "Glöm inte att skicka filen",
        "Nie zapomnij wysłać pliku",
        "不要忘记发送 a.txt",
        "a.txt を送るのを忘れないでください",
        "a.txt 파일 보내는 것을 잊지 마세요",
    ]);
}

#[test]
fn a_negation_in_a_relative_clause_describes_the_noun() {
    assert_nothing_is_forbidden(&[
        "Liste les fichiers qui ne sont pas lus",
        "Liste les fichiers, qui ne sont pas lus",
        "Liste les fichiers qu'Anna n'a pas lus",
        "Quels fichiers ne sont pas lus ?",
        "Je veux les fichiers qui ne sont pas lus",
        "Liste os arquivos que não foram lidos",
        "Liste os arquivos, que não foram lidos",
        "Lista los archivos que nunca se han leído",
        "Liste die Dateien, die nicht gelesen wurden",
        "Liste die Dateien, die noch nicht gelesen wurden",
        "Liste die Dateien, die Bob nicht gelesen hat",
        "Liste die Dateien, in denen keine Fehler sind",
        "Liste die Dateien, die in Mails nicht vorkommen können",
        "Welche Dateien sind nicht gelesen?",
        "Lijst de bestanden die niet gelezen zijn, op naam",
        "Lijst de bestanden die nog niet zijn gelezen",
        "Покажи файлы, которые не прочитаны",
        "Pokaż pliki, które nie są przeczytane",
        "Lista filer som inte är lästa",
        "Liste os arquivos que estão em /src e não foram lidos",
        "Vis filene som ligger her og ikke er lest",
        "Pokaż pliki, które są tu i nie są przeczytane",
        "Liste os arquivos que o Bob não leu",
    ]);
}

#[test]
fn a_negated_adjective_describes_the_noun() {
    assert_nothing_is_forbidden(&[
        "Liste nicht gelesene Dateien",
        "Liste os arquivos não lidos",
        "Lijst de niet gelezen bestanden",
        "Покажи не прочитанные файлы",
        "Pokaż nie przeczytane pliki",
        "删除不要的文件",
    ]);
}

#[test]
fn a_negated_word_for_only_forbids_nothing() {
    assert_nothing_is_forbidden(&[
        "Покажи не только файлы",
        "N'envoie pas seulement le message",
        "No solo envíes el correo",
        "Não só liste os arquivos",
        "Não apenas liste os arquivos",
        "Liste nicht nur die Dateien",
        "Toon niet alleen de bestanden",
        "Pokaż nie tylko pliki",
        "Liste nicht mehr als 5 Dateien",
        "Покажи не более чем 5 файлов",
    ]);
}

#[test]
fn other_negations_forbid_their_clause() {
    for (text, rest) in [
        ("Je veux que tu n'envoies pas le message", ""),
        ("Assure-toi que le fichier n'est pas supprimé", ""),
        ("Les fichiers qui sont lus ne doivent pas être supprimés", ""),
        ("Quero que não apague o arquivo", ""),
        ("Certifique-se de que o arquivo não seja apagado", ""),
        ("Que não seja apagado o arquivo", ""),
        ("Não apague os arquivos que não foram lidos", ""),
        ("Lies a.txt, die Mail nicht senden", "Lies a.txt,"),
        ("Lies die Datei, die Mail darf nicht gesendet werden", "Lies die Datei,"),
        ("Lösche die Dateien nicht, die nicht gelesen wurden", ""),
        ("Stelle sicher, dass die Datei nicht gelöscht wird", "Stelle sicher,"),
        ("Bitte lösche das nicht", ""),
        ("Lösche nicht alte Dateien", ""),
        ("Schreib an Ann, sende die Mail aber nicht ab", "Schreib an Ann,"),
        ("Lies die Datei aber nicht die Mail", "Lies die Datei"),
        ("Lies die Datei aber nicht löschen", "Lies die Datei"),
        ("Schreib an Ann, sende sie aber nicht ab", "Schreib an Ann,"),
        ("Lies a.txt, nichts löschen", "Lies a.txt,"),
        ("Sende die Mail nicht mehr", ""),
        ("Verwijder die bestanden niet", ""),
        (
            "Liste les fichiers qui sont lus, mais ne les supprime pas",
            "Liste les fichiers qui sont lus,",
        ),
        (
            "Vergiss nicht, die Datei zu lesen, aber lösche sie nicht",
            "Vergiss nicht, die Datei zu lesen,",
        ),
        ("Attends, n'envoie pas le message", "Attends,"),
        ("No borres los archivos que olvides", ""),
        ("Хочу, чтобы ты не удалял файл", "Хочу,"),
        ("Не удаляй файлы, которые прочитаны", ""),
        ("不要删除忘记的文件", ""),
        ("不要忘记保存不要删除", "不要忘记保存;"),
        (
            "Leia os arquivos que estão em /src e não os apague",
            "Leia os arquivos que estão em /src",
        ),
        ("Les filene som ligger her og slett dem ikke", "Les filene som ligger her"),
        ("Przeczytaj pliki, które są tu i nie usuwaj ich", "Przeczytaj pliki, które są tu"),
        ("Leggi i file che sono qui e non cancellarli", "Leggi i file che sono qui"),
        ("Leia a.txt e não o apague", "Leia a.txt"),
        ("Não apague a.txt e b.txt", ""),
        ("Os arquivos que estão aqui e ali não devem ser apagados", ""),
    ] {
        assert_eq!(left(text), rest, "{text}");
    }
}
