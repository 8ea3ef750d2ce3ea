use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proto::{
    Annotations, Caps, Descriptor, Failure, Limits, Principal, RequestedLimits, TenantId, ToolId,
    Via,
};
use serde_json::json;

use super::{
    Agent, ApprovalRule, Approve, CALL_TOOL, FINDERS, Listing, Pattern, Profiles, Skill, View,
    Views,
};
use crate::catalog::{LimitBounds, Snapshot, WireNames};
use crate::{Catalog, Job, Output, Part, Tool};

const EXECUTE_DAG: &str = "powerstrip:execute_dag";

struct Named(Descriptor);

#[async_trait]
impl Tool for Named {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    fn part(&self) -> Part {
        match self.0.id.as_str() {
            CALL_TOOL => Part::Forwarder,
            id if FINDERS.contains(&id) => Part::Finder,
            EXECUTE_DAG => Part::Workflow,
            _ => Part::Data,
        }
    }

    async fn run(&self, _: &Job) -> Result<Output, Failure> {
        Ok(Output::new(json!({})))
    }
}

fn named(id: &str) -> Arc<dyn Tool> {
    Arc::new(Named(Descriptor {
        unprefixed: false,
        id: id.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        deterministic: false,
        limits: RequestedLimits::default(),
        caps: Caps::default(),
        annotations: Annotations::default(),
        implementation: None,
        meta: None,
        extra: serde_json::Map::new(),
        files: None,
    }))
}

fn catalog<'a>(ids: impl IntoIterator<Item = &'a str>) -> Catalog {
    let bounds =
        LimitBounds { default: Limits::default(), server_input: 1 << 20, max: Limits::default() };
    let catalog = Catalog::new(bounds, WireNames::default());
    catalog.publish("tests", ids.into_iter().map(named).collect());
    catalog
}

fn skill(servers: &[&str], tools: &[&str]) -> Skill {
    Skill {
        servers: servers.iter().map(|&name| name.to_owned()).collect(),
        tools: tools.iter().map(|text| text.parse().unwrap()).collect(),
        auto_approve: true,
        approval_timeout: Duration::from_secs(300),
        approve: BTreeMap::new(),
    }
}

fn profiles(skill: Skill, listing: Listing) -> Profiles {
    Profiles {
        skills: BTreeMap::from([("s".to_owned(), skill)]),
        agents: BTreeMap::from([(
            "a".to_owned(),
            Agent { skills: vec!["s".to_owned()], listing, schemas: None },
        )]),
    }
}

fn caller(agent: Option<&str>) -> Principal {
    Principal {
        tenant: TenantId::new("t"),
        subject: "s".to_owned(),
        agent: agent.map(str::to_owned),
        scopes: Vec::new(),
        via: Via::Local,
    }
}

fn callable(view: &View) -> Vec<&str> {
    view.tools().entries().iter().map(|entry| entry.descriptor.id.as_str()).collect()
}

fn shown(view: &View) -> Vec<&str> {
    view.listed().map(|entry| entry.descriptor.id.as_str()).collect()
}

#[test]
fn an_agent_has_workflow_tools_only_if_a_skill_names_them() {
    let catalog = catalog(["crm:read", EXECUTE_DAG]);
    let view = |tools: &[&str]| {
        let views = Views::default();
        views.set(profiles(skill(&[], tools), Listing::Search));
        views.of(&caller(Some("a")), catalog.snapshot())
    };
    assert_eq!(callable(&view(&["crm:*"])), ["crm:read"]);
    let named = view(&["crm:*", EXECUTE_DAG]);
    assert_eq!(callable(&named), ["crm:read", EXECUTE_DAG]);
    assert!(shown(&named).is_empty(), "an agent that searches is listed no workflow tools");
}

