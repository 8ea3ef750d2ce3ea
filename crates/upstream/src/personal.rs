//! Secrets of which each person has a value of their own: fetched for a call, and used for that person's calls only.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use auth::client::Holder;
use auth::secrets::{SecretStore, SecretValues};
use http::{HeaderMap, HeaderName, HeaderValue};
use proto::{Principal, Scrubber, secrets_of};
use server_entry::{Personal, PersonalSecret, ServerConfig};

use crate::error::TransportError;

/// For how many people the values are kept ready.
const MAX_READY: usize = 1_024;

/// A person's stored secrets, and what was prepared of them.
type Prepared = (Arc<SecretValues>, Arc<PersonalValues>);

/// Finds the values that one server takes from each person.
pub(crate) struct PersonalSecrets {
    store: Option<Arc<SecretStore>>,
    personal: Personal,
    /// The server's other secrets, which are scrubbed as well.
    shared: Vec<String>,
    ready: Mutex<HashMap<Holder, Prepared>>,
}

/// One person's values for one server.
pub(crate) struct PersonalValues {
    holder: Holder,
    env: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    secrets: Vec<String>,
    scrubber: Scrubber,
}

impl PersonalSecrets {
    pub(crate) fn new(config: &ServerConfig, store: Option<&Arc<SecretStore>>) -> Self {
        Self {
            store: store.cloned(),
            personal: config.personal.clone(),
            shared: config.secrets(),
            ready: Mutex::default(),
        }
    }

    /// The values of the person behind a call; none if the server takes none.
    pub(crate) async fn of(
        &self,
        principal: &Principal,
    ) -> Result<Option<Arc<PersonalValues>>, TransportError> {
        if self.personal.is_empty() {
            return Ok(None);
        }
        let Some(store) = &self.store else {
            return Err(TransportError::SecretsUnreadable("there is no vault".into()));
        };
        self.of_person(store, store.person(principal)).await.map(Some)
    }

    /// The values of a person that are out of date: all but those that are stored now.
    pub(crate) async fn outdated<'a>(&self, person: Option<&'a Holder>) -> Outdated<'a> {
        let current = match (&self.store, person) {
            (Some(store), Some(person)) => self.of_person(store, person.clone()).await.ok(),
            _ => None,
        };
        Outdated { person, current }
    }

    async fn of_person(
        &self,
        store: &Arc<SecretStore>,
        holder: Holder,
    ) -> Result<Arc<PersonalValues>, TransportError> {
        let stored = store.values(&holder).await;
        let stored =
            stored.map_err(|why| TransportError::SecretsUnreadable(why.to_string().into()))?;
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, values)) = ready.get(&holder)
            && Arc::ptr_eq(known, &stored)
        {
            return Ok(Arc::clone(values));
        }
        let values = Arc::new(self.values(holder.clone(), &stored)?);
        if ready.len() >= MAX_READY {
            ready.clear();
        }
        ready.insert(holder, (stored, Arc::clone(&values)));
        Ok(values)
    }

    fn values(
        &self,
        holder: Holder,
        stored: &SecretValues,
    ) -> Result<PersonalValues, TransportError> {
        let mut missing: Vec<&str> =
            self.personal.names().filter(|name| stored.get(name).is_none()).collect();
        if !missing.is_empty() {
            missing.sort_unstable();
            missing.dedup();
            return Err(TransportError::NeedsOwnSecret(missing.join(" ").into()));
        }
        let mut secrets = self.shared.clone();
        let mut values = |named: &BTreeMap<String, PersonalSecret>| -> BTreeMap<String, String> {
            let value = |(key, secret): (&String, &PersonalSecret)| {
                let value = stored.get(&secret.secret)?.expose();
                let whole = format!("{}{value}", secret.prefix);
                // It is a secret whatever the key is called.
                secrets.push(value.to_owned());
                secrets.extend(secrets_of(key, &whole));
                Some((key.clone(), whole))
            };
            named.iter().filter_map(value).collect()
        };
        let (env, headers) = (values(&self.personal.env), values(&self.personal.headers));
        if let Some(bad) = headers.iter().find(|(_, value)| HeaderValue::try_from(*value).is_err())
        {
            let why = format!("the stored value cannot be sent as the header `{}`", bad.0);
            return Err(TransportError::SecretsUnreadable(why.into()));
        }
        let scrubber = Scrubber::new(&secrets);
        Ok(PersonalValues { holder, env, headers, secrets, scrubber })
    }
}

/// Values that must not be used any more.
pub(crate) struct Outdated<'a> {
    /// The person whose values they are; everybody's if none.
    person: Option<&'a Holder>,
    /// The values that replace them. A call may use them already.
    current: Option<Arc<PersonalValues>>,
}

impl Outdated<'_> {
    /// Whether they are among these values.
    pub(crate) fn covers(&self, values: &PersonalValues) -> bool {
        self.person.is_none_or(|person| values.holder == *person)
            && self.current.as_deref() != Some(values)
    }
}

impl PersonalValues {
    /// The variables of a process for this person.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// Puts the headers for this person in place of others.
    pub(crate) fn add_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(mut value)) =
                (name.parse::<HeaderName>(), HeaderValue::try_from(value))
            {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
    }

    /// Removes the server's and the person's secrets from what the server sends.
    pub(crate) fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }

    /// All secrets that are removed.
    pub(crate) fn secrets(&self) -> &[String] {
        &self.secrets
    }

    fn parts(&self) -> (&Holder, &BTreeMap<String, String>, &BTreeMap<String, String>) {
        (&self.holder, &self.env, &self.headers)
    }
}

impl PartialEq for PersonalValues {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for PersonalValues {}

impl Hash for PersonalValues {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

/// Shows names only.
impl fmt::Debug for PersonalValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.env.keys().chain(self.headers.keys())).finish()
    }
}
