//! A browser as far as logins need one: it keeps cookies for each host, follows redirects, and sends forms.

use std::collections::BTreeMap;

use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Url, redirect};

/// More redirects than this lead nowhere.
const MAX_REDIRECTS: usize = 20;

/// What a browser shows.
#[derive(Debug)]
pub struct Page {
    pub url: Url,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Page {
    /// Where it leads by itself.
    pub fn leads_to(&self) -> Option<Url> {
        let place = self.headers.get("location")?.to_str().ok()?;
        self.url.join(place).ok()
    }

    /// Its form with the hidden fields, as it is sent.
    pub fn form(&self) -> String {
        let quoted = |part: &str, name: &str| {
            let (_, rest) = part.split_once(&format!("{name}=\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        let inputs = self.text.split("<input ").skip(1);
        let fields =
            inputs.filter_map(|input| Some((quoted(input, "name")?, quoted(input, "value")?)));
        let mut form = self.url.clone();
        form.query_pairs_mut().clear().extend_pairs(fields);
        form.query().unwrap_or_default().to_owned()
    }
}

/// One person's browser.
#[derive(Debug, Default)]
pub struct Browser {
    cookies: BTreeMap<(String, String), String>,
}

impl Browser {
    async fn ask(&mut self, method: Method, url: Url, form: Option<String>) -> Page {
        let host = url.host_str().unwrap_or_default().to_owned();
        let ours = self.cookies.iter().filter(|((place, _), _)| *place == host);
        let cookies: Vec<_> = ours.map(|((_, name), value)| format!("{name}={value}")).collect();
        let client = Client::builder().redirect(redirect::Policy::none()).build();
        let mut request = client.expect("a client").request(method, url.clone());
        request = request.header("cookie", cookies.join("; "));
        if let Some(form) = form {
            request = request.body(form).header("origin", url.origin().ascii_serialization());
        }
        let response = request.send().await.expect("an answer");
        for cookie in response.headers().get_all("set-cookie") {
            let cookie = cookie.to_str().expect("text");
            let (name, value) =
                cookie.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            // A cookie that is taken back was for another path, which this jar does not know.
            if !value.is_empty() && !cookie.contains("1970") {
                self.cookies.insert((host.clone(), name.to_owned()), value.to_owned());
            }
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Page { url, status, headers, text: response.text().await.expect("a page") }
    }

    /// Opens a place without going on from there.
    pub async fn look(&mut self, url: &str) -> Page {
        self.ask(Method::GET, url.parse().expect("a URL"), None).await
    }

    /// Opens a place, and goes on to wherever it leads.
    pub async fn open(&mut self, url: &str) -> Page {
        let mut page = self.look(url).await;
        for _ in 0..MAX_REDIRECTS {
            let Some(next) = page.leads_to() else { return page };
            page = self.ask(Method::GET, next, None).await;
        }
        panic!("too many redirects: {}", page.url);
    }

    /// Sends the form of a page to where the page lies.
    pub async fn submit(&mut self, page: &Page) -> Page {
        let mut place = page.url.clone();
        place.set_query(None);
        self.ask(Method::POST, place, Some(page.form())).await
    }

    /// Opens the link of a login, and agrees to go on: the address of the authorization server.
    pub async fn agree(&mut self, link: &str) -> String {
        let page = self.look(link).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let sent = self.submit(&page).await;
        assert_eq!(sent.status, 303, "{}", sent.text);
        sent.leads_to().expect("a place to go").into()
    }

    /// A whole login: opens the link, agrees here and there, and comes back.
    pub async fn log_in(&mut self, link: &str) -> Page {
        let away = self.agree(link).await;
        self.open(&away).await
    }
}