#[test]
fn patterns_mean_what_they_say() {
    let means = |pattern: &str, id: &str| {
        pattern.parse::<Pattern>().unwrap().matches(&id.parse::<ToolId>().unwrap())
    };
    for (pattern, id) in [
        ("crm:*", "crm:read_lead"),
        ("crm:read_*", "crm:read_"),
        ("*", "web.search.query"),
        ("*:read*", "crm:read_lead"),
        ("web.*.query", "web.search.query"),
        ("a*b*c", "axbxbxc"),
        ("crm:read", "crm:read"),
    ] {
        assert!(means(pattern, id), "{pattern} {id}");
    }
    for (pattern, id) in [
        ("crm:*", "crmx:read"),
        ("crm:*", "xcrm:read"),
        ("crm:read", "crm:read_lead"),
        ("CRM:*", "crm:read"),
        ("a*b*c", "axbx"),
        ("crm:read?", "crm:reads"),
    ] {
        assert!(!means(pattern, id), "{pattern} {id}");
    }
    for bad in ["", "a b", "crm:*@1", "crm:\u{200b}*", &"x".repeat(301)] {
        assert!(bad.parse::<Pattern>().is_err(), "{bad:?}");
    }
}

#[test]
fn a_tool_that_has_left_the_catalog_is_gated_as_it_was() {
    let views = Views::default();
    let gated = Skill { auto_approve: false, ..skill(&["crm"], &[]) };
    views.set(profiles(gated, Listing::Whole));
    let (id, free): (ToolId, ToolId) = ("crm:write".parse().unwrap(), "x:y".parse().unwrap());
    let asked = ApprovalRule::Asked { timeout: Duration::from_secs(300) };
    assert_eq!(views.approval_rule(&id, catalog(["crm:write"]).snapshot()), asked);
    assert_eq!(views.approval_rule(&id, Arc::new(Snapshot::default())), asked);
    assert_eq!(views.approval_rule(&free, Arc::new(Snapshot::default())), ApprovalRule::Free);
}

#[test]
fn a_view_holds_the_tools_of_its_skills_and_finds_nothing_else() {
    let catalog = catalog(["crm:read", "crm:write", "docs:read", "demo.echo"]);
    let views = Views::default();
    views.set(profiles(skill(&["docs"], &["crm:r*"]), Listing::Whole));
    let view = views.of(&caller(Some("a")), catalog.snapshot());
    assert_eq!(callable(&view), ["crm:read", "docs:read"]);
    assert_eq!(shown(&view), callable(&view));
    assert!(view.holds_server("docs") && !view.holds_server("crm"), "of crm it has one tool");

    let hidden = view.tools().resolve("crm:write").err().unwrap();
    let absent = view.tools().resolve("crm:wrote").err().unwrap();
    assert_eq!(hidden.code, absent.code);
    assert_eq!(hidden.message.replace("crm:write", ""), absent.message.replace("crm:wrote", ""));
    assert!(view.tools().resolve("crm__write").is_err(), "nor by its wire name");

    assert!(views.of(&caller(Some("b")), catalog.snapshot()).tools().entries().is_empty());
    let plain = views.of(&caller(None), catalog.snapshot());
    assert_eq!(callable(&plain).len(), 4);
    assert!(plain.holds_server("crm"));
}

#[test]
fn an_agent_that_searches_is_shown_the_finders_and_may_call_the_rest() {
    let catalog = catalog(FINDERS.into_iter().chain(["crm:read", "docs:read"]));
    let views = Views::default();
    views.set(profiles(skill(&["crm"], &[]), Listing::Search));
    let view = views.of(&caller(Some("a")), catalog.snapshot());
    assert_eq!(shown(&view).len(), 3);
    assert_eq!(callable(&view).len(), 4);
    assert!(view.tools().resolve("crm:read").is_ok());
    let plain = views.of(&caller(None), catalog.snapshot());
    assert!(!shown(&plain).contains(&CALL_TOOL), "who sees every tool can call it");
    assert!(plain.tools().resolve(CALL_TOOL).is_ok());
}

#[test]
fn a_view_is_worked_out_once_until_something_changes() {
    let catalog = catalog(["crm:read"]);
    let views = Views::default();
    assert!(views.set(profiles(skill(&["crm"], &[]), Listing::Whole)));
    let first = views.of(&caller(Some("a")), catalog.snapshot());
    assert!(first.is(&views.of(&caller(Some("a")), catalog.snapshot())));
    assert!(!views.set(profiles(skill(&["crm"], &[]), Listing::Whole)), "nothing has changed");
    assert!(first.is(&views.of(&caller(Some("a")), catalog.snapshot())));
    assert!(views.set(profiles(skill(&["docs"], &[]), Listing::Whole)));
    assert!(callable(&views.of(&caller(Some("a")), catalog.snapshot())).is_empty());
    catalog.publish("more", vec![named("docs:read")]);
    assert_eq!(callable(&views.of(&caller(Some("a")), catalog.snapshot())), ["docs:read"]);
}

