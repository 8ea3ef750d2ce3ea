//! Tools that do what the request forbids: `write a mail to Ann, but do not send it` is nothing for a tool that sends.

use std::ops::Range;

use language::verbs::begins_action;
use language::words::{is_stop_word, related_stems, stem, words};

use crate::given::is_explicit;
use crate::graph::Toolbox;
use crate::mention::Mention;
use crate::steps::Step;
use crate::tool::{ToolSpec, stems};

/// Words of a prohibition that name nothing: it is about all that the request is about.
const GENERAL: [&str; 25] = [
    "anything",
    "everything",
    "something",
    "nothing",
    "any",
    "all",
    "anyone",
    "anybody",
    "anywhere",
    "someone",
    "nobody",
    "nowhere",
    "itself",
    "themselves",
    "even",
    "ever",
    "either",
    "now",
    "immediately",
    "automatically",
    "never",
    "yet",
    "way",
    "nichts",
    "alles",
];
/// Words before what is forbidden: `please make sure that you never`.
const LEADS: [&str; 26] = [
    "please",
    "make",
    "made",
    "sure",
    "ensure",
    "certain",
    "careful",
    "avoid",
    "refrain",
    "try",
    "want",
    "need",
    "important",
    "circumstances",
    "instead",
    "rather",
    "without",
    "not",
    "don",
    "dont",
    "mustn",
    "shouldn",
    "needn",
    "doesn",
    "shan",
    "neither",
];
/// Words that make a prohibition one about something else than what is asked for: `do not send it twice`.
const LIMITS: [&str; 13] = [
    "again", "also", "another", "before", "else", "except", "more", "once", "other", "others",
    "twice", "unless", "until",
];
/// Past participles that differ from the stems of their verbs, with these.
const PARTICIPLES: [(&str, &str); 8] = [
    ("sent", "send"),
    ("written", "write"),
    ("bought", "buy"),
    ("paid", "pay"),
    ("sold", "sell"),
    ("given", "give"),
    ("taken", "take"),
    ("shown", "show"),
];
/// Verbs for changes of any kind.
const CHANGES: [&str; 6] = ["alter", "change", "edit", "modify", "touch", "write"];

/// A part of a request that says what not to do.
pub(crate) struct Prohibition {
    pub(crate) step: Step,
    actions: Vec<Action>,
    /// Whether it has a value, such as a file, that the rest of the request does not have.
    has_own_value: bool,
    /// Whether it has a value of the rest of the request.
    has_shared_value: bool,
}

/// One of the things that a prohibition forbids: `send` and `delete` in `do not send or delete the mail`.
#[derive(Debug, Default)]
struct Action {
    /// The stem of its verb.
    verb: String,
    /// The words after the verb that name something.
    objects: Vec<Object>,
    /// Whether any word follows the verb.
    is_followed: bool,
    /// Whether it is about something else than what is asked for.
    is_limited: bool,
}

#[derive(Clone, Debug)]
struct Object {
    stem: String,
    /// Whether the rest of the request has this word.
    is_shared: bool,
}

/// What a prohibition says about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Allowed,
    /// The caller decides.
    Doubtful,
    Forbidden,
}

impl Prohibition {
    /// Reads a part of a request; `values` are those of the whole request, and `rest` is what it does not forbid.
    pub(crate) fn new(text: &str, part: &Range<usize>, values: &[Mention], rest: &str) -> Self {
        let range = (part.start, part.end);
        let within = |value: &&Mention| value.start >= part.start && value.end <= part.end;
        let own = values.iter().filter(within).filter(|value| is_explicit(value));
        let (shared, new): (Vec<&Mention>, Vec<&Mention>) =
            own.partition(|value| rest.contains(value.text.as_str()));
        let mut plain = String::new();
        let mut at = part.start;
        for value in values.iter().filter(within).filter(|value| is_explicit(value)) {
            plain.push_str(&text[at..value.start]);
            plain.push(' ');
            at = value.end;
        }
        plain.push_str(&text[at..part.end]);
        Self {
            step: Step::new(text, &[range], &[]),
            actions: actions(&in_active_voice(&plain), &stems(rest)),
            has_own_value: !new.is_empty(),
            has_shared_value: !shared.is_empty(),
        }
    }

    /// What it says about a tool that would be used for a step.
    pub(crate) fn verdict(&self, toolbox: &Toolbox, tool: usize, step: &Step) -> Verdict {
        let verdicts = self.actions.iter().map(|action| self.judge(action, toolbox, tool, step));
        verdicts.max().unwrap_or(Verdict::Allowed)
    }

    fn judge(&self, action: &Action, toolbox: &Toolbox, tool: usize, step: &Step) -> Verdict {
        let spec = &toolbox.tools[tool];
        let others =
            action.objects.iter().filter(|object| !spec.is_about(&object.stem)).collect::<Vec<_>>();
        let is_general = others.is_empty()
            && !action.is_limited
            && !self.has_own_value
            && !self.has_shared_value;
        if !spec.does(&action.verb) {
            let is_change = spec.changes && CHANGES.iter().any(|word| stem(word) == action.verb);
            return if is_general && is_change { Verdict::Forbidden } else { Verdict::Allowed };
        }
        // A request that asks for the same action forbids it for something else: `do not send it to Bob`.
        let is_asked =
            step.says(&action.verb) || step.verb.as_ref().is_some_and(|verb| spec.does(verb));
        if is_general {
            // `delete a.txt but do not delete all files` asks to delete something.
            let is_partial = is_asked && !action.objects.is_empty();
            return if is_partial { Verdict::Doubtful } else { Verdict::Forbidden };
        }
        let is_known = |object: &&Object| {
            object.is_shared || toolbox.word_fit(tool, &toolbox.term(&object.stem)) > 0.0
        };
        let is_other = action.is_limited || self.has_own_value || !others.iter().all(is_known);
        if is_other && is_asked {
            Verdict::Allowed
        } else if is_other || is_asked {
            Verdict::Doubtful
        } else {
            Verdict::Forbidden
        }
    }
}

impl ToolSpec {
    /// Whether its name, or that of its server, has a noun.
    fn is_about(&self, stem: &str) -> bool {
        self.name_stems.contains(stem) || stems(&self.family).iter().any(|own| own == stem)
    }

    /// Whether a verb names what it does.
    fn does(&self, verb: &str) -> bool {
        let is_action = |stem: &str| *self.action == *stem;
        let family = stems(&self.family);
        // `email` is what a tool such as `mail:send` does.
        let is_family = |stem: &str| family.iter().any(|own| own == stem);
        let has = |matches: &dyn Fn(&str) -> bool| {
            related_stems(verb).iter().any(|stem| matches(stem)) || matches(verb)
        };
        self.verb_stems.contains(verb) || self.changes && (has(&is_action) || has(&is_family))
    }
}

/// A text with the verb of its passive before the noun: `sent the mail must not` for `the mail must not be sent`.
fn in_active_voice(text: &str) -> String {
    let passive = [" be ", " been ", " being "];
    let place = passive.iter().find_map(|word| Some((text.find(word)?, word.len())));
    place.map_or_else(
        || text.to_owned(),
        |(at, length)| format!("{} {}", &text[at + length..], &text[..at]),
    )
}