fn any_text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["crm", "docs", "web"])
        .prop_flat_map(|server| "[ab]{1,3}".prop_map(move |tool| format!("{server}:{tool}")))
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    let glob = any_text()
        .prop_flat_map(|text| (0..=text.len()).prop_map(move |cut| format!("{}*", &text[..cut])));
    prop_oneof![any_text(), glob].prop_map(|text| text.parse().unwrap())
}

fn any_skill() -> impl Strategy<Value = Skill> {
    let approve = prop_oneof![Just(Approve::Never), Just(Approve::Always)];
    (
        prop::collection::btree_set(prop::sample::select(vec!["crm", "docs", "web"]), 0..2),
        prop::collection::vec(any_pattern(), 0..3),
        any::<bool>(),
        1_u64..1000,
        prop::collection::btree_map(any_pattern(), approve, 0..3),
    )
        .prop_map(|(servers, tools, auto_approve, seconds, approve)| Skill {
            servers: servers.into_iter().map(str::to_owned).collect(),
            tools,
            auto_approve,
            approval_timeout: Duration::from_secs(seconds),
            approve,
        })
}

fn numbered(skills: &[Skill]) -> BTreeMap<String, Skill> {
    skills.iter().enumerate().map(|(at, skill)| (at.to_string(), skill.clone())).collect()
}

fn asks(rule: ApprovalRule) -> Option<Duration> {
    match rule {
        ApprovalRule::Free => None,
        ApprovalRule::Asked { timeout } => Some(timeout),
    }
}

proptest! {
    #[test]
    fn no_view_holds_a_tool_outside_its_skills(
        ids in prop::collection::btree_set(any_text(), 1..12),
        skills in prop::collection::vec(any_skill(), 1..4),
        own in prop::collection::vec(0_usize..4, 0..3),
        searches in any::<bool>(),
    ) {
        let catalog = catalog(ids.iter().map(String::as_str).chain(FINDERS));
        let listing = if searches { Listing::Search } else { Listing::Whole };
        let agent = Agent { skills: own.iter().map(usize::to_string).collect(), listing, schemas: None };
        let profiles = Profiles {
            skills: numbered(&skills),
            agents: BTreeMap::from([("a".to_owned(), agent)]),
        };
        let views = Views::default();
        views.set(profiles);
        let whole: Arc<Snapshot> = catalog.snapshot();
        let view = views.of(&caller(Some("a")), Arc::clone(&whole));
        for entry in whole.entries() {
            let id = &entry.descriptor.id;
            let due = own.iter().filter_map(|at| skills.get(*at)).any(|skill| skill.holds(id))
                || (searches && FINDERS.contains(&id.as_str()));
            prop_assert_eq!(view.tools().resolve(id.as_str()).is_ok(), due, "{}", id);
            prop_assert_eq!(view.tools().resolve(&entry.wire).is_ok(), due, "{}", id);
            prop_assert!(due || view.listed().all(|listed| listed.descriptor.id != *id));
        }
    }

    #[test]
    fn the_strictest_rule_wins_whatever_the_order(
        id in any_text(),
        skills in prop::collection::vec(any_skill(), 0..5),
        turn in 0_usize..5,
    ) {
        let id: ToolId = id.parse().unwrap();
        let mut turned = skills.clone();
        turned.rotate_left(turn.min(skills.len()));
        let rule = |skills: &[Skill]| {
            Profiles { skills: numbered(skills), agents: BTreeMap::new() }.approval_rule(&id)
        };
        prop_assert_eq!(rule(&skills), rule(&turned));
        let asked: Vec<_> = skills
            .iter()
            .filter(|skill| skill.holds(&id))
            .filter_map(|skill| asks(skill.approval(&id)))
            .collect();
        prop_assert_eq!(asks(rule(&skills)), asked.into_iter().min());

        let catalog = catalog([id.as_str()]);
        let views = Views::default();
        views.set(Profiles { skills: numbered(&skills), agents: BTreeMap::new() });
        prop_assert_eq!(views.approval_rule(&id, catalog.snapshot()), rule(&skills));
    }
}