/// What a prohibition forbids, without its values. `others` are the stems of the rest of the request.
fn actions(text: &str, others: &[String]) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for (number, part) in text.split(',').enumerate() {
        let part = words(part);
        let mut is_joined = number > 0;
        for (place, word) in part.iter().enumerate() {
            let word = word.as_str();
            if matches!(word, "or" | "and" | "nor") {
                is_joined = true;
                continue;
            }
            let is_frame = is_stop_word(word)
                || GENERAL.contains(&word)
                || LEADS.contains(&word)
                || word.len() < 3;
            let next = part.get(place + 1).map(String::as_str);
            let opens = match actions.last() {
                None => true,
                Some(last) if is_joined => {
                    !last.is_followed || begins_action(word, next) || word.ends_with("ing")
                }
                Some(_) => false,
            };
            if opens && !is_frame {
                let verb = PARTICIPLES.iter().find(|(participle, _)| *participle == word);
                let verb = stem(verb.map_or(word, |(_, verb)| verb));
                actions.push(Action { verb, ..Action::default() });
            } else if let Some(last) = actions.last_mut()
                && !(opens && matches!(word, "to" | "even" | "ever"))
            {
                last.is_followed = true;
                last.is_limited |= LIMITS.contains(&word);
                if !is_frame {
                    let stem = stem(word);
                    let is_shared = others.contains(&stem);
                    last.objects.push(Object { stem, is_shared });
                }
            } else {
                continue;
            }
            is_joined = false;
        }
    }
    // `send or delete the mail`: what follows the last verb belongs to all of them.
    for place in (1..actions.len()).rev() {
        if !actions[place - 1].is_followed {
            actions[place - 1].objects = actions[place].objects.clone();
            actions[place - 1].is_limited = actions[place].is_limited;
            actions[place - 1].is_followed = actions[place].is_followed;
        }
    }
    actions
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use serde_json::json;

    use super::{Prohibition, Verdict};
    use crate::graph::Toolbox;
    use crate::mention::mentions;
    use crate::steps::Step;
    use crate::tool::ToolSpec;

    /// The verdict of a prohibition about a tool, for a step that is the rest of the request.
    fn verdict(part: &str, id: &str, about: &str, rest: &str) -> Verdict {
        let toolbox = Toolbox::new(vec![ToolSpec::new(id, "", about, &json!({}), None)]);
        let values = mentions(part, date(2024, 1, 1));
        let part = Prohibition::new(part, &(0..part.len()), &values, rest);
        part.verdict(&toolbox, 0, &Step::new(rest, &[(0, rest.len())], &[]))
    }

    #[test]
    fn a_prohibition_without_an_object_excludes_the_tools_that_do_it() {
        for (part, id, expected) in [
            ("do not send it", "mail:send_message", true),
            ("never send anything", "mail:send_message", true),
            ("without sending it", "mail:send_message", true),
            ("please make sure that you never delete anything", "fs:delete_file", true),
            ("do not delete anything", "fs:remove_file", true),
            ("do not change anything", "fs:move_file", true),
            ("do not send it", "mail:draft_message", false),
            ("do not send the mail", "mail:send", true),
            ("never send emails", "mail:send", true),
            ("do not send or delete anything", "mail:send", true),
            ("do not send or delete anything", "mail:delete", true),
            ("do not send, move or delete the mails", "mail:move", true),
            ("do not read the log or delete files", "fs:delete_file", true),
            ("without sending or deleting the mail", "mail:delete", true),
            ("do not email anyone", "mail:send", true),
            ("and also never send it", "mail:send", true),
            ("the mail must not be sent", "mail:send", true),
            ("without the mails being sent or deleted", "mail:delete", true),
            ("do not send it to Bob", "mail:send_message", false),
            ("do not send it twice", "mail:send_message", false),
            ("do not read b.txt", "fs:read_file", false),
            ("but not Bob", "fs:delete_file", false),
            ("do not change anything", "fs:read_file", false),
        ] {
            let is_forbidden = verdict(part, id, "", "") == Verdict::Forbidden;
            assert_eq!(is_forbidden, expected, "{part}: {id}");
        }
    }

    #[test]
    fn a_prohibition_about_something_else_does_not_exclude_a_tool_that_the_request_asks_for() {
        let about = "Sends an e-mail message to a recipient.";
        for (rest, part, expected) in [
            ("send it to Ann", "do not send the report to Bob", Verdict::Allowed),
            ("send a.txt to Ann", "do not send b.txt", Verdict::Allowed),
            ("send the mail to Ann", "do not send it again", Verdict::Allowed),
            ("read the report and send the summary", "do not send the report", Verdict::Doubtful),
            ("send the summary to Ann", "never send a message to a recipient", Verdict::Doubtful),
            ("write to Ann", "do not send the draft", Verdict::Doubtful),
            ("write to Ann", "do not send it before Monday", Verdict::Doubtful),
            ("send the mail to Ann", "don't send the mail to all", Verdict::Doubtful),
            ("send the mail to Ann", "do not send it", Verdict::Forbidden),
            ("write a mail to Ann", "do not send the mail", Verdict::Forbidden),
            ("write the report to Ann", "do not send the report", Verdict::Forbidden),
            ("write 'Hi' to Ann", "do not send 'Hi'", Verdict::Forbidden),
            ("write an email to Ann", "never send emails", Verdict::Forbidden),
        ] {
            assert_eq!(verdict(part, "mail:send", about, rest), expected, "{rest}: {part}");
        }
        let part = "do not delete all files";
        assert_eq!(verdict(part, "fs:delete_file", "", "delete a.txt"), Verdict::Doubtful);
    }
}
